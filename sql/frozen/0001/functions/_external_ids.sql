create function ragpg._external_ids(p_collection text, p_prefix_uri text default null, p_tenant_id text default null)
returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_version record := ragpg._index_version(p_collection);
begin
    return query
    select document.external_id
    from ragpg.document
    where
        document.collection_id = v_version.collection_id
        and document.tenant_id = coalesce(p_tenant_id, ragpg._current_tenant_id())
        and (p_prefix_uri is null or starts_with(document.uri, p_prefix_uri))
    order by document.external_id;
end;
$$;

comment on function ragpg._external_ids(text, text, text) is
'The external ids of a tenant''s documents, of those whose URI starts with the prefix if one is given. RG001.';
