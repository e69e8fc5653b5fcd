create function ragpg.create_index_version(
    p_collection text,
    p_chunking jsonb default null,
    p_embedding_provider text default null,
    p_embedding_model text default null,
    p_embedding_dimensions integer default null,
    p_query_prefix text default null,
    p_document_prefix text default null
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_hnsw_dimensions constant integer := 4000;
    v_halfvec_dimensions constant integer := 16000;
    v_collection record;
    v_active ragpg.index_version%rowtype;
    v_new ragpg.index_version%rowtype;
    v_chunks name;
    v_embeddings name;
begin
    -- in the order in which writes take them, so that nobody waits in a circle
    lock table ragpg.document, ragpg.chunk, ragpg.embedding in share row exclusive mode;
    select collection.id, collection.active_index_version_id, collection.chunking
    into v_collection
    from ragpg.collection
    where collection.name = p_collection
    for no key update;
    if not found then
        perform ragpg._index_version(p_collection);
    end if;
    select * into v_active from ragpg.index_version where id = v_collection.active_index_version_id;

    v_new.chunking := coalesce(p_chunking, v_active.chunking, v_collection.chunking);
    if num_nonnulls(p_embedding_provider, p_embedding_model, p_embedding_dimensions) = 0 then
        v_new.embedding_provider := v_active.embedding_provider;
        v_new.embedding_model := v_active.embedding_model;
        v_new.dimensions := v_active.dimensions;
        v_new.query_prefix := coalesce(p_query_prefix, v_active.query_prefix, '');
        v_new.document_prefix := coalesce(p_document_prefix, v_active.document_prefix, '');
    elsif num_nulls(p_embedding_provider, p_embedding_model, p_embedding_dimensions) = 0
        and p_embedding_dimensions between 1 and v_halfvec_dimensions then
        v_new.embedding_provider := p_embedding_provider;
        v_new.embedding_model := p_embedding_model;
        v_new.dimensions := p_embedding_dimensions;
        v_new.query_prefix := coalesce(p_query_prefix, '');
        v_new.document_prefix := coalesce(p_document_prefix, '');
    else
        raise exception using
            errcode = 'RG007',
            message = 'an embedding model needs provider, model and dimensions (1 to 16000), or none of the three',
            hint = 'For example ''openai'', ''text-embedding-3-small'', 1536.';
    end if;

    insert into ragpg.index_version (
        collection_id, chunking, embedding_provider, embedding_model, dimensions, query_prefix, document_prefix, status
    )
    values (
        v_collection.id, v_new.chunking, v_new.embedding_provider, v_new.embedding_model, v_new.dimensions,
        v_new.query_prefix, v_new.document_prefix, 'building'
    )
    returning id into v_new.id;

    v_chunks := 'chunk_v' || v_new.id;
    v_embeddings := 'embedding_v' || v_new.id;
    -- made first and attached then: `create table … partition of` would lock every search out until the transaction ends
    execute format('create table ragpg.%I (like ragpg.chunk including all)', v_chunks);
    -- the keyword index is read on every search; its vectors stay in the row, and the text goes out of it instead
    execute format('alter table ragpg.%I set (toast_tuple_target = 4080)', v_chunks);
    execute format('alter table ragpg.%I enable row level security', v_chunks);
    execute format('create index on ragpg.%I using gin (content_tsv) with (fastupdate = off)', v_chunks);
    execute format('create index on ragpg.%I using gin (metadata jsonb_path_ops)', v_chunks);
    execute format('create index on ragpg.%I (written_at)', v_chunks);
    execute format('alter table ragpg.chunk attach partition ragpg.%I for values in (%s)', v_chunks, v_new.id);
    execute format('create table ragpg.%I (like ragpg.embedding including all)', v_embeddings);
    execute format('alter table ragpg.embedding attach partition ragpg.%I for values in (%s)', v_embeddings, v_new.id);
    execute format('alter table ragpg.%I enable row level security', v_embeddings);
    if v_new.dimensions <= v_hnsw_dimensions then
        execute format(
            'create index on ragpg.%I using hnsw ((embedding::%I.halfvec(%s)) %I.halfvec_cosine_ops)',
            v_embeddings, ragpg._vector_schema(), v_new.dimensions, ragpg._vector_schema()
        );
    end if;
    execute format('comment on table ragpg.%I is %L', v_chunks, format('Chunks of index version %s.', v_new.id));
    execute format('comment on table ragpg.%I is %L', v_embeddings, format('Embeddings of index version %s.', v_new.id));
    return v_new.id;
end;
$$;

comment on function ragpg.create_index_version(text, jsonb, text, text, integer, text, text) is
'Makes an index version beside the active one: its partitions and indexes, status building. What is null is taken from the active version. Returns its id. RG001, RG007.';
