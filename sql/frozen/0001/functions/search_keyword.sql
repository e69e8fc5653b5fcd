create function ragpg.search_keyword(
    p_collection text,
    p_query text,
    p_k integer default 10,
    p_principals text[] default null,
    p_tenant_id text default null,
    p_filter jsonpath default null,
    p_chunk_filter jsonpath default null,
    p_expand text default null,
    p_index_version bigint default null,
    p_idf text default 'corpus'
) returns setof ragpg.search_hit
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scope ragpg._scope;
    v_candidate_k constant integer := case when p_expand is null then p_k else least(1000, 5 * p_k) end;
begin
    perform ragpg._check_paging(p_k, v_candidate_k, 0);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    return query select hit.* from ragpg._hits(
        v_scope,
        ragpg._search(v_scope, 'keyword', p_query, null, v_candidate_k, 0, 0, 1, 'rrf', 0),
        p_k,
        p_expand
    ) as hit;
end;
$$;

comment on function ragpg.search_keyword(text, text, integer, text[], text, jsonpath, jsonpath, text, bigint, text) is
'Keyword search: the best chunks by BM25 that the caller may see. "Quoted phrases" must occur, -words must not. RG001, RG004, RG006 to RG009.';
