create function ragpg._cached_embeddings(p_model_key text, p_input_hashes bytea[])
returns table (input_hash bytea, embedding vector)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select cache.input_hash, ragpg._to_vector(cache.embedding)
    from ragpg.embedding_cache as cache
    where cache.model_key = p_model_key and cache.input_hash = any (p_input_hashes);
end;
$$;

comment on function ragpg._cached_embeddings(text, bytea[]) is
'Vectors that a model (provider:model:dimensions, with :query behind it for queries) gave for inputs, looked up by the SHA-256 of the exact input.';

create function ragpg._cache_embeddings(p_model_key text, p_input_hashes bytea[], p_embeddings vector[]) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_dimensions constant integer := (regexp_match(p_model_key, ':([0-9]{1,5})(:query)?$'))[1]::integer;
begin
    if p_model_key !~ ':query$' and not has_function_privilege(ragpg._caller(), 'ragpg._external_ids(text, text, text)', 'execute') then
        raise exception using
            errcode = 'RG006', message = format('role %I may cache the vectors of queries only', ragpg._caller());
    end if;
    if exists (
        select from unnest(p_embeddings) as given (embedding)
        where ragpg._dimensions(given.embedding) is distinct from v_dimensions
    ) then
        raise exception using
            errcode = 'RG005',
            message = format('a vector is not one of model key %L', p_model_key),
            hint = 'The key is provider:model:dimensions, with :query behind it for queries.';
    end if;
    insert into ragpg.embedding_cache (model_key, input_hash, embedding, last_used_at)
    select p_model_key, given.input_hash, ragpg._to_halfvec(given.embedding), clock_timestamp()
    from unnest(p_input_hashes, p_embeddings) as given (input_hash, embedding)
    -- in one order everywhere: two writers of the same inputs do not deadlock
    order by given.input_hash
    on conflict (model_key, input_hash) do nothing;
end;
$$;

comment on function ragpg._cache_embeddings(text, bytea[], vector[]) is 'Remembers the vectors of inputs for _cached_embeddings. The key is provider:model:dimensions, and :query behind it for queries; documents only for a writer. RG005, RG006.';
