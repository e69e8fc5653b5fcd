create function ragpg.grant_access(p_role text, p_level text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_reading constant text[] := array[
        'search_hybrid', 'search_keyword', 'search_vector', 'explain_search', '_index_version', '_current_principals', '_current_tenant_id'
    ];
    v_trusted constant text[] := array['_may_choose_principals', '_caller', '_cached_embeddings', '_cache_embeddings'];
    v_writing constant text[] := array[
        'create_collection', 'drop_collection', 'create_index_version', 'activate_index_version', 'drop_index_version',
        'upsert_document', 'delete_document', 'set_acl', 'refresh_statistics', 'collection_stats',
        '_document_states', '_chunk_states', '_external_ids', '_pending_chunks', '_set_embeddings',
        '_cached_embeddings', '_cache_embeddings'
    ];
    v_function regprocedure;
begin
    if p_level is null or p_level not in ('reader', 'trusted_reader', 'writer') then
        raise exception using
            errcode = 'RG007', message = format('p_level is %L; it must be reader, trusted_reader or writer', p_level);
    end if;
    if not exists (select from pg_roles where rolname = p_role) then
        raise exception using
            errcode = 'RG007',
            message = format('there is no role %L', p_role),
            hint = 'Names are case-sensitive; create the role first.';
    end if;
    execute format('grant usage on schema ragpg to %I', p_role);
    execute format(
        'grant select on ragpg.collection, ragpg.index_version, ragpg.document, ragpg.chunk, ragpg.embedding to %I', p_role
    );
    for v_function in
        select proc.oid::regprocedure
        from pg_proc as proc
        where
            proc.pronamespace = 'ragpg'::regnamespace
            and proc.proname = any (
                v_reading
                || case when p_level = 'trusted_reader' then v_trusted else '{}' end
                || case when p_level = 'writer' then v_writing else '{}' end
            )
    loop
        execute format('grant execute on function %s to %I', v_function, p_role);
    end loop;
end;
$$;

comment on function ragpg.grant_access(text, text) is
'Lets a role use ragpg, by Postgres'' own grants. reader: search and read as the session''s own principals; trusted_reader: also pass p_principals, for an application''s server; writer: read, and write documents and collections. Levels add up. Only the owner may call it. RG007.';
