-- Arguments are checked once, where they come in; each refusal has its SQLSTATE and says what to do.

create function ragpg._check_language(p_language text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    perform p_language::regconfig;
    if p_language is null then
        raise exception using errcode = 'RG007', message = 'the language is null';
    end if;
exception
    when undefined_object or invalid_schema_name or invalid_name or syntax_error then
        raise exception using
            errcode = 'RG007',
            message = format('there is no text-search configuration %L', p_language),
            hint = 'select cfgname from pg_ts_config lists them; ''simple'' suits any language.';
end;
$$;

comment on function ragpg._check_language(text) is 'Refuses a name that is no text-search configuration. RG007.';

create function ragpg._check_acl(p_acl text[]) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_acl is null or array_ndims(p_acl) > 1 or exists (
        select from unnest(p_acl) as principal (name) where principal.name is null or principal.name !~ '\S' or principal.name = '*'
    ) then
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
    if p_rrf_k is null or p_rrf_k < 0 then
        raise exception using errcode = 'RG007', message = format('p_rrf_k is %s; it must be 0 or more', coalesce(p_rrf_k::text, 'null'));
    end if;
end;
$$;

comment on function ragpg._check_paging(integer, integer, integer) is 'Refuses numbers of results and candidates that make no sense. RG007.';

create function ragpg._check_weights(p_vector_weight double precision, p_keyword_weight double precision) returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
    if not coalesce(
        p_vector_weight >= 0 and p_keyword_weight >= 0 and p_vector_weight + p_keyword_weight > 0
        and p_vector_weight + p_keyword_weight < 'infinity',
        false
    ) then
        raise exception using
            errcode = 'RG007',
            message = format('the weights are %s and %s', coalesce(p_vector_weight::text, 'null'), coalesce(p_keyword_weight::text, 'null')),
            hint = 'p_vector_weight and p_keyword_weight are 0 or more, and not both 0.';
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
    if ragpg._is_zero(p_embedding) then
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
    -- a path that selects instead of asking yields no boolean, and as a filter would silently match nothing
    perform jsonb_path_match('{}', p_path);
    return p_path;
exception
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
