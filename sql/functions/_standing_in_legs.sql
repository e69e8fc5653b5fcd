create function ragpg._query_words(p_scope ragpg._scope, p_terms ragpg._terms, p_query text, p_document_id uuid, p_chunk_ids uuid[])
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_query record := ragpg._parse_query(p_scope.configs, p_query);
begin
    return coalesce(
        (
            select jsonb_agg(
                jsonb_build_object(
                    'lexeme', word.lexeme,
                    'held', exists (
                        select from ragpg.chunk
                        where
                            chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
                            and chunk.id = any (p_chunk_ids) and chunk.content_tsv @@ ragpg._any_of(array[word.lexeme])
                    ),
                    'document_frequency', coalesce(term.df, 0),
                    'idf', term.idf
                )
                order by coalesce(term.df, 0), word.lexeme
            )
            from unnest(coalesce(v_query.o_lexemes, v_query.o_stop_lexemes)) as word (lexeme)
            left join unnest(p_terms.lexemes, p_terms.document_frequencies, p_terms.idfs) as term (lexeme, df, idf)
                on term.lexeme = word.lexeme
        ),
        '[]'
    );
end;
$$;

comment on function ragpg._query_words(ragpg._scope, ragpg._terms, text, uuid, uuid[]) is
'The lexemes of a query, rarest first: whether one of the given chunks holds it, document frequency (0 where it was not searched, too), idf.';

create function ragpg._keyword_standing(
    p_ranking ragpg._ranking, p_query text, p_document_id uuid, p_chunk_ids uuid[], p_limit integer
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_leg ragpg._leg;
    v_scores double precision[];
    v_standing record;
    v_words jsonb := ragpg._query_words((p_ranking).scope, (p_ranking).terms, p_query, p_document_id, p_chunk_ids);
    v_causes jsonb := '[]';
    v_body jsonb;
begin
    if (p_ranking).terms.lexemes is not null then
        v_leg := ragpg._best_matches(
            (p_ranking).scope, (p_ranking).terms, ragpg._any_of((p_ranking).terms.lexemes), false, 2147483647
        );
        -- a chunk without any of the words scores 0, and is not among the matches
        v_scores := array(
            select nullif(item.score, 0)
            from unnest(ragpg._keyword_scores(
                (p_ranking).scope, (p_ranking).terms, array_fill(p_document_id, array[cardinality(p_chunk_ids)]), p_chunk_ids
            )) with ordinality as item (score, place)
            order by item.place
        );
    end if;
    v_standing := ragpg._standing(v_leg, p_document_id, p_chunk_ids, v_scores, false, p_limit);
    v_body := jsonb_build_object(
        'rank', v_standing.o_rank, 'score', v_standing.o_score, 'compared', v_standing.o_compared,
        'last_rank', v_standing.o_last_rank, 'last_score', v_standing.o_last_score
    );
    if v_standing.o_rank is null then
        v_causes := v_causes || jsonb_build_object('cause', 'no_query_word', 'words', jsonb_path_query_array(v_words, '$[*].lexeme'));
    elsif v_standing.o_rank > p_limit then
        v_causes := v_causes || (jsonb_build_object('cause', 'outranked', 'leg', 'keyword') || v_body);
    end if;
    return jsonb_build_object(
        'keyword', v_body || jsonb_build_object('chunk_id', v_standing.o_chunk_id, 'words', v_words), 'causes', v_causes
    );
end;
$$;

comment on function ragpg._keyword_standing(ragpg._ranking, text, uuid, uuid[], integer) is
'Where a document stands in the keyword leg, by its best chunk among all visible matches, and which of the query''s words it holds.';

create function ragpg._vector_standing(
    p_ranking ragpg._ranking, p_document_id uuid, p_chunk_ids uuid[], p_limit integer, p_is_visible boolean
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_distances double precision[];
    v_standing record;
    v_vectors integer;
    v_causes jsonb := '[]';
    v_body jsonb;
begin
    if (p_ranking).query_embedding is null then
        return jsonb_build_object('vector', jsonb_build_object('compared', 0), 'causes', v_causes);
    end if;
    v_distances := ragpg._distances(
        (p_ranking).scope, (p_ranking).query_embedding, array_fill(p_document_id, array[cardinality(p_chunk_ids)]), p_chunk_ids
    );
    v_vectors := (select count(item.distance) from unnest(v_distances) as item (distance));
    v_standing := ragpg._standing(
        ragpg._nearest_exact((p_ranking).scope, (p_ranking).query_embedding, 2147483647),
        -- a vector of zeros has no direction, so no rank
        p_document_id, p_chunk_ids, array_replace(v_distances, 'NaN', null), true, p_limit
    );
    v_body := jsonb_build_object(
        'rank', v_standing.o_rank, 'distance', v_standing.o_score, 'compared', v_standing.o_compared,
        'last_rank', v_standing.o_last_rank, 'last_distance', v_standing.o_last_score
    );
    if v_vectors < cardinality(p_chunk_ids) then
        v_causes := v_causes || jsonb_build_object(
            'cause', 'vectors_pending', 'chunks', cardinality(p_chunk_ids), 'embeddings', v_vectors
        );
    elsif v_standing.o_rank is null then
        v_causes := v_causes || jsonb_build_object('cause', 'vectors_of_zeros', 'chunks', cardinality(p_chunk_ids));
    end if;
    if v_standing.o_rank > p_limit then
        v_causes := v_causes || (jsonb_build_object('cause', 'outranked', 'leg', 'vector') || v_body);
    elsif p_is_visible and v_standing.o_rank is not null and not exists (
        select from unnest((p_ranking).document_ids, (p_ranking).vector_ranks) as candidate (document_id, vector_rank)
        where candidate.document_id = p_document_id and candidate.vector_rank is not null
    ) then
        v_causes := v_causes || (jsonb_build_object('cause', 'missed_by_index') || v_body);
    end if;
    return jsonb_build_object('vector', v_body || jsonb_build_object('chunk_id', v_standing.o_chunk_id), 'causes', v_causes);
end;
$$;

comment on function ragpg._vector_standing(ragpg._ranking, uuid, uuid[], integer, boolean) is
'Where a document stands in the vector leg, by its nearest chunk among all visible vectors; missed_by_index where it should be a candidate and the approximate index did not find it.';

create function ragpg._standing_in_legs(
    p_ranking ragpg._ranking, p_mode text, p_query text, p_document_id uuid, p_limit integer, p_is_visible boolean
) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_chunk_ids uuid[] := ragpg._passing_chunks((p_ranking).scope, p_document_id);
    v_keyword jsonb;
    v_vector jsonb;
begin
    if v_chunk_ids = '{}' then
        -- filtered out: where would it stand otherwise?
        v_chunk_ids := array(
            select chunk.id from ragpg.chunk
            where chunk.index_version_id = (p_ranking).scope.index_version_id and chunk.document_id = p_document_id
            order by chunk.ordinal
        );
    end if;
    if v_chunk_ids = '{}' then
        return jsonb_build_object('causes', '[]'::jsonb);
    end if;
    if p_mode in ('hybrid', 'keyword') then
        v_keyword := ragpg._keyword_standing(p_ranking, p_query, p_document_id, v_chunk_ids, p_limit);
    end if;
    if p_mode in ('hybrid', 'vector') then
        v_vector := ragpg._vector_standing(p_ranking, p_document_id, v_chunk_ids, p_limit, p_is_visible);
    end if;
    return coalesce(v_keyword, '{}') || coalesce(v_vector, '{}') || jsonb_build_object(
        'causes', coalesce(v_keyword -> 'causes', '[]') || coalesce(v_vector -> 'causes', '[]')
    );
end;
$$;

comment on function ragpg._standing_in_legs(ragpg._ranking, text, text, uuid, integer, boolean) is
'Where a document stands in the legs of a search, and which causes of its absence follow; a document that no search can show gets the rank it would have.';
