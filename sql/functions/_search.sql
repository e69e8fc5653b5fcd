create function ragpg._cached_query(p_scope ragpg._scope, p_query text) returns halfvec
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select cache.embedding from ragpg.embedding_cache as cache
        where
            -- under a key of its own: what a document was embedded from can't be guessed at here
            cache.model_key = p_scope.model_key || ':query'
            and cache.input_hash = sha256(convert_to(p_scope.query_prefix || p_query, 'UTF8'))
    );
end;
$$;

comment on function ragpg._cached_query(ragpg._scope, text) is 'The vector of a query that was embedded before, if it is in the cache.';

create function ragpg._centroid(p_scope ragpg._scope, p_document_ids uuid[], p_chunk_ids uuid[], p_weights double precision[]) returns halfvec
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return (
        select ragpg._weighted_sum(array_agg(embedding.embedding order by item.place), array_agg(item.weight order by item.place))
        from unnest(p_document_ids, p_chunk_ids, p_weights) with ordinality as item (document_id, chunk_id, weight, place)
        join ragpg.embedding
            on
                embedding.index_version_id = p_scope.index_version_id
                and embedding.document_id = item.document_id
                and embedding.chunk_id = item.chunk_id
    );
end;
$$;

comment on function ragpg._centroid(ragpg._scope, uuid[], uuid[], double precision[]) is 'The weighted centroid of the given chunks'' vectors; null where none has one.';

create function ragpg._search(
    p_scope ragpg._scope, p_mode text, p_query text, p_embedding vector, p_candidate_k integer, p_rrf_k integer,
    p_vector_weight double precision, p_keyword_weight double precision, p_fusion text, p_feedback integer
) returns ragpg._ranking
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_feedback_hits constant integer := 3;
    -- of hits that are nearly as good as the first, all count; of others it alone: they would lead astray
    v_feedback_sharpness constant double precision := 4;
    v_feedback_weight constant double precision := 0.6;
    -- a single leg keeps its own score
    v_fusion constant text := case p_mode when 'hybrid' then p_fusion else p_mode end;
    v_started constant timestamptz := clock_timestamp();
    v_analysed timestamptz;
    v_measured timestamptz;
    v_keyword_done timestamptz;
    v_vector_done timestamptz;
    v_scope ragpg._scope := p_scope;
    v_phrase_scope ragpg._scope;
    v_languages text[];
    v_configs text[] := '{}';
    v_query record;
    v_embedding ragpg.embedding.embedding%type;
    v_terms ragpg._terms;
    v_keyword ragpg._leg;
    v_vector ragpg._leg;
    v_ranking ragpg._ranking;
    v_degraded text[] := '{}';
begin
    if p_fusion is null or p_fusion not in ('rrf', 'score') then
        raise exception using
            errcode = 'RG007', message = format('p_fusion is %L; it must be rrf or score', p_fusion);
    end if;
    if p_feedback is null or p_feedback < 0 then
        raise exception using errcode = 'RG007', message = format('p_feedback is %s; it must be 0 or more', coalesce(p_feedback::text, 'null'));
    end if;
    perform ragpg._check_weights(p_vector_weight, p_keyword_weight);
    v_embedding := ragpg._check_embedding(p_scope, p_embedding);
    if p_query is not null then
        v_languages := ragpg._configs(p_scope);
        v_configs := ragpg._existing_configs(v_languages);
        if cardinality(v_configs) < cardinality(v_languages) and ragpg._sees_language(
            p_scope, array(select unnest(v_languages) except select unnest(v_configs))
        ) then
            v_degraded := v_degraded || 'language_missing'::text;
        end if;
    end if;
    v_query := ragpg._parse_query(v_configs, p_query);
    v_scope.configs := v_configs;
    v_scope.phrases := v_query.o_phrases;
    v_scope.exclusions := v_query.o_exclusions;
    if not v_query.o_has_words
        and (v_embedding is null and p_mode <> 'vector' or p_query is not null and v_query.o_exclusions is null) then
        raise exception using
            errcode = 'RG008',
            message = 'the query holds no word to search for',
            hint = 'Give some words; to search by an embedding alone, p_query is null.';
    end if;
    v_analysed := clock_timestamp();
    v_scope := ragpg._measure_visibility(v_scope, ragpg._narrow_limit(v_scope));
    v_measured := clock_timestamp();

    if p_mode in ('hybrid', 'keyword') then
        v_terms := ragpg._terms_of(v_scope, v_query.o_lexemes, v_query.o_counts);
        v_keyword := ragpg._keyword_leg(v_scope, v_terms, p_candidate_k);
        if v_keyword.chunk_ids = '{}' and v_query.o_stop_lexemes is not null then
            -- nothing but stop words: as a phrase where it occurs (The Who), else any of them
            v_terms := ragpg._terms_of(v_scope, v_query.o_stop_lexemes, v_query.o_stop_counts);
            v_phrase_scope := v_scope;
            v_phrase_scope.phrases := coalesce(v_scope.phrases && v_query.o_stop_phrase, v_query.o_stop_phrase);
            v_keyword := ragpg._keyword_leg(v_phrase_scope, v_terms, p_candidate_k);
            if v_keyword.chunk_ids = '{}' then
                v_keyword := ragpg._keyword_leg(v_scope, v_terms, p_candidate_k);
            end if;
        end if;
    end if;
    v_keyword_done := clock_timestamp();

    if p_mode in ('hybrid', 'vector') then
        if v_embedding is null and v_scope.dimensions is not null and p_query is not null then
            v_embedding := ragpg._cached_query(v_scope, p_query);
            if v_embedding is null and cardinality(v_keyword.chunk_ids) > 0 then
                v_embedding := ragpg._centroid(
                    v_scope, v_keyword.document_ids[:v_feedback_hits], v_keyword.chunk_ids[:v_feedback_hits],
                    array(
                        select power(hit.score / v_keyword.scores[1], v_feedback_sharpness)
                        from unnest(v_keyword.scores[:v_feedback_hits]) with ordinality as hit (score, place)
                        order by hit.place
                    )
                );
                if v_embedding is not null then
                    v_degraded := v_degraded || 'query_embedding_from_feedback'::text;
                end if;
            end if;
        end if;
        v_vector := ragpg._vector_leg(v_scope, v_embedding, p_candidate_k);
    end if;
    v_vector_done := clock_timestamp();

    v_ranking := ragpg._fuse(v_scope, v_terms, v_embedding, v_keyword, v_vector, v_fusion, p_rrf_k, p_vector_weight, p_keyword_weight);
    if p_feedback > 0 and p_embedding is not null and p_mode = 'hybrid' and v_ranking.chunk_ids is not null then
        -- Rocchio: the query moves towards what its first hits have in common
        v_embedding := coalesce(
            ragpg._weighted_sum(
                array[
                    v_embedding,
                    ragpg._centroid(
                        v_scope, v_ranking.document_ids[:p_feedback], v_ranking.chunk_ids[:p_feedback],
                        array_fill(1::double precision, array[least(p_feedback, cardinality(v_ranking.chunk_ids))])
                    )
                ],
                array[1, v_feedback_weight]
            ),
            v_embedding
        );
        v_vector := ragpg._vector_leg(v_scope, v_embedding, p_candidate_k);
        v_ranking := ragpg._fuse(v_scope, v_terms, v_embedding, v_keyword, v_vector, v_fusion, p_rrf_k, p_vector_weight, p_keyword_weight);
    end if;

    v_ranking.scope := v_scope;
    v_ranking.terms := v_terms;
    v_ranking.query_embedding := v_embedding;
    v_ranking.degraded := array(
        select distinct reason
        from unnest(v_degraded || coalesce(v_keyword.degraded, '{}') || coalesce(v_vector.degraded, '{}')) as reason
        order by reason
    );
    v_ranking.detail := jsonb_build_object(
        'keyword', v_keyword.detail,
        'vector', v_vector.detail,
        'phrases', v_scope.phrases::text,
        'exclusions', v_scope.exclusions::text,
        'terms', (
            select jsonb_agg(jsonb_build_object('lexeme', term.lexeme, 'document_frequency', term.df, 'idf', term.idf))
            from unnest(v_terms.lexemes, v_terms.document_frequencies, v_terms.idfs) as term (lexeme, df, idf)
        ),
        'timings_ms', jsonb_build_object(
            'analyse', ragpg._milliseconds(v_started, v_analysed),
            'visibility', ragpg._milliseconds(v_analysed, v_measured),
            'keyword', ragpg._milliseconds(v_measured, v_keyword_done),
            'vector', ragpg._milliseconds(v_keyword_done, v_vector_done),
            'fuse', ragpg._milliseconds(v_vector_done, clock_timestamp())
        )
    );
    return v_ranking;
end;
$$;

comment on function ragpg._search(
    ragpg._scope, text, text, vector, integer, integer, double precision, double precision, text, integer
) is 'One search, from the query to a ranking without text: analyse, both legs, fuse, feedback. RG005, RG007, RG008.';

create function ragpg._milliseconds(p_from timestamptz, p_to timestamptz) returns double precision
language sql immutable parallel safe
begin atomic
    select round(extract(epoch from p_to - p_from) * 1000, 3)::double precision;
end;

comment on function ragpg._milliseconds(timestamptz, timestamptz) is 'The time between two instants in milliseconds.';
