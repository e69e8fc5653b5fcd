-- Arguments are checked once, where they come in; each refusal has its SQLSTATE and says what to do.

create function ragpg._language(p_language text) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_config regconfig;
    v_name text;
begin
    begin
        v_config := p_language::regconfig;
    exception
        when others then
            v_config := null;
    end;
    -- the full name: it means the same in every session and after a restore, unlike a number or what lies in a temporary schema
    select ragpg._config_name(config.cfgname, namespace.nspname) into v_name
    from pg_ts_config as config
    join pg_namespace as namespace on namespace.oid = config.cfgnamespace
    where config.oid = v_config and not starts_with(namespace.nspname, 'pg_temp');
    if v_name is null then
        raise exception using
            errcode = 'RG007',
            message = format('there is no text-search configuration %L', p_language),
            hint = 'select cfgname from pg_ts_config lists them; ''simple'' suits any language.';
    end if;
    return v_name;
end;
$$;

comment on function ragpg._language(text) is 'The full name of a text-search configuration. RG007 where there is none.';

create function ragpg._config_name(p_name name, p_schema name) returns text
language sql immutable parallel safe
begin atomic
    select case p_schema when 'pg_catalog' then quote_ident(p_name) else quote_ident(p_schema) || '.' || quote_ident(p_name) end;
end;

comment on function ragpg._config_name(name, name) is 'How a text-search configuration is written in document.language.';

create function ragpg._are_principals(p_names text[]) returns boolean
language sql immutable parallel safe
begin atomic
    select p_names is not null and coalesce(array_ndims(p_names), 1) = 1 and not exists (
        select from unnest(p_names) as principal (name) where principal.name is null or principal.name !~ '\S' or principal.name = '*'
    );
end;

comment on function ragpg._are_principals(text[]) is
'True for a list of names that a document may be opened to: none empty, none the wildcard. Not for null.';

create function ragpg._check_acl(p_acl text[]) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if not ragpg._are_principals(p_acl) then
        raise exception using
            errcode = 'RG007',
            message = format('the ACL %s is not a list of principals', coalesce(p_acl::text, 'null')),
            hint = 'Give principals such as {user:ana,group:hr} or {public}; an empty list hides the document from everybody.';
    end if;
end;
$$;

comment on function ragpg._check_acl(text[]) is 'Refuses an ACL with empty principals or the wildcard. RG007.';

create function ragpg._check_paging(p_k integer, p_candidate_k integer, p_rrf_k integer) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_k is null or p_k not between 1 and 1000 then
        raise exception using errcode = 'RG007', message = format('p_k is %s; it must be from 1 to 1000', coalesce(p_k::text, 'null'));
    end if;
    if p_candidate_k is null or p_candidate_k not between 1 and 1000 then
        raise exception using
            errcode = 'RG007', message = format('p_candidate_k is %s; it must be from 1 to 1000', coalesce(p_candidate_k::text, 'null'));
    end if;
    if p_rrf_k is null or p_rrf_k not between 0 and 1000000 then
        raise exception using errcode = 'RG007', message = format('p_rrf_k is %s; it must be from 0 to 1000000', coalesce(p_rrf_k::text, 'null'));
    end if;
end;
$$;

comment on function ragpg._check_paging(integer, integer, integer) is 'Refuses numbers of results and candidates that make no sense. RG007.';

create function ragpg._check_mode(p_mode text) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_mode is null or p_mode not in ('hybrid', 'keyword', 'vector') then
        raise exception using
            errcode = 'RG007', message = format('p_mode is %L; it must be hybrid, keyword or vector', p_mode);
    end if;
end;
$$;

comment on function ragpg._check_mode(text) is 'Refuses an unknown mode. RG007.';

create function ragpg._check_weights(p_vector_weight double precision, p_keyword_weight double precision) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if not coalesce(
        -- a smaller number divided by a rank is no number any more
        (p_vector_weight = 0 or p_vector_weight >= 1e-100) and (p_keyword_weight = 0 or p_keyword_weight >= 1e-100)
        and p_vector_weight + p_keyword_weight > 0
        and p_vector_weight <= 1000000 and p_keyword_weight <= 1000000,
        false
    ) then
        raise exception using
            errcode = 'RG007',
            message = format('the weights are %s and %s', coalesce(p_vector_weight::text, 'null'), coalesce(p_keyword_weight::text, 'null')),
            hint = 'p_vector_weight and p_keyword_weight are 0 or from 1e-100 to 1000000, and not both 0.';
    end if;
end;
$$;

comment on function ragpg._check_weights(double precision, double precision) is 'Refuses weights that make no ranking. RG007.';

create function ragpg._check_embedding(p_scope ragpg._scope, p_embedding vector) returns halfvec
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_embedding is null then
        return null;
    end if;
    if ragpg._dimensions(p_embedding) is distinct from p_scope.dimensions then
        raise exception using
            errcode = 'RG005',
            message = format(
                'the vector has %s dimensions, index version %s has %s',
                ragpg._dimensions(p_embedding), p_scope.index_version_id, coalesce(p_scope.dimensions::text, 'no vectors')
            ),
            hint = 'Embed with the model the collection remembers: select * from ragpg.index_version.';
    end if;
    if exists (select from unnest(p_embedding::real[]) as item (value) where abs(item.value) >= 65520) then
        raise exception using
            errcode = 'RG007', message = 'p_embedding holds a number that half precision can''t: the largest is 65504';
    end if;
    if ragpg._is_zero(ragpg._to_halfvec(p_embedding)) then
        raise exception using errcode = 'RG007', message = 'p_embedding is a vector of zeros, which has no direction';
    end if;
    return ragpg._to_halfvec(p_embedding);
end;
$$;

comment on function ragpg._check_embedding(ragpg._scope, vector) is 'The query vector in half precision, after a check of its length. RG005, RG007.';

create function ragpg._check_dimensions(p_embeddings vector[], p_dimensions integer, p_index_version bigint) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_given integer;
begin
    select ragpg._dimensions(item.embedding) into v_given
    from unnest(p_embeddings) as item (embedding)
    where item.embedding is not null and ragpg._dimensions(item.embedding) is distinct from p_dimensions
    limit 1;
    if found then
        raise exception using
            errcode = 'RG005',
            message = format(
                'a vector has %s dimensions, index version %s has %s', v_given, p_index_version, coalesce(p_dimensions::text, 'no vectors')
            ),
            hint = 'Embed with the model the collection remembers: select * from ragpg.index_version.';
    end if;
end;
$$;

comment on function ragpg._check_dimensions(vector[], integer, bigint) is 'Refuses vectors whose length is not that of the index version. RG005.';

create function ragpg._predicate(p_path jsonpath, p_name text) returns jsonpath
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_path is null then
        return null;
    end if;
    -- a filter looks at rows the caller may not see before they are left out. jsonpath silences errors, but not those of time zones,
    -- nor the warnings of precision: either would tell whether the condition before it held. Keys are in quotes here, methods not.
    if regexp_replace(p_path::text, '"(?:[^"\\]|\\.)*"', '""', 'g') ~ '\.(datetime|date|time|time_tz|timestamp|timestamp_tz)\(' then
        raise exception using
            errcode = 'RG009',
            message = format('%s uses a date or time method: %s', p_name, p_path),
            hint = 'Store dates as ISO text and compare them as text: ''$.date >= "2026-01-31"''.';
    end if;
    -- a path that selects instead of asking yields no boolean, and as a filter would silently match nothing
    perform jsonb_path_match('{}', p_path);
    return p_path;
exception
    when sqlstate 'RG009' then
        raise;
    when singleton_sql_json_item_required then
        raise exception using
            errcode = 'RG009',
            message = format('%s is not a predicate: %s', p_name, p_path),
            hint = 'Write a condition, such as ''$.year >= 2024 && $.product == "ProMax"''; turn ''$.a ? (@ > 1)'' into ''$.a > 1''.';
    when others then
        raise exception using
            errcode = 'RG009',
            message = format('%s can''t be evaluated: %s', p_name, sqlerrm),
            hint = 'Write a condition without variables, such as ''$.year >= 2024''.';
end;
$$;

comment on function ragpg._predicate(jsonpath, text) is 'The jsonpath itself, after a check that it is a condition. RG009.';
