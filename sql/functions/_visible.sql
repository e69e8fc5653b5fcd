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

create function ragpg._visible_documents(p_scope ragpg._scope, p_limit integer, out o_ids uuid[], out o_bytes bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
set jit = off
as $$
begin
    select coalesce(array_agg(visible.id), '{}'), coalesce(sum(visible.bytes), 0)
    into o_ids, o_bytes
    from (
        select
            document.id,
            octet_length(document.content) as bytes
        from ragpg.document
        where
            document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
            and (p_scope.every_document or document.acl && p_scope.principals)
            and (document.expires_at is null or document.expires_at > now())
            and (p_scope.filter is null or document.metadata @@ p_scope.filter)
        limit p_limit
    ) as visible;
end;
$$;

comment on function ragpg._visible_documents(ragpg._scope, integer) is
'The documents that the caller may see through p_filter, up to p_limit of them, and the length of their text in bytes.';

create function ragpg._measure_visibility(p_scope ragpg._scope, p_narrow_limit integer) returns ragpg._scope
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scope ragpg._scope := p_scope;
    v_documents record;
    v_document_limit integer;
begin
    v_scope.narrow_limit := p_narrow_limit;
    if p_scope.document_count > 0 and num_nonnulls(p_scope.chunk_filter, p_scope.phrases, p_scope.exclusions) = 0 then
        -- documents are quicker to count than chunks; their length tells how many chunks they have
        v_document_limit := least(p_narrow_limit, ceil(p_narrow_limit::double precision * p_scope.document_count / p_scope.chunk_count));
        v_documents := ragpg._visible_documents(p_scope, v_document_limit + 1);
        v_scope.visible_chunks := ceil(
            v_documents.o_bytes::double precision * p_scope.chunk_count / greatest(p_scope.document_bytes, 1)
        );
        v_scope.is_narrow := cardinality(v_documents.o_ids) <= v_document_limit and v_scope.visible_chunks <= p_narrow_limit;
        v_scope.narrow_documents := case when v_scope.is_narrow then v_documents.o_ids end;
    else
        v_scope.visible_chunks := ragpg._count_visible(p_scope, p_narrow_limit + 1);
        v_scope.is_narrow := v_scope.visible_chunks <= p_narrow_limit;
    end if;
    return v_scope;
end;
$$;

comment on function ragpg._measure_visibility(ragpg._scope, integer) is
'The scope with a count, up to a cap, of what the caller may see through the filters. A narrow caller''s documents are named in it.';

create function ragpg._narrow_limit(p_scope ragpg._scope) returns integer
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- comparing every visible vector costs in proportion to them, walking the graph in proportion to what it has to pass: they
    -- meet where the square of the visible chunks is about 300 times all chunks (measured: docs/decisions.md)
    return least(greatest(
        1000, ceil(sqrt(300.0 * greatest(p_scope.chunk_count, ragpg._estimated_chunks(p_scope.index_version_id), 0)))
    ), 100000);
end;
$$;

comment on function ragpg._narrow_limit(ragpg._scope) is 'Up to how many visible chunks it is quicker to compare each than to use the HNSW index.';
