create function ragpg.collection_stats(p_collection text default null)
returns table (
    name text,
    language text,
    chunking jsonb,
    embedding_provider text,
    embedding_model text,
    dimensions integer,
    active_index_version bigint,
    documents bigint,
    chunks bigint,
    embeddings bigint,
    pending bigint,
    indexed_at timestamptz,
    statistics_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    if p_collection is not null then
        perform ragpg._index_version(p_collection);
    end if;
    return query
    select
        collection.name,
        collection.language,
        version.chunking,
        version.embedding_provider,
        version.embedding_model,
        version.dimensions,
        version.id,
        (select count(*) from ragpg.document where document.collection_id = collection.id),
        (select count(*) from ragpg.chunk where chunk.index_version_id = version.id),
        (select count(*) from ragpg.embedding where embedding.index_version_id = version.id),
        (select count(*) from ragpg.document where document.collection_id = collection.id and document.indexed_at is null),
        (select max(document.indexed_at) from ragpg.document where document.collection_id = collection.id),
        version.statistics_at
    from ragpg.collection
    join ragpg.index_version as version on version.id = collection.active_index_version_id
    where p_collection is null or collection.name = p_collection
    order by collection.name;
end;
$$;

comment on function ragpg.collection_stats(text) is
'One row a collection, or all of them: model, documents, chunks, embeddings of the active index version, documents that wait for vectors (pending). It counts every document, so it is not for readers. RG001.';
