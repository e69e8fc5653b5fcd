create function ragpg._open_search(
    p_collection text, p_index_version bigint, p_principals text[], p_tenant_id text, p_filter jsonpath, p_chunk_filter jsonpath,
    p_idf text default 'corpus'
) returns ragpg._scope
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_scope ragpg._scope;
    v_version record;
    v_session_tenant_id constant text := ragpg._current_tenant_id();
begin
    if p_idf is null or p_idf not in ('corpus', 'visible') then
        raise exception using errcode = 'RG007', message = format('p_idf is %L; it must be corpus or visible', p_idf);
    end if;
    v_scope.idf := p_idf;
    v_version := ragpg._index_version(p_collection, p_index_version);
    v_scope.collection_id := v_version.collection_id;
    v_scope.index_version_id := v_version.index_version_id;
    v_scope.is_active := v_version.is_active;
    v_scope.dimensions := v_version.dimensions;
    v_scope.model_key := format('%s:%s:%s', v_version.embedding_provider, v_version.embedding_model, v_version.dimensions);
    v_scope.query_prefix := v_version.query_prefix;
    select
        collection.bm25_k1, collection.bm25_b, version.chunk_count, version.average_length, version.document_count,
        version.document_bytes, version.statistics_horizon,
        version.statistics_k1 = collection.bm25_k1 and version.statistics_b = collection.bm25_b
    into
        v_scope.bm25_k1, v_scope.bm25_b, v_scope.chunk_count, v_scope.average_length, v_scope.document_count,
        v_scope.document_bytes, v_scope.statistics_horizon,
        v_scope.bounds_valid
    from ragpg.collection
    join ragpg.index_version as version on version.collection_id = collection.id
    where collection.id = v_version.collection_id and version.id = v_version.index_version_id;

    v_scope.principals := ragpg._principals(p_principals);
    v_scope.every_document := '*' = any (v_scope.principals);
    v_scope.tenant_id := coalesce(p_tenant_id, v_session_tenant_id);
    if v_scope.tenant_id is null then
        raise exception using
            errcode = 'RG006',
            message = format('role %I is bound to other tenants than %L', ragpg._caller(), coalesce(current_setting('ragpg.tenant_id', true), '')),
            hint = 'Set ragpg.tenant_id to a tenant that ragpg.grant_access bound the role to.';
    end if;
    if v_scope.tenant_id is distinct from v_session_tenant_id and not ragpg._may_choose_principals() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not pass another tenant than its session''s', ragpg._caller()),
            hint = 'Set ragpg.tenant_id in the session, or let the owner run ragpg.grant_access(role, ''trusted_reader'').';
    end if;
    v_scope.filter := ragpg._predicate(p_filter, 'p_filter');
    v_scope.chunk_filter := ragpg._predicate(p_chunk_filter, 'p_chunk_filter');
    return v_scope;
end;
$$;

comment on function ragpg._open_search(text, bigint, text[], text, jsonpath, jsonpath, text) is
'Checks who asks and what for, and collects what every step of the search needs. RG001, RG004, RG006, RG007, RG009.';
