create function ragpg._chunk_rows(
    p_index_version bigint, p_document_id uuid, p_content text, p_title text, p_chunks jsonb
) returns ragpg.chunk[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_length constant integer := length(p_content);
    v_bad jsonb;
begin
    if p_chunks is null then
        return null;
    end if;
    if jsonb_typeof(p_chunks) <> 'array' then
        raise exception using errcode = 'RG007', message = 'p_chunks is not a JSON array';
    end if;
    select item.value into v_bad
    from jsonb_array_elements(p_chunks) as item
    where
        not coalesce(
            (item.value ->> 'char_start')::integer between 0 and v_length - 1
            and (item.value ->> 'char_end')::integer between (item.value ->> 'char_start')::integer + 1 and v_length,
            false
        )
        or coalesce(item.value ->> 'kind', 'text') not in ('text', 'table', 'code')
    limit 1;
    if found then
        raise exception using
            errcode = 'RG007',
            message = format('a chunk is not a range of the content: %s', v_bad),
            hint = format('0 <= char_start < char_end <= %s, kind text, table or code.', v_length);
    end if;
    return array(
        select
            row(
                p_index_version,
                p_document_id,
                ragpg._chunk_id(
                    p_document_id, cut.content,
                    (row_number() over (partition by cut.content order by cut.place) - 1)::integer
                ),
                cut.place - 1,
                cut.content,
                coalesce(cut.value ->> 'heading', p_title),
                array(select * from jsonb_array_elements_text(coalesce(cut.value -> 'section_path', '[]'))),
                coalesce(cut.value ->> 'kind', 'text'),
                (cut.value ->> 'char_start')::integer,
                (cut.value ->> 'char_end')::integer,
                (cut.value ->> 'parent_start')::integer,
                (cut.value ->> 'parent_end')::integer,
                (cut.value ->> 'page_start')::integer,
                (cut.value ->> 'page_end')::integer,
                (cut.value ->> 'token_count')::integer,
                coalesce(cut.value -> 'metadata', '{}'),
                null,
                null,
                null
            )::ragpg.chunk
        from (
            select
                item.value,
                item.place,
                substr(
                    p_content, (item.value ->> 'char_start')::integer + 1,
                    (item.value ->> 'char_end')::integer - (item.value ->> 'char_start')::integer
                ) as content
            from jsonb_array_elements(p_chunks) with ordinality as item (value, place)
        ) as cut
        order by cut.place
    );
end;
$$;

comment on function ragpg._chunk_rows(bigint, uuid, text, text, jsonb) is
'p_chunks as rows of ragpg.chunk, text cut from the content and ids computed; not analysed yet. RG007.';
