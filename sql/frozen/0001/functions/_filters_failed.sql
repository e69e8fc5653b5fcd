create function ragpg._passing_chunks(p_scope ragpg._scope, p_document_id uuid) returns uuid[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return array(
        select chunk.id
        from ragpg.chunk
        where
            chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
            and (p_scope.chunk_filter is null or chunk.metadata @@ p_scope.chunk_filter)
            and (p_scope.phrases is null or chunk.content_tsv @@ p_scope.phrases)
            and (p_scope.exclusions is null or not chunk.content_tsv @@ p_scope.exclusions)
        order by chunk.ordinal
    );
end;
$$;

comment on function ragpg._passing_chunks(ragpg._scope, uuid) is
'The chunks of a document that pass the conditions on chunks: p_chunk_filter, "phrases", -exclusions.';

create function ragpg._filters_failed(p_scope ragpg._scope, p_query text, p_document_id uuid) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_scope ragpg._scope := p_scope;
    v_metadata jsonb;
    v_failed jsonb := '[]';
    v_part text;
    v_query record;
begin
    select document.metadata into v_metadata from ragpg.document where document.id = p_document_id;
    if (v_metadata @@ p_scope.filter) is not true and p_scope.filter is not null then
        v_failed := v_failed || jsonb_build_object(
            'cause', 'filtered', 'by', 'p_filter', 'condition', p_scope.filter::text, 'metadata', v_metadata
        );
    end if;
    if not exists (
        select from ragpg.chunk where chunk.index_version_id = p_scope.index_version_id and chunk.document_id = p_document_id
    ) or ragpg._passing_chunks(p_scope, p_document_id) <> '{}' then
        return v_failed;
    end if;

    -- no chunk passes them all: each condition on its own
    v_scope.phrases := null;
    v_scope.exclusions := null;
    if ragpg._passing_chunks(v_scope, p_document_id) = '{}' then
        v_failed := v_failed || jsonb_build_object(
            'cause', 'filtered', 'by', 'p_chunk_filter', 'condition', p_scope.chunk_filter::text
        );
    end if;
    v_scope.chunk_filter := null;
    for v_part in
        select found.part[1]
        from regexp_matches(p_query, '(' || ragpg._excluded() || '|"[^"]+")', 'g') as found (part)
    loop
        v_query := ragpg._parse_query(p_scope.configs, v_part);
        v_scope.phrases := v_query.o_phrases;
        v_scope.exclusions := v_query.o_exclusions;
        if ragpg._passing_chunks(v_scope, p_document_id) = '{}' then
            v_failed := v_failed || jsonb_build_object(
                'cause', 'filtered',
                'by', case when v_query.o_exclusions is null then 'phrase' else 'exclusion' end,
                'condition', v_part
            );
        end if;
    end loop;
    if not v_failed @? '$[*] ? (@.by != "p_filter")' then
        v_failed := v_failed || jsonb_build_object('cause', 'filtered', 'by', 'combination');
    end if;
    return v_failed;
end;
$$;

comment on function ragpg._filters_failed(ragpg._scope, text, uuid) is
'The conditions that keep a document out of a search: p_filter, or those that none of its chunks meets; combination where each is met by some chunk, but all of them by none.';
