create function ragpg.find_document(
    p_collection text,
    p_external_id text,
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
    p_mode text default 'hybrid',
    p_idf text default 'corpus'
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    -- as many candidates as the search of that mode takes
    v_candidate_k constant integer := case
        when p_mode = 'hybrid' then greatest(p_candidate_k, p_k)
        when p_expand is null then p_k
        else least(1000, 5 * p_k)
    end;
    v_scope ragpg._scope;
    v_id uuid;
    v_ranking ragpg._ranking;
    v_rank bigint;
    v_place integer;
    v_causes jsonb;
    v_legs jsonb;
    v_answer jsonb;
begin
    if not ragpg._caller_is_owner() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not ask where a document is', ragpg._caller()),
            hint = 'The answer speaks of documents that are hidden from others: only the owner of schema ragpg is told.';
    end if;
    perform ragpg._check_paging(p_k, p_candidate_k, p_rrf_k);
    perform ragpg._check_mode(p_mode);
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter, p_idf);
    v_answer := jsonb_build_object(
        'collection', p_collection, 'external_id', p_external_id, 'tenant_id', v_scope.tenant_id,
        'index_version', v_scope.index_version_id, 'mode', p_mode, 'principals', v_scope.principals, 'found', false
    );
    select document.id into v_id
    from ragpg.document
    where
        document.collection_id = v_scope.collection_id and document.tenant_id = v_scope.tenant_id
        and document.external_id = p_external_id;
    if not found then
        return v_answer || jsonb_build_object(
            'causes', jsonb_build_array(ragpg._no_such_document(v_scope, p_external_id)), 'degraded', '[]'::jsonb
        );
    end if;

    v_ranking := ragpg._search(
        v_scope, p_mode, p_query, p_embedding, v_candidate_k, p_rrf_k, p_vector_weight, p_keyword_weight, p_fusion, p_feedback
    );
    select min(hit.ordinality) into v_rank
    from ragpg._hits(v_scope, v_ranking, p_k, p_expand) with ordinality as hit
    where hit.document_id = v_id;
    v_place := array_position(v_ranking.document_ids, v_id);
    v_causes := ragpg._causes_of_absence(v_ranking.scope, p_query, v_id);
    v_legs := ragpg._standing_in_legs(v_ranking, p_mode, p_query, v_id, v_candidate_k, v_causes = '[]');
    v_causes := v_causes || (v_legs -> 'causes');
    if v_place is not null then
        v_legs := v_legs || jsonb_build_object('fused', jsonb_build_object(
            'rank', v_place, 'score', v_ranking.scores[v_place], 'compared', cardinality(v_ranking.scores),
            'last_rank', least(p_k, cardinality(v_ranking.scores)), 'last_score', v_ranking.scores[least(p_k, cardinality(v_ranking.scores))]
        ));
        v_causes := v_causes || (jsonb_build_object('cause', 'outranked', 'leg', 'fused') || (v_legs -> 'fused'));
    end if;
    return v_answer || (v_legs - 'causes') || jsonb_build_object(
        'document', ragpg._document_card(v_ranking.scope, v_id),
        'found', v_rank is not null,
        'rank', v_rank,
        'causes', case when v_rank is null then v_causes else '[]' end,
        'degraded', v_ranking.degraded
    );
end;
$$;

comment on function ragpg.find_document(
    text, text, text, vector, integer, text[], text, jsonpath, jsonpath, integer, integer, double precision, double precision, text, integer, text, bigint, text, text
) is
'Why a document is not in the result of a search with these arguments, or at which rank it is: every cause with its evidence. Only the owner may call it. It compares with every visible chunk, so it is slower than the search. RG001, RG004 to RG009.';
