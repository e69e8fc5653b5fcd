create function ragpg._count_visible(p_scope ragpg._scope, p_cap integer) returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
begin
    return (
        select count(*)
        from (
            select 1
            from ragpg.document
            join ragpg.chunk on chunk.document_id = document.id
            where
                chunk.index_version_id = p_scope.index_version_id
                and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
                and (p_scope.every_document or document.acl && p_scope.principals)
                and (document.expires_at is null or document.expires_at > now())
                and (p_scope.filter is null or document.metadata @@ p_scope.filter)
                and (p_scope.chunk_filter is null or chunk.metadata @@ p_scope.chunk_filter)
                and (p_scope.phrases is null or chunk.content_tsv @@ p_scope.phrases)
                and (p_scope.exclusions is null or not chunk.content_tsv @@ p_scope.exclusions)
            limit p_cap
        ) as visible
    );
end;
$$;

comment on function ragpg._count_visible(ragpg._scope, integer) is 'How many chunks the caller may see through the filters, counted up to p_cap.';

create function ragpg._nearest_exact(p_scope ragpg._scope, p_embedding halfvec, p_limit integer) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
    v_leg ragpg._leg;
begin
    select
        coalesce(array_agg(nearest.document_id order by nearest.distance, nearest.id), '{}'),
        coalesce(array_agg(nearest.id order by nearest.distance, nearest.id), '{}'),
        coalesce(array_agg(nearest.distance order by nearest.distance, nearest.id), '{}')
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    from (
        select
            chunk.document_id,
            chunk.id,
            -- + 0 keeps an approximate index from answering
            ragpg._cosine_distance(embedding.embedding, p_embedding) + 0 as distance
        from ragpg.document
        join ragpg.chunk on chunk.document_id = document.id
        join ragpg.embedding
            on
                embedding.index_version_id = chunk.index_version_id
                and embedding.document_id = chunk.document_id
                and embedding.chunk_id = chunk.id
        where
            chunk.index_version_id = p_scope.index_version_id
            and embedding.index_version_id = p_scope.index_version_id
            and document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
            and (p_scope.every_document or document.acl && p_scope.principals)
            and (document.expires_at is null or document.expires_at > now())
            and (p_scope.filter is null or document.metadata @@ p_scope.filter)
            and (p_scope.chunk_filter is null or chunk.metadata @@ p_scope.chunk_filter)
            and (p_scope.phrases is null or chunk.content_tsv @@ p_scope.phrases)
            and (p_scope.exclusions is null or not chunk.content_tsv @@ p_scope.exclusions)
        order by distance, chunk.id
        limit p_limit
    ) as nearest
    -- a stored vector of zeros has no direction
    where nearest.distance <> 'NaN';
    return v_leg;
end;
$$;

comment on function ragpg._nearest_exact(ragpg._scope, halfvec, integer) is 'The nearest visible chunks by comparing every one of them.';

create function ragpg._nearest_hnsw(p_scope ragpg._scope, p_embedding halfvec, p_limit integer) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.ef_search = 400
-- the walk through the graph is the plan: anything that sorts would have to read every vector
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    v_leg ragpg._leg;
    v_chunk_needed constant boolean := num_nonnulls(p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions) > 0;
begin
    -- the type's length has to be in the text for the index to match; the page is sorted again, since relaxed order is only nearly so
    execute format(
        'select coalesce(array_agg(nearest.document_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.chunk_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.distance order by nearest.distance, nearest.chunk_id), ''{}'')'
        ' from ('
        '   select embedding.document_id, embedding.chunk_id,'
        '     ragpg._cosine_distance(embedding.embedding::%1$I.halfvec(%2$s), $1) as distance'
        '   from ragpg.embedding join ragpg.document on document.id = embedding.document_id %3$s'
        '   where embedding.index_version_id = $2'
        '     and document.collection_id = $3 and document.tenant_id = $4 and ($5 or document.acl && $6)'
        '     and (document.expires_at is null or document.expires_at > now())'
        '     and ($7 is null or document.metadata @@ $7) %4$s'
        '   order by ragpg._cosine_distance(embedding.embedding::%1$I.halfvec(%2$s), $1)'
        '   limit $12'
        ' ) as nearest',
        ragpg._vector_schema(),
        p_scope.dimensions,
        case when v_chunk_needed then
            'join ragpg.chunk on chunk.index_version_id = $2 and chunk.document_id = embedding.document_id and chunk.id = embedding.chunk_id'
        end,
        case when v_chunk_needed then
            'and ($8 is null or chunk.metadata @@ $8) and ($9 is null or chunk.content_tsv @@ $9)'
            ' and ($10 is null or not chunk.content_tsv @@ $10) and $11 = $2'
        else
            'and $8 is null and $9 is null and $10 is null and $11 = $2'
        end
    )
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_embedding, p_scope.index_version_id, p_scope.collection_id, p_scope.tenant_id, p_scope.every_document,
        p_scope.principals, p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions,
        p_scope.index_version_id, p_limit;
    return v_leg;
end;
$$;

comment on function ragpg._nearest_hnsw(ragpg._scope, halfvec, integer) is
'The nearest visible chunks by walking the HNSW graph until the page is full, then sorted by true distance.';

create function ragpg._vector_leg(p_scope ragpg._scope, p_embedding halfvec, p_limit integer) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_hnsw_dimensions constant integer := 4000;
    v_total bigint;
    v_cap integer;
    v_visible integer;
    v_path text := 'exact';
    v_leg ragpg._leg;
    v_degraded text[] := '{}';
begin
    if p_embedding is null then
        v_leg := row('{}', '{}', '{}', array['no_query_embedding'], jsonb_build_object('path', 'no query embedding'));
        return v_leg;
    end if;
    v_total := greatest(p_scope.chunk_count, ragpg._estimated_chunks(p_scope.index_version_id));
    -- exact costs in proportion to what is visible, HNSW to how much it has to skip: they meet near the root of the product
    v_cap := least(greatest(10000, ceil(sqrt(400.0 * greatest(v_total, 0)))), 100000);
    v_visible := ragpg._count_visible(p_scope, v_cap + 1);
    if v_visible <= v_cap or p_scope.dimensions > v_hnsw_dimensions then
        v_leg := ragpg._nearest_exact(p_scope, p_embedding, p_limit);
    else
        v_path := 'hnsw';
        v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit);
        if cardinality(v_leg.chunk_ids) < p_limit then
            v_path := 'exact, after a short page from hnsw';
            v_degraded := array['exact_fallback'];
            v_leg := ragpg._nearest_exact(p_scope, p_embedding, p_limit);
        end if;
    end if;
    if p_scope.is_active and exists (
        select from ragpg.document
        where
            document.collection_id = p_scope.collection_id and document.indexed_at is null
            and document.tenant_id = p_scope.tenant_id
            and (p_scope.every_document or document.acl && p_scope.principals)
            and (document.expires_at is null or document.expires_at > now())
    ) then
        v_degraded := v_degraded || 'stale_embeddings'::text;
    end if;
    v_leg.degraded := v_degraded;
    v_leg.detail := jsonb_build_object(
        'path', v_path, 'visible_chunks', least(v_visible, v_cap), 'visible_is_capped', v_visible > v_cap, 'exact_up_to', v_cap
    );
    return v_leg;
end;
$$;

comment on function ragpg._vector_leg(ragpg._scope, halfvec, integer) is
'The nearest visible chunks: exact where the caller may see few, HNSW where many, exact again where HNSW came back short. The choice is by counting, never by a guess.';
