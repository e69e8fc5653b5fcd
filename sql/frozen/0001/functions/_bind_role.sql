create function ragpg._role(p_role text) returns oid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role constant oid := (select role.oid from pg_roles as role where role.rolname = p_role);
begin
    if v_role is null then
        raise exception using
            errcode = 'RG007',
            message = format('there is no role %L', p_role),
            hint = 'Names are case-sensitive; create the role first.';
    end if;
    return v_role;
end;
$$;

comment on function ragpg._role(text) is 'The oid of a role. RG007 where there is none.';

create function ragpg._bind_role(p_role text, p_principals text[], p_tenant_id text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if not ragpg._are_principals(p_principals) then
        raise exception using
            errcode = 'RG007',
            message = format('p_principals is %s, which is no list of principals', p_principals),
            hint = 'Give principals such as {user:ana,group:hr}; public is always one of them, and * is the owner''s alone.';
    end if;
    execute format('revoke execute on function ragpg._may_set_principals() from %I', p_role);
    if has_function_privilege(p_role, 'ragpg._may_set_principals()', 'execute')
        or has_function_privilege(p_role, 'ragpg._may_choose_principals()', 'execute')
        or exists (
            select from pg_proc as proc
            where proc.pronamespace = 'ragpg'::regnamespace and proc.proname = 'set_acl' and has_function_privilege(p_role, proc.oid, 'execute')
        ) then
        raise exception using
            errcode = 'RG007',
            message = format('role %I has rights that a binding would not hold', p_role),
            hint = 'It is the owner or a superuser, or was granted trusted_reader or writer (ragpg.revoke_access takes that back), or belongs to a role that is not bound.';
    end if;
    if (select role.rolbypassrls from pg_roles as role where role.rolname = p_role) then
        raise exception using
            errcode = 'RG007',
            message = format('role %I bypasses row-level security, so that a binding would not hold', p_role),
            hint = 'Take that from the role: alter role … nobypassrls.';
    end if;
    execute format('grant execute on function ragpg._is_bound() to %I', p_role);
    insert into ragpg.role_principal (role, tenant_id, principals)
    select ragpg._role(p_role)::regrole, p_tenant_id, array(select distinct unnest(p_principals) as name order by name)
    on conflict on constraint pk_role_principal do update
    set tenant_id = excluded.tenant_id, principals = excluded.principals, created_at = excluded.created_at;
end;
$$;

comment on function ragpg._bind_role(text, text[], text) is
'Binds a role to its principals in one tenant, in place of what it was bound to. RG007 where it has other rights that leave it free.';
