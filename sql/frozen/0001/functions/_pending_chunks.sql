create function ragpg._pending_chunks(p_collection text, p_limit integer default 500, p_index_version bigint default null)
returns table (document_id uuid, chunk_id uuid, heading text, content text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
begin
    return query
    select chunk.document_id, chunk.id, chunk.heading, chunk.content
    from ragpg.document
    join ragpg.chunk on chunk.document_id = document.id
    where
        document.collection_id = v_version.collection_id
        and (not v_version.is_active or document.indexed_at is null)
        and chunk.index_version_id = v_version.index_version_id
        and v_version.dimensions is not null
        and not exists (
            select from ragpg.embedding
            where
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        )
    order by chunk.document_id, chunk.ordinal
    limit p_limit;
end;
$$;

comment on function ragpg._pending_chunks(text, integer, bigint) is 'Chunks that wait for their vector. RG001, RG004.';

create function ragpg._set_embeddings(
    p_collection text, p_document_ids uuid[], p_chunk_ids uuid[], p_embeddings vector[], p_index_version bigint default null
) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
    v_count integer;
begin
    if cardinality(p_document_ids) <> cardinality(p_chunk_ids) or cardinality(p_chunk_ids) <> cardinality(p_embeddings) then
        raise exception using errcode = 'RG007', message = 'the three arrays differ in length';
    end if;
    perform ragpg._check_dimensions(p_embeddings, v_version.dimensions, v_version.index_version_id);
    -- by id, so that two writers never wait for each other in a circle
    perform 1 from ragpg.document
    where id = any (p_document_ids) and collection_id = v_version.collection_id
    order by id
    for update;
    insert into ragpg.embedding (index_version_id, document_id, chunk_id, embedding)
    select chunk.index_version_id, chunk.document_id, chunk.id, ragpg._to_halfvec(given.embedding)
    from unnest(p_document_ids, p_chunk_ids, p_embeddings) as given (document_id, chunk_id, embedding)
    -- a chunk that was edited away meanwhile is simply not there any more
    join ragpg.chunk
        on
            chunk.index_version_id = v_version.index_version_id
            and chunk.document_id = given.document_id
            and chunk.id = given.chunk_id
    on conflict (index_version_id, document_id, chunk_id) do update set embedding = excluded.embedding;
    get diagnostics v_count = row_count;
    update ragpg.document
    set indexed_at = clock.now
    from (select clock_timestamp() as now) as clock
    where
        v_version.is_active and document.id = any (p_document_ids)
        and document.collection_id = v_version.collection_id and document.indexed_at is null
        and not exists (
            select from ragpg.chunk
            where
                chunk.index_version_id = v_version.index_version_id
                and chunk.document_id = document.id
                and not exists (
                    select from ragpg.embedding
                    where
                        embedding.index_version_id = chunk.index_version_id
                        and embedding.document_id = chunk.document_id
                        and embedding.chunk_id = chunk.id
                )
        );
    return v_count;
end;
$$;

comment on function ragpg._set_embeddings(text, uuid[], uuid[], vector[], bigint) is
'Stores the vectors of chunks that waited for them; returns how many were stored. RG001, RG004, RG005, RG007.';
