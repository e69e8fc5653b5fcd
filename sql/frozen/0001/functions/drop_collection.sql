create function ragpg.drop_collection(p_name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record;
begin
    perform ragpg._lock_for_dropping(ragpg._lock_patience());
    v_version := ragpg._index_version(p_name);
    -- the partitions go first: deleting the documents would otherwise cascade through every chunk
    perform ragpg._drop_partitions(id) from ragpg.index_version where collection_id = v_version.collection_id;
    update ragpg.collection set active_index_version_id = null where id = v_version.collection_id;
    delete from ragpg.document where collection_id = v_version.collection_id;
    delete from ragpg.collection where id = v_version.collection_id;
end;
$$;

comment on function ragpg.drop_collection(text) is 'Drops a collection with its documents and all its index versions. RG001, 55P03.';
