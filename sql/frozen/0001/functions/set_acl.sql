create function ragpg.set_acl(p_collection text, p_external_id text, p_acl text[], p_tenant_id text default null) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_tenant_id constant text := coalesce(p_tenant_id, ragpg._current_tenant_id());
    v_document_id constant uuid := ragpg._document_id(p_collection, v_tenant_id, p_external_id);
begin
    perform ragpg._index_version(p_collection);
    perform ragpg._check_acl(p_acl);
    update ragpg.document set acl = p_acl, updated_at = statement_timestamp()
    where id = v_document_id and acl is distinct from p_acl;
    if found then
        return true;
    end if;
    if not exists (select from ragpg.document where id = v_document_id) then
        raise exception using
            errcode = 'RG003',
            message = format('collection %L has no document %L in tenant %L', p_collection, p_external_id, v_tenant_id),
            hint = 'External ids are case-sensitive, and every tenant has its own.';
    end if;
    return false;
end;
$$;

comment on function ragpg.set_acl(text, text, text[], text) is
'Says who may read a document: one row, which holds for all its chunks in the same transaction. True where that changed anything. RG001, RG003, RG007.';
