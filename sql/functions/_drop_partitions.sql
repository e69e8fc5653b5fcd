create function ragpg._drop_partitions(p_index_version bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format('drop table if exists ragpg.%I', 'embedding_v' || p_index_version);
    execute format('drop table if exists ragpg.%I', 'chunk_v' || p_index_version);
end;
$$;

comment on function ragpg._drop_partitions(bigint) is 'Drops the two partitions of an index version.';
