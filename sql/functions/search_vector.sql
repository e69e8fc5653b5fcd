create function ragpg.search_vector(
    p_collection text,
    p_embedding vector,
    p_k integer default 10,
    p_principals text[] default null,
    p_tenant_id text default null,
    p_filter jsonpath default null,
    p_chunk_filter jsonpath default null,
    p_expand text default null,
    p_index_version bigint default null,
    p_query text default null
) returns setof ragpg.search_hit
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_scope ragpg._scope;
    v_candidate_k constant integer := case when p_expand is null then p_k else least(1000, 5 * p_k) end;
begin
    perform ragpg._check_paging(p_k, v_candidate_k, 0);
    if p_embedding is null then
        raise exception using
            errcode = 'RG008',
            message = 'search_vector needs p_embedding',
            hint = 'Without an embedding use ragpg.search_hybrid, which falls back on the vectors of the best keyword hits.';
    end if;
    v_scope := ragpg._open_search(p_collection, p_index_version, p_principals, p_tenant_id, p_filter, p_chunk_filter);
    return query select hit.* from ragpg._hits(
        v_scope,
        ragpg._search(v_scope, 'vector', p_query, p_embedding, v_candidate_k, 0, 1, 0, 'rrf', 0),
        p_k,
        p_expand
    ) as hit;
end;
$$;

comment on function ragpg.search_vector(text, vector, integer, text[], text, jsonpath, jsonpath, text, bigint, text) is
'Vector search: the chunks nearest to p_embedding by cosine distance that the caller may see. Of p_query only the "phrases" and -exclusions count. RG001, RG004 to RG009.';
