-- Who is asking. The search functions run as the schema's owner, so the caller is read from the session, never from current_user.

create function ragpg._caller() returns name
language sql stable parallel restricted
begin atomic
    select coalesce(nullif(current_setting('role', true), 'none'), session_user)::name;
end;

comment on function ragpg._caller() is
'The role that called: the one of a SET ROLE in force (as PostgREST and Supabase do), else the session''s.';

create function ragpg._caller_is_owner() returns boolean
language sql stable parallel restricted
begin atomic
    select pg_has_role(ragpg._caller(), namespace.nspowner, 'usage')
    from pg_catalog.pg_namespace as namespace
    where namespace.nspname = 'ragpg';
end;

comment on function ragpg._caller_is_owner() is 'True where the caller is the owner of schema ragpg, a member of it, or a superuser.';

-- The right to execute this function is the right to speak for others: Postgres' own privileges then handle membership, renamed
-- and dropped roles, dump and restore.
create function ragpg._may_choose_principals() returns boolean
language sql stable parallel restricted
begin atomic
    select has_function_privilege(ragpg._caller(), 'ragpg._may_choose_principals()', 'execute');
end;

comment on function ragpg._may_choose_principals() is
'True where the caller may pass p_principals: the owner and every role granted trusted_reader. Being allowed to execute this function is the grant itself.';

create function ragpg._principals(p_principals text[]) returns text[]
language plpgsql stable parallel restricted
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_principals is null then
        return ragpg._current_principals();
    end if;
    if not ragpg._may_choose_principals() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not pass p_principals', ragpg._caller()),
            hint = 'Set ragpg.principals in the session, or let the owner run ragpg.grant_access(role, ''trusted_reader'').';
    end if;
    if '*' = any (p_principals) and not ragpg._caller_is_owner() then
        raise exception using
            errcode = 'RG006',
            message = format('role %I may not pass the principal *', ragpg._caller()),
            hint = 'Only the owner of schema ragpg may read every document of a tenant.';
    end if;
    return array(select distinct item from unnest(p_principals || array['public']) as item where item is not null);
end;
$$;

comment on function ragpg._principals(text[]) is
'The principals a search runs with: those given, if the caller may give any (RG006), else the session''s. public is always one of them.';
