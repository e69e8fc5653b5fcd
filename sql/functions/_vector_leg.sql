create function ragpg._nearest_exact(p_scope ragpg._scope, p_embedding halfvec, p_limit integer) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    v_leg ragpg._leg;
begin
    -- only what the filters need is joined
    execute
        'select coalesce(array_agg(nearest.document_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.chunk_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.distance order by nearest.distance, nearest.chunk_id), ''{}'')'
        ' from ('
        -- + 0 keeps an approximate index from answering
        '   select embedding.document_id, embedding.chunk_id, ragpg._cosine_distance(embedding.embedding, $1) + 0 as distance'
        '   from '
        || case when p_scope.narrow_documents is null
            then 'ragpg.document'
            else 'unnest($12) as narrow (id) join ragpg.document on document.id = narrow.id' end ||
        '   join ragpg.embedding on embedding.document_id = document.id '
        || ragpg._chunk_join(p_scope) ||
        '   where embedding.index_version_id = $2'
        '     and document.collection_id = $3 and document.tenant_id = $4 and ($5 or document.acl && $6)'
        '     and (document.expires_at is null or document.expires_at > now())'
        '     and ($7 is null or document.metadata @@ $7)'
        '   order by distance, embedding.chunk_id'
        '   limit $11'
        ' ) as nearest'
        -- a stored vector of zeros has no direction
        ' where nearest.distance <> ''NaN'''
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_embedding, p_scope.index_version_id, p_scope.collection_id, p_scope.tenant_id, p_scope.every_document,
        p_scope.principals, p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions,
        p_limit, p_scope.narrow_documents;
    return v_leg;
end;
$$;

comment on function ragpg._nearest_exact(ragpg._scope, halfvec, integer) is 'The nearest visible chunks by comparing every one of them.';

create function ragpg._chunk_join(p_scope ragpg._scope) returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if num_nonnulls(p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions) = 0 then
        -- every parameter has to be in the text, so that its type is known
        return 'join (select) as every_chunk on $8 is null and $9 is null and $10 is null';
    end if;
    return 'join ragpg.chunk on chunk.index_version_id = $2 and chunk.document_id = embedding.document_id'
        ' and chunk.id = embedding.chunk_id and ($8 is null or chunk.metadata @@ $8)'
        ' and ($9 is null or chunk.content_tsv @@ $9) and ($10 is null or not chunk.content_tsv @@ $10)';
end;
$$;

comment on function ragpg._chunk_join(ragpg._scope) is
'The join that holds the conditions on chunks ($8 to $10), where there are any.';

-- The walk through the graph is the plan: anything that sorts would have to read every vector. Past max_scan_tuples or work_mem
-- pgvector would fill the page with what it has seen without looking on: p_passed ends the walk before.
create function ragpg._nearest_hnsw(
    p_scope ragpg._scope, p_embedding halfvec, p_limit integer, p_passed integer default 8000, p_ef_search integer default 400
) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set hnsw.iterative_scan = 'relaxed_order'
set hnsw.ef_search = 400
set hnsw.max_scan_tuples = 40000
set work_mem = '32MB'
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    v_leg ragpg._leg;
begin
    -- holds until this function returns, since it has a SET clause for it
    perform set_config('hnsw.ef_search', p_ef_search::text, true);
    -- the type's length has to be in the text for the index to match; the page is sorted again, since relaxed order is only nearly so
    execute format(
        'select coalesce(array_agg(nearest.document_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.chunk_id order by nearest.distance, nearest.chunk_id), ''{}''),'
        ' coalesce(array_agg(nearest.distance order by nearest.distance, nearest.chunk_id), ''{}'')'
        ' from ('
        '   select embedding.document_id, embedding.chunk_id, embedding.distance'
        '   from ('
        '     select document_id, chunk_id, ragpg._cosine_distance(embedding::%1$I.halfvec(%2$s), $1) as distance'
        '     from ragpg.embedding'
        '     where index_version_id = $2'
        '     order by ragpg._cosine_distance(embedding::%1$I.halfvec(%2$s), $1)'
        '     limit $12'
        '   ) as embedding'
        '   join ragpg.document on document.id = embedding.document_id %3$s'
        '   where document.collection_id = $3 and document.tenant_id = $4 and ($5 or document.acl && $6)'
        '     and (document.expires_at is null or document.expires_at > now())'
        '     and ($7 is null or document.metadata @@ $7)'
        '   limit $11'
        ' ) as nearest',
        ragpg._vector_schema(), p_scope.dimensions, ragpg._chunk_join(p_scope)
    )
    into v_leg.document_ids, v_leg.chunk_ids, v_leg.scores
    using
        p_embedding, p_scope.index_version_id, p_scope.collection_id, p_scope.tenant_id, p_scope.every_document,
        p_scope.principals, p_scope.filter, p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions, p_limit, p_passed;
    return v_leg;
end;
$$;

comment on function ragpg._nearest_hnsw(ragpg._scope, halfvec, integer, integer, integer) is
'The nearest visible chunks by walking the HNSW graph until enough are found or p_passed chunks, hidden ones too, were passed; sorted by true distance.';

create function ragpg._vector_leg(p_scope ragpg._scope, p_embedding halfvec, p_limit integer) returns ragpg._leg
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_hnsw_dimensions constant integer := 4000;
    v_short_walk constant integer := 1200;
    v_long_walk constant integer := 8000;
    v_scope ragpg._scope := p_scope;
    v_path text := 'exact';
    v_why text;
    v_leg ragpg._leg;
    v_degraded text[] := '{}';
begin
    if p_embedding is null then
        v_leg := row('{}', '{}', '{}', array['no_query_embedding'], jsonb_build_object('path', 'none', 'why', 'no query embedding'));
        return v_leg;
    end if;
    if p_scope.is_narrow then
        v_why := format('few chunks are visible: up to %s it is quicker to compare each', p_scope.narrow_limit);
    elsif p_scope.dimensions > v_hnsw_dimensions then
        v_why := format('vectors of more than %s dimensions have no index', v_hnsw_dimensions);
    else
        v_path := 'hnsw';
        v_why := format('more than %s chunks are visible', p_scope.narrow_limit);
        if p_scope.every_document and p_scope.filter is null then
            -- nearly all that is passed counts, so that fewer candidates are as good
            v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit, 2 * p_limit, least(greatest(4 * p_limit, 150), 400));
        end if;
        if v_leg.chunk_ids is null or cardinality(v_leg.chunk_ids) < p_limit then
            v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit, v_short_walk);
        end if;
        if cardinality(v_leg.chunk_ids) < p_limit then
            -- what is visible lies far from the query: the way through the graph is long, and gets inexact
            v_scope := ragpg._measure_visibility(p_scope, 8 * p_scope.narrow_limit);
            if not v_scope.is_narrow then
                v_leg := ragpg._nearest_hnsw(p_scope, p_embedding, p_limit, v_long_walk);
            end if;
            if cardinality(v_leg.chunk_ids) < p_limit then
                v_path := 'exact';
                v_why := 'the visible chunks lie too far from the query for the index to find a full page of them';
                -- that tells of what lies between, hidden documents too: a reader is not told
                v_degraded := case when ragpg._may_choose_principals() then array['exact_fallback'] else '{}' end;
            end if;
        end if;
    end if;
    if v_path = 'exact' then
        v_leg := ragpg._nearest_exact(v_scope, p_embedding, p_limit);
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
    v_leg.detail := jsonb_build_object('path', v_path, 'why', v_why, 'candidates', cardinality(v_leg.chunk_ids));
    return v_leg;
end;
$$;

comment on function ragpg._vector_leg(ragpg._scope, halfvec, integer) is
'The nearest visible chunks: exact where the caller may see few, HNSW where many, exact again where HNSW came back short. The choice is by counting, never by a guess.';
