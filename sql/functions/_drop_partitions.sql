create function ragpg._drop_partitions(p_index_version bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format('drop table ragpg.%I', 'embedding_v' || p_index_version);
    -- the embeddings' foreign key refers to the whole table: a partition has to leave it before it can be dropped
    execute format('alter table ragpg.chunk detach partition ragpg.%I', 'chunk_v' || p_index_version);
    execute format('drop table ragpg.%I', 'chunk_v' || p_index_version);
end;
$$;

comment on function ragpg._drop_partitions(bigint) is 'Drops the two partitions of an index version.';
