-- requires: _caller
-- A bound role has its principals and its tenant from the owner; what its session sets can only narrow them. Two rights of
-- Postgres' own say who is bound, so that membership, renamed and dropped roles, dump and restore follow, and a binding that got
-- lost leaves the role with nothing rather than with everything.

create function ragpg._may_set_principals() returns boolean
language sql stable parallel restricted
begin atomic
    select has_function_privilege(ragpg._caller(), 'ragpg._may_set_principals()', 'execute');
end;

comment on function ragpg._may_set_principals() is
'True where the session''s settings alone say who the caller is: the owner and every role granted access without p_principals. Being allowed to execute this function is the grant itself.';

create function ragpg._is_bound() returns boolean
language sql stable parallel restricted
begin atomic
    select has_function_privilege(ragpg._caller(), 'ragpg._is_bound()', 'execute') and not ragpg._may_set_principals();
end;

comment on function ragpg._is_bound() is
'True where the caller has the principals it is bound to, and no others. Being allowed to execute this function is the binding, unless another of the caller''s roles may set its principals.';

create function ragpg._setting_principals() returns text[]
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
declare
    v_setting constant text := btrim(coalesce(current_setting('ragpg.principals', true), ''), E' \t\n\r\v\f');
begin
    if v_setting = '' then
        return null;
    end if;
    -- looked at before it is cast: a policy must not need a subtransaction to catch what a cast would raise
    if v_setting ~ '^\{' and v_setting !~ (
        '^\{[ \t\n\r\v\f]*(?:(?:"(?:[^"\\]|\\.)*"|[^ \t\n\r\v\f{}",\\](?:[^{}",\\]|\\.)*)[ \t\n\r\v\f]*'
        || '(?:,[ \t\n\r\v\f]*(?!\})|(?=\})))*\}$'
    ) then
        raise exception using
            errcode = 'RG007',
            message = format('the setting ragpg.principals is %L, which is no list of principals', v_setting),
            hint = 'Set it to user:ana,group:hr or to an array literal such as {user:ana,"group:human resources"}.';
    end if;
    return array(
        select distinct principal.name
        from unnest(
            case
                when v_setting ~ '^\{' then v_setting::text[]
                else regexp_split_to_array(v_setting, '[ \t\n\r\v\f]*,[ \t\n\r\v\f]*')
            end
        ) as principal (name)
        -- the wildcard is the owner's, as an argument; a setting must not raise anybody to it
        where principal.name not in ('', '*')
    );
end;
$$;

comment on function ragpg._setting_principals() is
'The principals in the setting ragpg.principals, an array literal or a comma-separated list; null where it is empty. RG007.';

create function ragpg._bindings() returns setof ragpg.role_principal
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
begin
    -- from the caller's own memberships, which are few, not from all bindings, which may be many
    return query
    with recursive granted (role) as (
        select role.oid from pg_roles as role
        where role.rolname = ragpg._caller()
        union
        select membership.roleid
        from granted
        join pg_auth_members as membership on membership.member = granted.role
    )

    select binding.*
    from granted
    join ragpg.role_principal as binding on binding.role = granted.role
    -- a membership without inheritance gives nothing until set role
    where pg_has_role(ragpg._caller(), granted.role, 'usage');
end;
$$;

comment on function ragpg._bindings() is 'What the caller''s own role and the roles it inherits from are bound to.';

create function ragpg._current_tenant_id() returns text
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_setting constant text := coalesce(current_setting('ragpg.tenant_id', true), '');
    v_bound text[];
begin
    if not ragpg._is_bound() then
        return v_setting;
    end if;
    v_bound := array(select distinct binding.tenant_id from ragpg._bindings() as binding);
    return case
        when v_setting = any (v_bound) then v_setting
        -- a setting that was reset is empty, so that an empty one says nothing
        when v_setting = '' and cardinality(v_bound) = 1 then v_bound[1]
    end;
end;
$$;

comment on function ragpg._current_tenant_id() is
'The tenant of the session: setting ragpg.tenant_id, else the default tenant (the empty string). Of a bound role: its own; null where the setting names none of its tenants.';

create function ragpg._current_principals() returns text[]
language plpgsql stable parallel restricted security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_setting constant text[] := ragpg._setting_principals();
    v_tenant_id text;
begin
    if not ragpg._is_bound() then
        return array(select unnest(coalesce(v_setting, '{}') || array['public']) as name group by name order by name);
    end if;
    -- the same name means somebody else in another tenant
    v_tenant_id := ragpg._current_tenant_id();
    return array(
        select principal.name
        from ragpg._bindings() as binding
        cross join lateral unnest(binding.principals) as principal (name)
        where binding.tenant_id = v_tenant_id and (v_setting is null or principal.name = any (v_setting))
        union
        select 'public'
        order by 1
    );
end;
$$;

comment on function ragpg._current_principals() is
'The principals of the session: setting ragpg.principals, and always public. Of a bound role: those it is bound to in the session''s tenant, and of these only the ones in the setting where one is set. RG007.';
