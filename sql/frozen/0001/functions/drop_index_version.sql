create function ragpg.drop_index_version(p_collection text, p_index_version bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_version record;
begin
    perform ragpg._lock_for_dropping(ragpg._lock_patience());
    v_version := ragpg._index_version(p_collection, p_index_version);
    perform 1 from ragpg.collection where id = v_version.collection_id for no key update;
    if exists (select from ragpg.collection where active_index_version_id = v_version.index_version_id) then
        raise exception using
            errcode = 'RG011',
            message = format('index version %s is active', v_version.index_version_id),
            hint = 'Activate another one first.';
    end if;
    perform ragpg._drop_partitions(v_version.index_version_id);
    delete from ragpg.index_version where id = v_version.index_version_id;
end;
$$;

comment on function ragpg.drop_index_version(text, bigint) is
'Drops an index version that is not active, with its chunks and embeddings: two partitions go, nothing is left to vacuum. RG001, RG004, RG011, 55P03.';
