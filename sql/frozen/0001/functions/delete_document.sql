create function ragpg.delete_document(p_collection text, p_external_id text, p_tenant_id text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    perform ragpg._index_version(p_collection);
    delete from ragpg.document
    where id = ragpg._document_id(p_collection, coalesce(p_tenant_id, ragpg._current_tenant_id()), p_external_id);
    return found;
end;
$$;

comment on function ragpg.delete_document(text, text, text) is
'Deletes a document with its chunks and embeddings of every index version; false where there is none. RG001.';
