create function ragpg.activate_index_version(p_collection text, p_index_version bigint) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record;
begin
    perform pg_advisory_xact_lock(ragpg._activation_lock(p_collection));
    v_version := ragpg._index_version(p_collection, p_index_version);
    if p_index_version is null then
        raise exception using errcode = 'RG007', message = 'p_index_version is null';
    end if;
    -- dropping takes the same lock: what is looked at here is still there when it becomes active
    perform 1 from ragpg.collection where id = v_version.collection_id for no key update;
    v_version := ragpg._index_version(p_collection, p_index_version);
    if exists (select from ragpg.document where collection_id = v_version.collection_id)
        and not exists (select from ragpg.chunk where index_version_id = p_index_version) then
        raise exception using
            errcode = 'RG011',
            message = format('index version %s holds no chunks, and collection %L has documents', p_index_version, p_collection),
            hint = 'Write the documents to it first: searches would find nothing.';
    end if;
    update ragpg.collection set active_index_version_id = p_index_version where id = v_version.collection_id;
    update ragpg.index_version set status = 'retired'
    where collection_id = v_version.collection_id and status = 'active' and id <> p_index_version;
    update ragpg.index_version set status = 'active', activated_at = clock_timestamp()
    where collection_id = v_version.collection_id and id = p_index_version and status <> 'active';
    -- indexed_at speaks of the active version: only documents for which that changes are written
    update ragpg.document
    set indexed_at = case when state.complete then state.now end
    from (
        select
            target.id,
            clock_timestamp() as now,
            exists (
                select from ragpg.chunk where chunk.index_version_id = p_index_version and chunk.document_id = target.id
            )
            and (v_version.dimensions is null or not exists (
                select from ragpg.chunk
                where
                    chunk.index_version_id = p_index_version
                    and chunk.document_id = target.id
                    and not exists (
                        select from ragpg.embedding
                        where
                            embedding.index_version_id = p_index_version
                            and embedding.document_id = chunk.document_id
                            and embedding.chunk_id = chunk.id
                    )
            )) as complete
        from ragpg.document as target
        where target.collection_id = v_version.collection_id
    ) as state
    where document.id = state.id and state.complete <> (document.indexed_at is not null);
end;
$$;

comment on function ragpg.activate_index_version(text, bigint) is
'Makes an index version the one that searches use, and retires the one before, which is kept: activating it again rolls back. Documents whose text changed meanwhile have no chunks in it until they are written to it. RG001, RG004, RG007, RG011.';
