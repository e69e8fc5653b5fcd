create function ragpg._single_leg(p_leg ragpg._leg, p_mode text) returns ragpg._ranking
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ranking ragpg._ranking;
    v_ranks constant integer[] := array(select generate_series(1, cardinality(p_leg.chunk_ids)));
begin
    if v_ranks = '{}' then
        return v_ranking;
    end if;
    v_ranking.document_ids := p_leg.document_ids;
    v_ranking.chunk_ids := p_leg.chunk_ids;
    if p_mode = 'keyword' then
        v_ranking.keyword_ranks := v_ranks;
        v_ranking.keyword_scores := p_leg.scores;
        v_ranking.scores := p_leg.scores;
    else
        v_ranking.vector_ranks := v_ranks;
        v_ranking.vector_distances := p_leg.scores;
        v_ranking.scores := array(select 1 - item.distance from unnest(p_leg.scores) with ordinality as item (distance, place) order by item.place);
    end if;
    return v_ranking;
end;
$$;

comment on function ragpg._single_leg(ragpg._leg, text) is 'One leg as a ranking, with its own score (vector: 1 − distance).';

create function ragpg._fuse(
    p_scope ragpg._scope, p_terms ragpg._terms, p_embedding halfvec, p_keyword ragpg._leg, p_vector ragpg._leg,
    p_fusion text, p_rrf_k integer, p_vector_weight double precision, p_keyword_weight double precision
) returns ragpg._ranking
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_ranking ragpg._ranking;
begin
    if p_fusion in ('keyword', 'vector') then
        return ragpg._single_leg(case p_fusion when 'keyword' then p_keyword else p_vector end, p_fusion);
    end if;
    select
        array_agg(coalesce(keyword.document_id, vector.document_id) order by keyword.rank, vector.rank),
        array_agg(coalesce(keyword.chunk_id, vector.chunk_id) order by keyword.rank, vector.rank),
        array_agg(keyword.rank::integer order by keyword.rank, vector.rank),
        array_agg(keyword.score order by keyword.rank, vector.rank),
        array_agg(vector.rank::integer order by keyword.rank, vector.rank),
        array_agg(vector.score order by keyword.rank, vector.rank)
    into
        v_ranking.document_ids, v_ranking.chunk_ids, v_ranking.keyword_ranks, v_ranking.keyword_scores,
        v_ranking.vector_ranks, v_ranking.vector_distances
    from unnest(p_keyword.document_ids, p_keyword.chunk_ids, p_keyword.scores)
        with ordinality as keyword (document_id, chunk_id, score, rank)
    full join unnest(p_vector.document_ids, p_vector.chunk_ids, p_vector.scores)
        with ordinality as vector (document_id, chunk_id, score, rank)
        on vector.document_id = keyword.document_id and vector.chunk_id = keyword.chunk_id;

    if p_fusion = 'score' and p_embedding is not null and v_ranking.chunk_ids is not null then
        -- both true scores for every candidate: a leg that did not return a chunk still has an opinion of it
        v_ranking.keyword_scores := ragpg._keyword_scores(p_scope, p_terms, v_ranking.document_ids, v_ranking.chunk_ids);
        v_ranking.vector_distances := array_replace(
            -- a stored vector of zeros has no direction
            ragpg._distances(p_scope, p_embedding, v_ranking.document_ids, v_ranking.chunk_ids), 'NaN', null
        );
    end if;

    select
        array_agg(fused.document_id order by fused.score desc, fused.chunk_id),
        array_agg(fused.chunk_id order by fused.score desc, fused.chunk_id),
        array_agg(fused.score order by fused.score desc, fused.chunk_id),
        array_agg(fused.vector_rank order by fused.score desc, fused.chunk_id),
        array_agg(fused.vector_distance order by fused.score desc, fused.chunk_id),
        array_agg(fused.keyword_rank order by fused.score desc, fused.chunk_id),
        array_agg(fused.keyword_score order by fused.score desc, fused.chunk_id)
    into
        v_ranking.document_ids, v_ranking.chunk_ids, v_ranking.scores, v_ranking.vector_ranks,
        v_ranking.vector_distances, v_ranking.keyword_ranks, v_ranking.keyword_scores
    from (
        select
            item.*,
            case p_fusion
                -- reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009
                when 'rrf' then
                    coalesce(p_vector_weight / (p_rrf_k + item.vector_rank), 0)
                    + coalesce(p_keyword_weight / (p_rrf_k + item.keyword_rank), 0)
                else
                    p_vector_weight * coalesce(
                        (max(item.vector_distance) over () - item.vector_distance)
                        / nullif(max(item.vector_distance) over () - min(item.vector_distance) over (), 0),
                        0
                    )
                    + p_keyword_weight * coalesce(
                        (item.keyword_score - min(item.keyword_score) over ())
                        / nullif(max(item.keyword_score) over () - min(item.keyword_score) over (), 0),
                        0
                    )
            end as score
        from unnest(
            v_ranking.document_ids, v_ranking.chunk_ids, v_ranking.vector_ranks, v_ranking.vector_distances,
            v_ranking.keyword_ranks, v_ranking.keyword_scores
        ) as item (document_id, chunk_id, vector_rank, vector_distance, keyword_rank, keyword_score)
    ) as fused;
    return v_ranking;
end;
$$;

comment on function ragpg._fuse(ragpg._scope, ragpg._terms, halfvec, ragpg._leg, ragpg._leg, text, integer, double precision, double precision) is
'Both legs as one ranking: rrf is Σ weight/(rrf_k + rank), score the weighted sum of both legs'' true scores, each scaled to 0…1 over the candidates. Ties go to the smaller chunk id.';

create function ragpg._distances(p_scope ragpg._scope, p_embedding halfvec, p_document_ids uuid[], p_chunk_ids uuid[]) returns double precision[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return (
        select array_agg(ragpg._cosine_distance(embedding.embedding, p_embedding) order by item.place)
        from unnest(p_document_ids, p_chunk_ids) with ordinality as item (document_id, chunk_id, place)
        left join ragpg.embedding
            on
                embedding.index_version_id = p_scope.index_version_id
                and embedding.document_id = item.document_id
                and embedding.chunk_id = item.chunk_id
    );
end;
$$;

comment on function ragpg._distances(ragpg._scope, halfvec, uuid[], uuid[]) is 'The cosine distances of the given chunks, in their order; null for one without a vector.';
