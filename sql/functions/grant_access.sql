create function ragpg.grant_access(
    p_role text,
    p_level text,
    p_principals text[] default null,
    p_tenant_id text default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_reading constant text[] := array[
        'search_hybrid', 'search_keyword', 'search_vector', 'explain_search', '_index_version', '_current_principals', '_current_tenant_id'
    ];
    v_trusted constant text[] := array['_may_choose_principals', '_caller', '_cached_embeddings', '_cache_embeddings'];
    v_writing constant text[] := array[
        'create_collection', 'drop_collection', 'create_index_version', 'activate_index_version', 'drop_index_version',
        'upsert_document', 'delete_document', 'set_acl', 'refresh_statistics', 'collection_stats',
        '_document_states', '_chunk_states', '_external_ids', '_pending_chunks', '_set_embeddings',
        '_cached_embeddings', '_cache_embeddings'
    ];
    v_role oid;
    v_bound boolean;
    v_function regprocedure;
begin
    if p_level is null or p_level not in ('reader', 'trusted_reader', 'writer') then
        raise exception using
            errcode = 'RG007', message = format('p_level is %L; it must be reader, trusted_reader or writer', p_level);
    end if;
    v_role := ragpg._role(p_role);
    if p_principals is null and p_tenant_id is not null then
        raise exception using
            errcode = 'RG007',
            message = 'p_tenant_id is given without p_principals',
            hint = 'A role is bound to a tenant together with its principals there; p_principals => ''{}'' leaves it what everybody sees.';
    end if;
    -- a role that comes later under the number of a dropped one must not inherit its binding
    delete from ragpg.role_principal as binding where not exists (select from pg_roles as role where role.oid = binding.role);
    v_bound := p_principals is not null or exists (select from ragpg.role_principal as binding where binding.role = v_role);
    if v_bound and p_level <> 'reader' then
        raise exception using
            errcode = 'RG007',
            message = format('role %I is bound to principals, or is to be, and a %s is not', p_role, p_level),
            hint = 'The other levels are trusted with what they say of their users. ragpg.revoke_access(role) takes a binding back.';
    end if;

    execute format('grant usage on schema ragpg to %I', p_role);
    execute format(
        'grant select on ragpg.collection, ragpg.index_version, ragpg.document, ragpg.chunk, ragpg.embedding to %I', p_role
    );
    for v_function in
        select proc.oid::regprocedure
        from pg_proc as proc
        where
            proc.pronamespace = 'ragpg'::regnamespace
            and proc.proname = any (
                v_reading
                || case when not v_bound then array['_may_set_principals'] else '{}' end
                || case when p_level = 'trusted_reader' then v_trusted else '{}' end
                || case when p_level = 'writer' then v_writing else '{}' end
            )
    loop
        execute format('grant execute on function %s to %I', v_function, p_role);
    end loop;
    if p_principals is not null then
        perform ragpg._bind_role(p_role, p_principals, coalesce(p_tenant_id, ''));
    end if;
end;
$$;

comment on function ragpg.grant_access(text, text, text[], text) is
'Lets a role use ragpg, by Postgres'' own grants. reader: search and read as the session''s own principals; trusted_reader: also pass p_principals, for an application''s server; writer: read, and write documents and collections. Levels add up. With p_principals the role is bound to these and to one tenant: what its session sets can only narrow them. Only the owner may call it. RG007.';
