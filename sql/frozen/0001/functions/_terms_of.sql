create function ragpg._corpus_counts(p_scope ragpg._scope) returns ragpg._terms
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    -- under this many chunks every number is counted live, so that a score equals the formula exactly
    v_live_limit constant integer := 10000;
    v_total bigint;
    v_estimate bigint;
    v_terms ragpg._terms;
begin
    v_terms.degraded := '{}';
    if p_scope.chunk_count is null or p_scope.chunk_count <= 2 * v_live_limit then
        select count(*), sum(sample.lexeme_count)
        into v_terms.chunk_count, v_total
        from (
            select chunk.lexeme_count
            from ragpg.chunk
            where chunk.index_version_id = p_scope.index_version_id
            limit v_live_limit + 1
        ) as sample;
    end if;
    if v_terms.chunk_count <= v_live_limit then
        v_terms.average_length := greatest(v_total::double precision / greatest(v_terms.chunk_count, 1), 1);
        v_terms.every_match := true;
    elsif p_scope.chunk_count > v_live_limit then
        v_estimate := ragpg._estimated_chunks(p_scope.index_version_id);
        v_terms.chunk_count := p_scope.chunk_count;
        if v_estimate > 1.5 * p_scope.chunk_count then
            v_terms.chunk_count := v_estimate;
            v_terms.degraded := array['stale_statistics'];
        end if;
        v_terms.average_length := p_scope.average_length;
        v_terms.every_match := false;
    else
        -- large, and not analysed since it became so: correct, but every match has to be scored
        v_terms.degraded := array['stale_statistics'];
        v_terms.every_match := true;
        select count(*), greatest(avg(chunk.lexeme_count), 1)
        into v_terms.chunk_count, v_terms.average_length
        from ragpg.chunk
        where chunk.index_version_id = p_scope.index_version_id;
    end if;
    if v_terms.degraded <> '{}' and not ragpg._may_choose_principals() then
        -- how many chunks there are is not for a reader to know
        v_terms.degraded := '{}';
    end if;
    return v_terms;
end;
$$;

comment on function ragpg._corpus_counts(ragpg._scope) is
'How many chunks the index version has and how long they are on average: counted live while small, from the statistics when large (stale_statistics where the collection has outgrown them).';

create function ragpg._visible_counts(p_scope ragpg._scope) returns ragpg._terms
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    v_every_match_limit constant integer := 10000;
    v_terms ragpg._terms;
begin
    select count(*), greatest(coalesce(avg(chunk.lexeme_count), 1), 1)
    into v_terms.chunk_count, v_terms.average_length
    from ragpg.document
    join ragpg.chunk on chunk.document_id = document.id
    where
        chunk.index_version_id = p_scope.index_version_id
        and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
        and (p_scope.every_document or document.acl && p_scope.principals)
        and (document.expires_at is null or document.expires_at > now());
    v_terms.every_match := v_terms.chunk_count <= v_every_match_limit;
    v_terms.degraded := '{}';
    return v_terms;
end;
$$;

comment on function ragpg._visible_counts(ragpg._scope) is
'How many chunks the caller''s permissions show (filters aside) and how long they are on average.';

create function ragpg._document_frequency(p_scope ragpg._scope, p_lexeme tsquery) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
begin
    if p_scope.idf = 'visible' then
        return (
            select count(*)
            from ragpg.document
            join ragpg.chunk on chunk.document_id = document.id
            where
                chunk.index_version_id = p_scope.index_version_id and chunk.content_tsv @@ p_lexeme
                and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
                and (p_scope.every_document or document.acl && p_scope.principals)
                and (document.expires_at is null or document.expires_at > now())
        );
    end if;
    return (
        select count(*) from ragpg.chunk
        where chunk.index_version_id = p_scope.index_version_id and chunk.content_tsv @@ p_lexeme
    );
end;
$$;

comment on function ragpg._document_frequency(ragpg._scope, tsquery) is
'How many chunks hold the lexeme: of the whole index version, or with idf visible of those that the caller''s permissions show.';

create function ragpg._occurring(p_scope ragpg._scope, p_lexemes text[], p_counts integer[])
returns table (lexeme text, occurrences integer)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
begin
    return query
    select term.lexeme, term.occurrences
    from unnest(p_lexemes, p_counts) as term (lexeme, occurrences)
    cross join lateral (select ragpg._any_of(array[term.lexeme]) as query) as query
    where
        -- a case, so that the dearer question is only asked of what occurs
        case
            when exists (
                select from ragpg.chunk
                where chunk.index_version_id = p_scope.index_version_id and chunk.content_tsv @@ query.query
            )
                then p_scope.idf = 'corpus' or ragpg._document_frequency(p_scope, query.query) > 0
        end;
end;
$$;

comment on function ragpg._occurring(ragpg._scope, text[], integer[]) is
'Those of a long query''s lexemes that occur, in one statement: thousands of unknown words must not displace the few that are known.';

create function ragpg._terms_of(p_scope ragpg._scope, p_lexemes text[], p_counts integer[]) returns ragpg._terms
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    v_considered constant integer := 512;
    v_term_limit constant integer := 64;
    v_lexemes text[] := p_lexemes;
    v_counts integer[] := p_counts;
    v_degraded text[] := '{}';
    v_terms ragpg._terms;
begin
    -- said by the query's length alone, so that it tells nothing of what hidden documents hold
    if cardinality(v_lexemes) > v_term_limit then
        v_degraded := array['term_cap'];
    end if;
    if cardinality(v_lexemes) > v_considered then
        select array_agg(item.lexeme order by item.place), array_agg(item.occurrences order by item.place)
        into v_lexemes, v_counts
        from (
            select *, row_number() over (order by term.occurrences desc, length(term.lexeme) desc, term.lexeme) as place
            from ragpg._occurring(p_scope, v_lexemes, v_counts) as term
        ) as item
        where item.place <= v_considered;
    end if;

    v_terms := case when p_scope.idf = 'visible' then ragpg._visible_counts(p_scope) else ragpg._corpus_counts(p_scope) end;
    v_degraded := v_degraded || v_terms.degraded;

    select
        array_agg(item.lexeme order by item.df, item.lexeme),
        array_agg(item.query order by item.df, item.lexeme),
        array_agg(item.df order by item.df, item.lexeme),
        array_agg(item.idf order by item.df, item.lexeme),
        array_agg(item.weight order by item.df, item.lexeme),
        array_agg(item.weight * item.largest order by item.df, item.lexeme)
    into v_terms.lexemes, v_terms.queries, v_terms.document_frequencies, v_terms.idfs, v_terms.weights, v_terms.bounds
    from (
        select
            ranked.*,
            ranked.occurrences * ranked.idf * (p_scope.bm25_k1 + 1) as weight
        from (
            select
                known.*,
                -- Robertson and Spärck Jones' idf with 1 added inside the logarithm, so that it is never negative (as in Lucene)
                ln(1 + (greatest(v_terms.chunk_count, known.df) - known.df + 0.5) / (known.df + 0.5)) as idf,
                row_number() over (order by known.df, known.lexeme) as place
            from (
                select
                    term.lexeme,
                    term.occurrences,
                    query.query,
                    coalesce(
                        case when p_scope.idf = 'corpus' and not v_terms.every_match then statistic.document_frequency end,
                        ragpg._document_frequency(p_scope, query.query)
                    ) as df,
                    case
                        when p_scope.idf = 'corpus' and p_scope.bounds_valid and statistic.max_impact is not null then statistic.max_impact
                        else 1
                    end as largest
                from unnest(v_lexemes, v_counts) as term (lexeme, occurrences)
                cross join lateral (select ragpg._any_of(array[term.lexeme]) as query) as query
                left join ragpg.lexeme_stat as statistic
                    on statistic.index_version_id = p_scope.index_version_id and statistic.lexeme = term.lexeme
            ) as known
            where known.df > 0
        ) as ranked
        where ranked.place <= v_term_limit
    ) as item;

    v_terms.degraded := v_degraded;
    return v_terms;
end;
$$;

comment on function ragpg._terms_of(ragpg._scope, text[], integer[]) is
'The query''s lexemes with document frequency, idf, weight and bound, rarest first. Frequencies are counted live in small collections and for lexemes without statistics; of a very long query the rarest 64 terms are kept (term_cap).';
