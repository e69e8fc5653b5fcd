create function ragpg.refresh_statistics(p_collection text, p_index_version bigint default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    -- rarer lexemes are counted live: that is cheap, and keeps the table small
    v_frequent constant integer := 100;
    -- clocks of two servers may differ after a failover
    v_margin constant interval := '1 second';
    v_version record := ragpg._index_version(p_collection, p_index_version);
    v_horizon timestamptz;
    v_k1 double precision;
    v_b double precision;
    v_chunks bigint;
    v_average double precision;
    v_documents bigint;
    v_bytes bigint;
begin
    perform 1 from ragpg.index_version where id = v_version.index_version_id for no key update;
    -- read before the snapshot below is taken: who writes later has a later written_at, who is writing now is seen in his lock
    v_horizon := ragpg._write_horizon(v_version.index_version_id) - v_margin;
    select bm25_k1, bm25_b into v_k1, v_b from ragpg.collection where id = v_version.collection_id;
    select count(*), greatest(avg(chunk.lexeme_count), 1)
    into v_chunks, v_average
    from ragpg.chunk
    where chunk.index_version_id = v_version.index_version_id;

    select count(*), sum(octet_length(document.content))
    into v_documents, v_bytes
    from ragpg.document
    where document.id in (select chunk.document_id from ragpg.chunk where chunk.index_version_id = v_version.index_version_id);

    delete from ragpg.lexeme_stat where index_version_id = v_version.index_version_id;
    insert into ragpg.lexeme_stat (index_version_id, lexeme, document_frequency, max_impact)
    select
        v_version.index_version_id,
        word.lexeme,
        count(*),
        max(1 - measured.saturation / (measured.saturation + coalesce(cardinality(word.positions), 1)))
    from (
        select chunk.content_tsv, v_k1 * (1 - v_b + v_b * chunk.lexeme_count / v_average) as saturation
        from ragpg.chunk
        where chunk.index_version_id = v_version.index_version_id
    ) as measured
    cross join lateral unnest(measured.content_tsv) as word
    group by word.lexeme
    having count(*) >= v_frequent;

    update ragpg.index_version
    set
        chunk_count = v_chunks,
        average_length = v_average,
        document_count = v_documents,
        document_bytes = v_bytes,
        statistics_k1 = v_k1,
        statistics_b = v_b,
        statistics_at = clock_timestamp(),
        statistics_horizon = v_horizon
    where id = v_version.index_version_id;
end;
$$;

comment on function ragpg.refresh_statistics(text, bigint) is
'Counts the chunks, their lengths and the frequent lexemes of an index version, as ANALYZE does for tables. Run it after large changes; searches stay correct without. RG001, RG004.';
