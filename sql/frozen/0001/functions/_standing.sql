create function ragpg._standing(
    p_leg ragpg._leg, p_document_id uuid, p_chunk_ids uuid[], p_scores double precision[], p_ascending boolean, p_limit integer,
    out o_rank bigint, out o_score double precision, out o_chunk_id uuid,
    out o_compared integer, out o_last_rank integer, out o_last_score double precision
)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_sign constant integer := case when p_ascending then -1 else 1 end;
begin
    o_compared := coalesce(cardinality(p_leg.chunk_ids), 0);
    o_last_rank := nullif(least(p_limit, o_compared), 0);
    o_last_score := p_leg.scores[o_last_rank];
    select own.score, own.chunk_id
    into o_score, o_chunk_id
    from unnest(p_scores, p_chunk_ids) as own (score, chunk_id)
    where own.score is not null
    order by v_sign * own.score desc, own.chunk_id
    limit 1;
    if found then
        -- the same score, computed elsewhere, must not outrank itself by a rounding: its own chunks are left out
        select count(*) + 1 into o_rank
        from unnest(p_leg.document_ids, p_leg.chunk_ids, p_leg.scores) as other (document_id, chunk_id, score)
        where
            other.document_id <> p_document_id
            and (v_sign * other.score > v_sign * o_score or other.score = o_score and other.chunk_id < o_chunk_id);
    end if;
end;
$$;

comment on function ragpg._standing(ragpg._leg, uuid, uuid[], double precision[], boolean, integer) is
'Where the best of a document''s chunks stands among everything a leg can return, seen or hidden, and what the last of p_limit candidates has. Chunks with a null score take no part.';
