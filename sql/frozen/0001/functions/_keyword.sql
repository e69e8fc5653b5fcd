-- Exact BM25 over a GIN index. The term frequency comes out of ts_rank without unnesting the tsvector: for a single term and
-- weights of 1, ts_rank is H(tf)/ζ(2) with H(n) = Σ 1/j² for j ≤ n, and H(n) ≈ ζ(2) − 1/(n + ½).

create function ragpg._score_expression(p_terms integer) returns text
language sql immutable parallel safe
begin atomic
    -- tf·(k1 + 1)/(tf + K) is (k1 + 1)·(1 − K/(tf + K)), with the query's weight already holding k1 + 1: tf is needed once
    select string_agg(
        format(
            '$1[%1$s] * (1 - found.saturation / (found.saturation + least(round(1 / (1.6449340668482264 * (1 - '
            || 'ts_rank(''{1,1,1,1}'', found.content_tsv, $2[%1$s])::double precision)) - 0.5), 255)))',
            item.place
        ),
        ' + ' order by item.place
    )
    from generate_series(1, p_terms) as item (place);
end;

comment on function ragpg._score_expression(integer) is
'The SQL expression for the BM25 score of a chunk over n terms; $1 are the weights, $2 the terms as tsquery.';

-- work_mem: the bitmap of a common word has to fit, or every chunk on its pages is checked again.
create function ragpg._best_matches(
    p_scope ragpg._scope, p_terms ragpg._terms, p_candidates tsquery, p_fresh boolean, p_limit integer
) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
set jit = off
as $$
declare
    v_leg ragpg._leg;
begin
    -- the number of terms, and what is looked at first, is all that varies in the text: every value is a parameter
    execute
        'select array_agg(best.document_id order by best.score desc, best.id), array_agg(best.id order by best.score desc, best.id),'
        ' array_agg(best.score order by best.score desc, best.id)'
        ' from (select scored.document_id, scored.id, scored.score from ('
        '   select found.document_id, found.id, ' || ragpg._score_expression(cardinality(p_terms.lexemes)) || ' as score'
        '   from ('
        '     select chunk.document_id, chunk.id, chunk.content_tsv,'
        '       $3 * (1 - $4 + $4 * chunk.lexeme_count / $5) as saturation'
        '     from '
        -- the fences keep the order: without statistics the planner would search the word index once a document
        || case when p_scope.narrow_documents is null then
            '(select document_id, id, content_tsv, lexeme_count, metadata from ragpg.chunk where index_version_id = $6 and '
            || case when p_fresh then '(content_tsv @@ $7 or (written_at >= $8 and content_tsv @@ $9))' else 'content_tsv @@ $7' end
            || ' offset 0) as chunk cross join lateral'
            ' (select * from ragpg.document where document.id = chunk.document_id and $19 is null offset 0) as document'
        else
            'unnest($19) as narrow (id) join ragpg.document on document.id = narrow.id cross join lateral'
            ' (select chunk.* from ragpg.chunk where index_version_id = $6 and chunk.document_id = document.id offset 0) as chunk'
        end ||
        '     where document.collection_id = $10 and document.tenant_id = $11 and ($12 or document.acl && $13)'
        '       and (document.expires_at is null or document.expires_at > now())'
        '       and ($14 is null or document.metadata @@ $14) and ($15 is null or chunk.metadata @@ $15)'
        '       and ($16 is null or chunk.content_tsv @@ $16) and ($17 is null or not chunk.content_tsv @@ $17)'
        || case when p_scope.narrow_documents is null then '' else ' and chunk.content_tsv @@ $9' end ||
        -- another: the length normalisation is computed once a chunk, not once a term
        '     offset 0'
        '   ) as found'
        ' ) as scored order by scored.score desc, scored.id limit $18) as best'
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_terms.weights, p_terms.queries, p_scope.bm25_k1, p_scope.bm25_b, p_terms.average_length,
        p_scope.index_version_id, p_candidates, p_scope.statistics_horizon, ragpg._any_of(p_terms.lexemes),
        p_scope.collection_id, p_scope.tenant_id, p_scope.every_document, p_scope.principals,
        p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions, p_limit, p_scope.narrow_documents;
    return v_leg;
end;
$$;

comment on function ragpg._best_matches(ragpg._scope, ragpg._terms, tsquery, boolean, integer) is
'The p_limit best visible chunks by BM25 among those that match p_candidates (with p_fresh: and among all matches written since the statistics). For a narrow caller, among all that match.';

create function ragpg._keyword_scores(
    p_scope ragpg._scope, p_terms ragpg._terms, p_document_ids uuid[], p_chunk_ids uuid[]
) returns double precision[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    v_scores double precision[];
begin
    if p_terms.lexemes is null then
        return array_fill(0::double precision, array[cardinality(p_chunk_ids)]);
    end if;
    execute
        'select array_agg(coalesce(scored.score, 0) order by scored.place) from ('
        '   select found.place, ' || ragpg._score_expression(cardinality(p_terms.lexemes)) || ' as score'
        '   from ('
        '     select item.place, chunk.content_tsv, $3 * (1 - $4 + $4 * chunk.lexeme_count / $5) as saturation'
        '     from unnest($7, $8) with ordinality as item (document_id, id, place)'
        '     left join ragpg.chunk on chunk.index_version_id = $6 and chunk.document_id = item.document_id and chunk.id = item.id'
        '     offset 0'
        '   ) as found'
        ' ) as scored'
    into v_scores
    using
        p_terms.weights, p_terms.queries, p_scope.bm25_k1, p_scope.bm25_b, p_terms.average_length,
        p_scope.index_version_id, p_document_ids, p_chunk_ids;
    return v_scores;
end;
$$;

comment on function ragpg._keyword_scores(ragpg._scope, ragpg._terms, uuid[], uuid[]) is
'The BM25 scores of the given chunks, in their order; 0 for one that holds no term.';

create function ragpg._sets_reaching(p_queries tsquery[], p_bounds double precision[], p_threshold double precision) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_subset_terms constant integer := 8;
    v_count constant integer := cardinality(p_bounds);
    v_masks integer[] := '{}';
    v_query tsquery;
    v_and tsquery;
    v_sum double precision;
    v_mask integer;
    v_kept integer;
    v_item record;
begin
    if v_count > v_subset_terms then
        -- MaxScore: the terms whose bounds together stay under the threshold can't carry a chunk alone, so one of the others is in it
        v_sum := 0;
        for v_item in
            select term.query, term.bound
            from unnest(p_queries, p_bounds) as term (query, bound)
            order by term.bound
        loop
            v_sum := v_sum + v_item.bound;
            if v_sum >= p_threshold then
                v_query := case when v_query is null then v_item.query else v_query || v_item.query end;
            end if;
        end loop;
        return v_query;
    end if;

    -- all the smallest sets of terms whose bounds reach the threshold, few terms first: a set that holds a kept one adds nothing
    for v_mask in
        select mask.bits
        from generate_series(1, (1 << v_count) - 1) as mask (bits)
        order by bit_count(mask.bits::bit(8)), mask.bits
    loop
        continue when exists (select from unnest(v_masks) as kept (bits) where kept.bits & v_mask = kept.bits);
        v_sum := 0;
        v_and := null;
        for v_kept in 1 .. v_count loop
            if v_mask & (1 << (v_kept - 1)) <> 0 then
                v_sum := v_sum + p_bounds[v_kept];
                v_and := case when v_and is null then p_queries[v_kept] else v_and && p_queries[v_kept] end;
            end if;
        end loop;
        if v_sum >= p_threshold then
            v_masks := v_masks || v_mask;
            v_query := case when v_query is null then v_and else v_query || v_and end;
        end if;
    end loop;
    return v_query;
end;
$$;

comment on function ragpg._sets_reaching(tsquery[], double precision[], double precision) is
'The tsquery that every chunk matches whose score can reach the threshold: an OR of the minimal sets of terms whose bounds add up to it.';

create function ragpg._keyword_leg(p_scope ragpg._scope, p_terms ragpg._terms, p_limit integer) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    v_count constant integer := coalesce(cardinality(p_terms.lexemes), 0);
    v_all constant tsquery := ragpg._any_of(p_terms.lexemes);
    v_candidates tsquery := v_all;
    v_every_match constant boolean := p_terms.every_match or p_scope.narrow_documents is not null;
    v_fresh boolean := false;
    v_path text := 'every match';
    v_used integer := 0;
    v_matches bigint := 0;
    v_threshold double precision;
    v_leg ragpg._leg;
begin
    if v_count = 0 then
        v_leg := row('{}', '{}', '{}', p_terms.degraded || 'keyword_empty'::text, jsonb_build_object('path', 'none', 'why', 'no word of the query occurs'));
        return v_leg;
    end if;
    if not v_every_match then
        v_fresh := p_scope.statistics_horizon is not null and exists (
            select from ragpg.chunk
            where chunk.index_version_id = p_scope.index_version_id and chunk.written_at >= p_scope.statistics_horizon
        );
        -- the rarest terms first, until the page is full: its last score is what any other chunk has to beat
        loop
            loop
                v_used := v_used + 1;
                v_matches := v_matches + p_terms.document_frequencies[v_used];
                exit when v_used = v_count or v_matches >= p_limit;
            end loop;
            exit when v_used = v_count;
            v_leg := ragpg._best_matches(p_scope, p_terms, ragpg._any_of(p_terms.lexemes[1:v_used]), false, p_limit);
            exit when cardinality(v_leg.scores) >= p_limit;
        end loop;
        if v_used < v_count then
            v_threshold := v_leg.scores[p_limit];
            if v_used + 1 < v_count then
                -- those of them, and of the next term's, that can reach it raise it at little cost (docs/decisions.md)
                v_candidates := ragpg._sets_reaching(p_terms.queries, p_terms.bounds, v_threshold * (1 - 1e-9));
                v_leg := ragpg._best_matches(
                    p_scope, p_terms, v_candidates && ragpg._any_of(p_terms.lexemes[1:v_used + 1]), false, p_limit
                );
                v_threshold := greatest(v_threshold, v_leg.scores[p_limit]);
            end if;
            v_candidates := ragpg._sets_reaching(p_terms.queries, p_terms.bounds, v_threshold * (1 - 1e-9));
            v_path := 'boolean threshold';
        end if;
    end if;
    if v_threshold is null or v_fresh or v_candidates <> ragpg._any_of(p_terms.lexemes[1:v_used]) then
        v_leg := ragpg._best_matches(p_scope, p_terms, v_candidates, v_fresh and v_candidates <> v_all, p_limit);
    end if;
    v_leg.document_ids := coalesce(v_leg.document_ids, '{}');
    v_leg.chunk_ids := coalesce(v_leg.chunk_ids, '{}');
    v_leg.scores := coalesce(v_leg.scores, '{}');
    v_leg.degraded := p_terms.degraded || case when v_leg.chunk_ids = '{}' then array['keyword_empty'] else '{}' end;
    v_leg.detail := jsonb_build_object(
        'path', v_path,
        'why', case
            when p_scope.narrow_documents is not null then 'few chunks are visible: each is looked at'
            when v_threshold is not null then 'only what can reach the score of the last place is scored'
            when p_terms.every_match then 'the collection is small, or was never analysed'
            else 'few chunks match'
        end,
        'candidates', cardinality(v_leg.chunk_ids),
        'threshold', v_threshold,
        'scored', v_candidates::text,
        'fresh_chunks', v_fresh
    );
    return v_leg;
end;
$$;

comment on function ragpg._keyword_leg(ragpg._scope, ragpg._terms, integer) is
'The best visible chunks by exact BM25. In a large collection only chunks that can reach the page are scored: those that hold a set of terms whose bounds add up to the score of the last place.';
