create function ragpg.search_hybrid(
    p_collection text,
    p_query text,
    p_embedding vector default null,
    p_k integer default 10,
    p_principals text[] default null,
    p_tenant_id text default null,
    p_filter jsonpath default null,
    p_chunk_filter jsonpath default null,
    p_candidate_k integer default 50,
    p_rrf_k integer default 60,
    p_vector_weight double precision default 1,
    p_keyword_weight double precision default 1,
    p_fusion text default 'rrf',
    p_feedback integer default 0,
    p_expand text default null,
    p_index_version bigint default null,
    p_idf text default 'corpus'
) returns setof ragpg.search_hit
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scope ragpg._scope;
begin
    perform ragpg._check_paging(p_k, p_candidate_k, p_rrf_k);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    return query select hit.* from ragpg._hits(
        v_scope,
        ragpg._search(
            v_scope, 'hybrid', p_query, p_embedding, greatest(p_candidate_k, p_k), p_rrf_k,
            p_vector_weight, p_keyword_weight, p_fusion, p_feedback
        ),
        p_k,
        p_expand
    ) as hit;
end;
$$;

comment on function ragpg.search_hybrid(
    text, text, vector, integer, text[], text, jsonpath, jsonpath, integer, integer, double precision, double precision, text, integer, text, bigint, text
) is
'Hybrid search: BM25 and vectors, fused by reciprocal rank (p_fusion rrf) or by score, over what the caller may see. Without p_embedding the query''s cached vector is used, else that of its best keyword hits (degraded: query_embedding_from_feedback). RG001, RG004 to RG009.';
