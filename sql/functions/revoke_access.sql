create function ragpg.revoke_access(p_role text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role constant oid := ragpg._role(p_role);
begin
    if exists (select from pg_namespace as namespace where namespace.oid = 'ragpg'::regnamespace and namespace.nspowner = v_role) then
        raise exception using
            errcode = 'RG007',
            message = format('role %I owns schema ragpg', p_role),
            hint = 'An owner''s rights are not granted, so they can''t be revoked.';
    end if;
    execute format('revoke all on all functions in schema ragpg from %I', p_role);
    execute format('revoke all on all tables in schema ragpg from %I', p_role);
    execute format('revoke all on schema ragpg from %I', p_role);
    delete from ragpg.role_principal as binding
    where binding.role = v_role or not exists (select from pg_roles as role where role.oid = binding.role);
end;
$$;

comment on function ragpg.revoke_access(text) is
'Takes back every level that a role was granted, and what it was bound to. Rights it has through another role stay. Only the owner may call it. RG007.';
