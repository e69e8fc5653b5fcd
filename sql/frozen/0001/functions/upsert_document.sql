create function ragpg.upsert_document(
    p_collection text,
    p_external_id text,
    p_content text,
    p_title text default null,
    p_uri text default null,
    p_media_type text default null,
    p_language text default null,
    p_metadata jsonb default '{}',
    p_acl text[] default null,
    p_tenant_id text default null,
    p_expires_at timestamptz default null,
    p_chunks jsonb default null,
    p_embeddings vector[] default null,
    p_index_version bigint default null,
    out document_id uuid,
    out status text,
    out chunks_written integer,
    out chunks_deleted integer,
    out embeddings_written integer
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_tenant_id constant text := coalesce(p_tenant_id, ragpg._current_tenant_id());
    v_version record;
    v_now constant timestamptz := clock_timestamp();
    v_new ragpg.document%rowtype;
    v_old ragpg.document%rowtype;
    v_rows ragpg.chunk[];
    v_written record;
    v_indexed boolean;
begin
    -- shared with all other writes; activating another index version waits for them, and they for it
    perform pg_advisory_xact_lock_shared(ragpg._activation_lock(p_collection));
    v_version := ragpg._index_version(p_collection, p_index_version);
    if p_external_id is null or p_external_id = '' or octet_length(p_external_id) > 1000 or octet_length(v_tenant_id) > 1000 then
        raise exception using errcode = 'RG007', message = 'p_external_id must have 1 to 1000 bytes, and p_tenant_id at most 1000';
    end if;
    if p_content is null or p_content !~ '\S' then
        raise exception using
            errcode = 'RG007',
            message = format('document %L has no content', p_external_id),
            hint = 'Delete it with ragpg.delete_document if it is gone.';
    end if;
    if p_embeddings is not null and p_chunks is null then
        raise exception using
            errcode = 'RG007',
            message = format('document %L has embeddings and no chunks', p_external_id),
            hint = 'p_embeddings belong to p_chunks, one a chunk.';
    end if;
    if jsonb_typeof(p_metadata) is distinct from 'object' then
        raise exception using
            errcode = 'RG007', message = format('p_metadata of document %L is not a JSON object', p_external_id);
    end if;
    document_id := ragpg._document_id(p_collection, v_tenant_id, p_external_id);
    v_new.language := ragpg._language(coalesce(p_language, v_version.language));
    v_new.content_hash := sha256(convert_to(p_content, 'UTF8'));
    v_new.acl := coalesce(p_acl, (select default_acl from ragpg.collection where id = v_version.collection_id));
    perform ragpg._check_acl(v_new.acl);

    <<writing>>
    loop
        insert into ragpg.document (
            id, collection_id, tenant_id, external_id, title, uri, media_type, language, metadata, acl, content, content_hash,
            created_at, updated_at, expires_at
        )
        values (
            document_id, v_version.collection_id, v_tenant_id, p_external_id, p_title, p_uri, p_media_type, v_new.language, p_metadata,
            v_new.acl, p_content, v_new.content_hash, v_now, v_now, p_expires_at
        )
        on conflict (id) do nothing;
        if found then
            status := 'created';
        else
            -- the row lock makes two writers of one document follow each other
            select * into v_old from ragpg.document where id = document_id for update;
            continue writing when not found;
            v_new.acl := coalesce(p_acl, v_old.acl);
            status := case
                when v_old.content_hash <> v_new.content_hash then 'updated'
                when
                    row(v_old.title, v_old.uri, v_old.media_type, v_old.language, v_old.metadata, v_old.acl, v_old.expires_at)
                    is distinct from row(p_title, p_uri, p_media_type, v_new.language, p_metadata, v_new.acl, p_expires_at)
                    then 'attributes'
                else 'unchanged'
            end;
            if status <> 'unchanged' then
                update ragpg.document
                set
                    title = p_title, uri = p_uri, media_type = p_media_type, language = v_new.language, metadata = p_metadata,
                    acl = v_new.acl, content = p_content, content_hash = v_new.content_hash, expires_at = p_expires_at, updated_at = v_now,
                    version = v_old.version + case status when 'updated' then 1 else 0 end
                where id = document_id;
            end if;
        end if;
        exit writing;
    end loop;

    if status = 'updated' then
        -- what other index versions cut out of the former text must not be found there, nor after a roll-back
        delete from ragpg.chunk
        where chunk.document_id = upsert_document.document_id and chunk.index_version_id <> v_version.index_version_id;
    end if;
    v_rows := ragpg._chunk_rows(
        v_version.index_version_id, document_id, p_content, coalesce(p_title, ''),
        coalesce(p_chunks, case
            when status in ('created', 'updated') or not exists (
                select from ragpg.chunk
                where chunk.index_version_id = v_version.index_version_id and chunk.document_id = upsert_document.document_id
            ) then ragpg._split_text(p_content)
        end)
    );
    if v_rows is null and p_title is distinct from v_old.title then
        -- the title is the heading of what was split in here
        v_rows := array(
            select chunk from ragpg.chunk
            where chunk.index_version_id = v_version.index_version_id and chunk.document_id = upsert_document.document_id
            order by chunk.ordinal
        );
        for v_place in 1 .. cardinality(v_rows) loop
            if v_rows[v_place].heading = coalesce(v_old.title, '') then
                v_rows[v_place].heading := coalesce(p_title, '');
            end if;
        end loop;
    end if;
    v_written := ragpg._write_chunks(
        v_version.index_version_id, document_id, v_new.language, v_old.language <> v_new.language,
        v_rows, p_embeddings, v_version.dimensions
    );
    chunks_written := v_written.o_written;
    chunks_deleted := v_written.o_deleted;
    embeddings_written := v_written.o_embedded;
    if status = 'unchanged' and chunks_written + chunks_deleted + embeddings_written > 0 then
        status := 'updated';
    end if;

    -- indexed_at says that every chunk of the active version has its vector; no vector is there without its chunk, so their numbers tell
    v_indexed := v_version.dimensions is null or (
        select count(*) from ragpg.chunk
        where chunk.index_version_id = v_version.index_version_id and chunk.document_id = upsert_document.document_id
    ) = (
        select count(*) from ragpg.embedding
        where embedding.index_version_id = v_version.index_version_id and embedding.document_id = upsert_document.document_id
    );
    if v_version.is_active and (status <> 'unchanged' or v_indexed is distinct from (v_old.indexed_at is not null)) then
        update ragpg.document set indexed_at = case when v_indexed then v_now end where id = document_id;
    end if;
end;
$$;

comment on function ragpg.upsert_document(
    text, text, text, text, text, text, text, jsonb, text[], text, timestamptz, jsonb, vector[], bigint
) is
'Writes a document with its chunks and vectors for one index version, in the caller''s transaction; when the text changes, its chunks of the other versions go. p_chunks are ranges of p_content; without them the text is split between lines and waits for its vectors. A NULL in p_embeddings keeps the vector the chunk has. The same again writes nothing. p_acl null: as it was, or the collection''s default. RG001, RG004, RG005, RG007.';
