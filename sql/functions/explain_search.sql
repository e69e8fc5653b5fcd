create function ragpg.explain_search(
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
    p_index_version bigint default null,
    p_mode text default 'hybrid',
    p_idf text default 'corpus'
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scope ragpg._scope;
    v_ranking ragpg._ranking;
begin
    perform ragpg._check_paging(p_k, p_candidate_k, p_rrf_k);
    perform ragpg._check_mode(p_mode);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    v_ranking := ragpg._search(
        v_scope, p_mode, p_query, p_embedding, greatest(p_candidate_k, p_k), p_rrf_k,
        p_vector_weight, p_keyword_weight, p_fusion, p_feedback
    );
    if not ragpg._may_choose_principals() then
        -- frequencies, totals, the languages in use, and all that follows from them, speak of hidden documents too
        v_ranking.detail := (v_ranking.detail #- '{vector,path}' #- '{vector,why}')
            - array['terms', 'keyword', 'phrases', 'exclusions'];
    end if;
    return jsonb_strip_nulls(v_ranking.detail) || jsonb_build_object(
        'mode', p_mode,
        'index_version', v_scope.index_version_id,
        'tenant_id', v_scope.tenant_id,
        'principals', v_scope.principals,
        'visible_chunks', ragpg._count_visible(v_ranking.scope, 2147483647),
        'candidates', coalesce(cardinality(v_ranking.chunk_ids), 0),
        'degraded', v_ranking.degraded
    );
end;
$$;

comment on function ragpg.explain_search(
    text, text, vector, integer, text[], text, jsonpath, jsonpath, integer, integer, double precision, double precision, text, integer, bigint, text, text
) is
'What a search would do and why: the terms with document frequency and idf, the path of each leg, how many chunks the caller may see, timings, degraded. A reader is not told the terms: their frequencies count documents hidden from it. RG001, RG004 to RG009.';
