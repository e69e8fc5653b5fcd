create function ragpg._no_such_document(p_scope ragpg._scope, p_external_id text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return jsonb_build_object(
        'cause', 'no_such_document',
        'other_tenants', to_jsonb(array(
            select document.tenant_id
            from ragpg.document
            where document.collection_id = p_scope.collection_id and document.external_id = p_external_id
            order by document.tenant_id
        ))
    );
end;
$$;

comment on function ragpg._no_such_document(ragpg._scope, text) is
'The cause for a document that the tenant does not have, and the tenants of the collection that do.';

create function ragpg._document_card(p_scope ragpg._scope, p_document_id uuid) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return (
        select jsonb_build_object(
            'document_id', document.id,
            'title', document.title,
            'acl', document.acl,
            'expires_at', document.expires_at,
            'indexed_at', document.indexed_at,
            'chunks', counted.chunks,
            'passing_chunks', cardinality(ragpg._passing_chunks(p_scope, p_document_id)),
            'embeddings', counted.embeddings
        )
        from ragpg.document
        cross join lateral (
            select count(*) as chunks, count(embedding.chunk_id) as embeddings
            from ragpg.chunk
            left join ragpg.embedding
                on
                    embedding.index_version_id = chunk.index_version_id
                    and embedding.document_id = chunk.document_id
                    and embedding.chunk_id = chunk.id
            where chunk.index_version_id = p_scope.index_version_id and chunk.document_id = document.id
        ) as counted
        where document.id = p_document_id
    );
end;
$$;

comment on function ragpg._document_card(ragpg._scope, uuid) is
'What the database holds of a document: who may read it, until when, how many chunks and vectors in this index version.';

create function ragpg._causes_of_absence(p_scope ragpg._scope, p_query text, p_document_id uuid) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_document record;
    v_causes jsonb := '[]';
begin
    select document.acl, document.expires_at, document.indexed_at into v_document
    from ragpg.document where document.id = p_document_id;
    if not exists (
        select from ragpg.chunk where chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
    ) then
        v_causes := v_causes || jsonb_build_object('cause', 'not_indexed', 'index_version', p_scope.index_version_id);
    end if;
    if v_document.expires_at <= now() then
        v_causes := v_causes || jsonb_build_object('cause', 'expired', 'expires_at', v_document.expires_at);
    end if;
    if not (p_scope.every_document or v_document.acl && p_scope.principals) then
        v_causes := v_causes || jsonb_build_object(
            'cause', 'hidden', 'acl', v_document.acl, 'principals', p_scope.principals
        );
    end if;
    return v_causes || ragpg._filters_failed(p_scope, p_query, p_document_id);
end;
$$;

comment on function ragpg._causes_of_absence(ragpg._scope, text, uuid) is
'All that keeps a document out of a search whatever its rank: not indexed, expired, hidden from the principals, filtered out.';
