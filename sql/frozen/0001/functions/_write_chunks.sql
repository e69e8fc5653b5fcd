create function ragpg._write_chunks(
    p_index_version bigint, p_document_id uuid, p_language text, p_language_changed boolean,
    p_rows ragpg.chunk[], p_embeddings vector[], p_dimensions integer,
    out o_written integer, out o_deleted integer, out o_embedded integer
)
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
-- a document's chunks are estimated as one row until the first ANALYZE, and a nested loop over thousands is quadratic
set enable_nestloop = off
as $$
declare
    v_config constant regconfig := p_language::regconfig;
    v_written_at timestamptz;
    v_count integer;
begin
    o_written := 0;
    o_deleted := 0;
    o_embedded := 0;
    if p_rows is null and p_language_changed is not true then
        return;
    end if;
    if p_embeddings is not null and cardinality(p_embeddings) <> coalesce(cardinality(p_rows), 0) then
        raise exception using
            errcode = 'RG007',
            message = format('%s embeddings for %s chunks', cardinality(p_embeddings), coalesce(cardinality(p_rows), 0)),
            hint = 'p_embeddings has one element a chunk; NULL keeps the vector the chunk already has.';
    end if;
    perform ragpg._check_dimensions(p_embeddings, p_dimensions, p_index_version);
    perform ragpg._announce_write(p_index_version);
    v_written_at := clock_timestamp();

    if p_rows is not null then
        delete from ragpg.chunk
        where
            chunk.index_version_id = p_index_version and chunk.document_id = p_document_id
            and not exists (select from unnest(p_rows) as given where given.id = chunk.id);
        get diagnostics o_deleted = row_count;

        -- under another heading the text means something else to the model
        delete from ragpg.embedding
        using unnest(p_rows) as given, ragpg.chunk
        where
            embedding.index_version_id = p_index_version and embedding.document_id = p_document_id and embedding.chunk_id = given.id
            and chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
            and chunk.heading <> given.heading;

        -- after an edit further up, most chunks have only moved: that touches no index
        update ragpg.chunk
        set
            ordinal = given.ordinal, section_path = given.section_path, kind = given.kind,
            char_start = given.char_start, char_end = given.char_end,
            parent_start = given.parent_start, parent_end = given.parent_end,
            page_start = given.page_start, page_end = given.page_end,
            token_count = given.token_count, metadata = given.metadata
        from unnest(p_rows) as given
        where
            chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
            and chunk.heading = given.heading
            and row(
                chunk.ordinal, chunk.section_path, chunk.kind, chunk.char_start, chunk.char_end, chunk.parent_start, chunk.parent_end,
                chunk.page_start, chunk.page_end, chunk.token_count, chunk.metadata
            ) is distinct from row(
                given.ordinal, given.section_path, given.kind, given.char_start, given.char_end, given.parent_start, given.parent_end,
                given.page_start, given.page_end, given.token_count, given.metadata
            );
        get diagnostics o_written = row_count;

        update ragpg.chunk
        set
            ordinal = given.ordinal, heading = given.heading, section_path = given.section_path, kind = given.kind,
            char_start = given.char_start, char_end = given.char_end,
            parent_start = given.parent_start, parent_end = given.parent_end,
            page_start = given.page_start, page_end = given.page_end,
            token_count = given.token_count, metadata = given.metadata,
            content_tsv = analysed.tsv, lexeme_count = ragpg._lexeme_count(analysed.tsv), written_at = v_written_at
        from unnest(p_rows) as given
        cross join lateral ragpg._analyze(v_config, given.heading || E'\n' || given.content) as analysed (tsv)
        where
            chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
            and chunk.heading <> given.heading;
        get diagnostics v_count = row_count;
        o_written := o_written + v_count;

        insert into ragpg.chunk (
            index_version_id, document_id, id, ordinal, content, heading, section_path, kind, char_start, char_end,
            parent_start, parent_end, page_start, page_end, token_count, metadata, content_tsv, lexeme_count, written_at
        )
        select
            given.index_version_id, given.document_id, given.id, given.ordinal, given.content, given.heading, given.section_path,
            given.kind, given.char_start, given.char_end, given.parent_start, given.parent_end, given.page_start, given.page_end,
            given.token_count, given.metadata, analysed.tsv, ragpg._lexeme_count(analysed.tsv), v_written_at
        from unnest(p_rows) as given
        cross join lateral ragpg._analyze(v_config, given.heading || E'\n' || given.content) as analysed (tsv)
        where not exists (
            select from ragpg.chunk
            where chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = given.id
        );
        get diagnostics v_count = row_count;
        o_written := o_written + v_count;
    end if;

    if p_language_changed then
        update ragpg.chunk
        set content_tsv = analysed.tsv, lexeme_count = ragpg._lexeme_count(analysed.tsv), written_at = v_written_at
        from ragpg.chunk as old
        cross join lateral ragpg._analyze(v_config, old.heading || E'\n' || old.content) as analysed (tsv)
        where
            old.index_version_id = p_index_version and old.document_id = p_document_id
            and chunk.index_version_id = p_index_version and chunk.document_id = p_document_id and chunk.id = old.id
            and chunk.content_tsv is distinct from analysed.tsv;
    end if;

    insert into ragpg.embedding (index_version_id, document_id, chunk_id, embedding)
    select p_index_version, p_document_id, given.id, ragpg._to_halfvec(vector.embedding)
    from unnest(p_rows) as given
    join unnest(p_embeddings) with ordinality as vector (embedding, place) on vector.place = given.ordinal + 1
    where vector.embedding is not null
    on conflict (index_version_id, document_id, chunk_id) do update set embedding = excluded.embedding
    where not ragpg._is_same(embedding.embedding, excluded.embedding);
    get diagnostics o_embedded = row_count;
end;
$$;

comment on function ragpg._write_chunks(bigint, uuid, text, boolean, ragpg.chunk[], vector[], integer) is
'Brings the chunks of a document to the given rows: what stayed the same is not written, what moved keeps its analysis and its vector. RG005, RG007.';

create function ragpg._lexeme_count(p_tsv tsvector) returns integer
language sql immutable parallel safe
begin atomic
    select coalesce(sum(coalesce(cardinality(word.positions), 1)), 0)::integer
    from unnest(p_tsv) as word
    where not starts_with(word.lexeme, '~') and not starts_with(word.lexeme, '^');
end;

comment on function ragpg._lexeme_count(tsvector) is
'The length of a chunk as BM25 takes it: the number of positions in its tsvector, without stop words and single characters.';
