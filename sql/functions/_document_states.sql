-- What an ingest needs to know to write only what changed.

create function ragpg._document_states(
    p_collection text, p_external_ids text[], p_tenant_id text default null, p_index_version bigint default null
)
returns table (
    external_id text, document_id uuid, content_hash bytea, title text, uri text, media_type text, language text,
    metadata jsonb, acl text[], expires_at timestamptz, chunk_count integer, pending integer
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
    v_tenant_id constant text := coalesce(p_tenant_id, ragpg._current_tenant_id());
begin
    return query
    select
        document.external_id, document.id, document.content_hash, document.title, document.uri, document.media_type,
        document.language, document.metadata, document.acl, document.expires_at,
        counted.chunks::integer,
        case when v_version.dimensions is null then 0 else (counted.chunks - counted.embeddings)::integer end
    from unnest(p_external_ids) as wanted (external_id)
    join ragpg.document on document.id = ragpg._document_id(p_collection, v_tenant_id, wanted.external_id)
    cross join lateral (
        select count(*) as chunks, count(embedding.chunk_id) as embeddings
        from ragpg.chunk
        left join ragpg.embedding
            on
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        where chunk.index_version_id = v_version.index_version_id and chunk.document_id = document.id
    ) as counted;
end;
$$;

comment on function ragpg._document_states(text, text[], text, bigint) is
'The stored state of the given documents: hashes and attributes to compare, chunks, and how many of them wait for a vector. RG001, RG004.';

create function ragpg._chunk_states(p_collection text, p_document_id uuid, p_index_version bigint default null)
returns table (chunk_id uuid, content_hash bytea, heading text, has_embedding boolean)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record := ragpg._index_version(p_collection, p_index_version);
begin
    return query
    select
        chunk.id, sha256(convert_to(chunk.content, 'UTF8')), chunk.heading,
        exists (
            select from ragpg.embedding
            where
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        )
    from ragpg.chunk
    join ragpg.document on document.id = chunk.document_id
    where
        chunk.index_version_id = v_version.index_version_id
        and chunk.document_id = p_document_id
        and document.collection_id = v_version.collection_id;
end;
$$;

comment on function ragpg._chunk_states(text, uuid, bigint) is
'The stored chunks of a document: a chunk with the same id and heading needs no new vector. RG001, RG004.';
