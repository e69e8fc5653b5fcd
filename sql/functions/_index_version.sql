create function ragpg._index_version(
    p_collection text, p_index_version bigint default null,
    out collection_id bigint, out index_version_id bigint, out language text, out chunking jsonb,
    out embedding_provider text, out embedding_model text, out dimensions integer,
    out query_prefix text, out document_prefix text, out is_active boolean
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_active bigint;
begin
    select collection.id, collection.language, collection.active_index_version_id
    into collection_id, language, v_active
    from ragpg.collection
    where collection.name = p_collection;
    if not found then
        raise exception using
            errcode = 'RG001',
            message = format('there is no collection %L', p_collection),
            hint = 'Names are case-sensitive; select name from ragpg.collection lists them, ragpg.create_collection makes one.';
    end if;
    index_version_id := coalesce(p_index_version, v_active);
    is_active := index_version_id = v_active;
    select
        version.chunking, version.embedding_provider, version.embedding_model, version.dimensions,
        version.query_prefix, version.document_prefix
    into chunking, embedding_provider, embedding_model, dimensions, query_prefix, document_prefix
    from ragpg.index_version as version
    where version.id = index_version_id and version.collection_id = _index_version.collection_id;
    if not found then
        raise exception using
            errcode = 'RG004',
            message = format('collection %L has no index version %s', p_collection, coalesce(index_version_id::text, 'that is active')),
            hint = 'select * from ragpg.index_version lists them.';
    end if;
end;
$$;

comment on function ragpg._index_version(text, bigint) is
'The collection and one of its index versions (the active one by default): chunking, embedding model, dimensions, prefixes. RG001, RG004.';
