create function ragpg._expansion(p_expand text, out o_mode text, out o_neighbors integer)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    o_mode := coalesce(split_part(p_expand, ':', 1), 'none');
    o_neighbors := 0;
    if p_expand ~ '^neighbors:[0-9]{1,3}$' then
        o_neighbors := split_part(p_expand, ':', 2)::integer;
    elsif p_expand is not null and p_expand not in ('parent', 'document') then
        raise exception using
            errcode = 'RG007',
            message = format('p_expand is %L; it must be parent, neighbors:n or document', p_expand);
    end if;
end;
$$;

comment on function ragpg._expansion(text) is 'p_expand taken apart. RG007.';

create function ragpg._plain_hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer) returns setof ragpg.search_hit
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select
        chunk.id,
        chunk.document_id,
        document.external_id,
        document.title,
        document.uri,
        chunk.content,
        chunk.heading,
        chunk.section_path,
        chunk.page_start,
        chunk.page_end,
        chunk.char_start,
        chunk.char_end,
        document.metadata || chunk.metadata,
        ranked.score,
        ranked.vector_rank,
        ranked.vector_distance,
        ranked.keyword_rank,
        ranked.keyword_score,
        p_ranking.degraded
    from unnest(
        p_ranking.document_ids[:p_k], p_ranking.chunk_ids[:p_k], p_ranking.scores[:p_k], p_ranking.vector_ranks[:p_k],
        p_ranking.vector_distances[:p_k], p_ranking.keyword_ranks[:p_k], p_ranking.keyword_scores[:p_k]
    ) with ordinality as ranked (
        document_id, chunk_id, score, vector_rank, vector_distance, keyword_rank, keyword_score, place
    )
    join ragpg.chunk
        on
            chunk.index_version_id = p_scope.index_version_id
            and chunk.document_id = ranked.document_id
            and chunk.id = ranked.chunk_id
    join ragpg.document on document.id = ranked.document_id
    order by ranked.place;
end;
$$;

comment on function ragpg._plain_hits(ragpg._scope, ragpg._ranking, integer) is 'The first p_k of a ranking with the text of their chunks.';

create function ragpg._hits(p_scope ragpg._scope, p_ranking ragpg._ranking, p_k integer, p_expand text) returns setof ragpg.search_hit
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_expand record := ragpg._expansion(p_expand);
begin
    if v_expand.o_mode = 'none' then
        return query select hit.* from ragpg._plain_hits(p_scope, p_ranking, p_k) as hit;
        return;
    end if;
    -- several chunks of one parent are one hit, at the place of the best of them; so the parents are known before the page is cut
    return query
    with ranked as (
        select item.*
        from unnest(
            p_ranking.document_ids, p_ranking.chunk_ids, p_ranking.scores, p_ranking.vector_ranks, p_ranking.vector_distances,
            p_ranking.keyword_ranks, p_ranking.keyword_scores
        ) with ordinality as item (
            document_id, chunk_id, score, vector_rank, vector_distance, keyword_rank, keyword_score, place
        )
    ),

    ranged as (
        select
            ranked.*,
            chunk.heading,
            chunk.section_path,
            chunk.metadata as chunk_metadata,
            chunk.ordinal,
            case v_expand.o_mode
                when 'parent' then coalesce(chunk.parent_start, chunk.char_start)
                when 'document' then 0
                when 'neighbors' then coalesce(around.char_start, chunk.char_start)
                else chunk.char_start
            end as char_start,
            case v_expand.o_mode
                when 'parent' then coalesce(chunk.parent_end, chunk.char_end)
                when 'neighbors' then coalesce(around.char_end, chunk.char_end)
                else chunk.char_end
            end as char_end,
            coalesce(around.page_start, chunk.page_start) as page_start,
            coalesce(around.page_end, chunk.page_end) as page_end
        from ranked
        join ragpg.chunk
            on
                chunk.index_version_id = p_scope.index_version_id
                and chunk.document_id = ranked.document_id
                and chunk.id = ranked.chunk_id
        left join lateral (
            select
                min(near.char_start) as char_start,
                max(near.char_end) as char_end,
                min(near.page_start) as page_start,
                max(near.page_end) as page_end
            from ragpg.chunk as near
            where
                near.index_version_id = p_scope.index_version_id
                and near.document_id = ranked.document_id
                and case v_expand.o_mode
                    when 'neighbors' then near.ordinal between chunk.ordinal - v_expand.o_neighbors and chunk.ordinal + v_expand.o_neighbors
                    when 'parent' then
                        near.char_start < coalesce(chunk.parent_end, chunk.char_end)
                        and near.char_end > coalesce(chunk.parent_start, chunk.char_start)
                    else true
                end
        ) as around on true
    ),

    merged as (
        select distinct on (ranged.document_id, ranged.char_start)
            ranged.*
        from ranged
        order by
            ranged.document_id,
            ranged.char_start,
            ranged.place
    ),

    -- the page is cut before any text is: a long document is only opened for what is returned
    page as (
        select merged.* from merged
        order by merged.place
        limit p_k
    )

    select
        page.chunk_id,
        page.document_id,
        document.external_id,
        document.title,
        document.uri,
        case v_expand.o_mode
            when 'document' then document.content
            else substr(document.content, page.char_start + 1, page.char_end - page.char_start)
        end,
        page.heading,
        page.section_path,
        page.page_start,
        page.page_end,
        page.char_start,
        case v_expand.o_mode when 'document' then length(document.content) else page.char_end end,
        document.metadata || page.chunk_metadata,
        page.score,
        page.vector_rank,
        page.vector_distance,
        page.keyword_rank,
        page.keyword_score,
        p_ranking.degraded
    from page
    join ragpg.document on document.id = page.document_id
    order by page.place;
end;
$$;

comment on function ragpg._hits(ragpg._scope, ragpg._ranking, integer, text) is
'The first p_k of a ranking with their text, expanded to parents, neighbours or whole documents. RG007.';
