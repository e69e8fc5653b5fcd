create function ragpg.create_collection(
    p_name text,
    p_language text default 'english',
    p_chunking jsonb default '{}',
    p_default_acl text[] default '{public}',
    p_embedding_provider text default null,
    p_embedding_model text default null,
    p_embedding_dimensions integer default null,
    p_query_prefix text default '',
    p_document_prefix text default ''
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_collection_id bigint;
begin
    if p_name is null or p_name !~ '\S' or length(p_name) > 200 then
        raise exception using errcode = 'RG007', message = 'p_name must be 1 to 200 characters, not only spaces';
    end if;
    perform ragpg._check_acl(p_default_acl);
    insert into ragpg.collection (name, language, chunking, default_acl)
    values (p_name, ragpg._language(p_language), coalesce(p_chunking, '{}'), p_default_acl)
    on conflict (name) do nothing
    returning id into v_collection_id;
    if v_collection_id is null then
        raise exception using
            errcode = 'RG002',
            message = format('there is a collection %L already', p_name),
            hint = 'Use it, choose another name, or drop it with ragpg.drop_collection.';
    end if;
    perform ragpg.activate_index_version(
        p_name,
        ragpg.create_index_version(
            p_name, p_chunking, p_embedding_provider, p_embedding_model, p_embedding_dimensions, p_query_prefix, p_document_prefix
        )
    );
    return v_collection_id;
end;
$$;

comment on function ragpg.create_collection(text, text, jsonb, text[], text, text, integer, text, text) is
'Makes a collection and its first index version, active at once; returns its id. Without an embedding model it is searched by keyword only. RG002, RG007.';
