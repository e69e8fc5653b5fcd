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
    where not ragpg._is_chunk(item.value, v_length)
    limit 1;
    if found then
        raise exception using
            errcode = 'RG007',
            message = format('a chunk of p_chunks is not usable: %s', v_bad),
            hint = format(
                '0 <= char_start < char_end <= %s; parent_start and parent_end around them; kind text, table or code;'
                ' metadata an object.',
                v_length
            );
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
                array(select * from jsonb_array_elements_text(coalesce(nullif(cut.value -> 'section_path', 'null'), '[]'))),
                coalesce(cut.value ->> 'kind', 'text'),
                (cut.value ->> 'char_start')::numeric::integer,
                (cut.value ->> 'char_end')::numeric::integer,
                (cut.value ->> 'parent_start')::numeric::integer,
                (cut.value ->> 'parent_end')::numeric::integer,
                (cut.value ->> 'page_start')::numeric::integer,
                (cut.value ->> 'page_end')::numeric::integer,
                (cut.value ->> 'token_count')::numeric::integer,
                coalesce(nullif(cut.value -> 'metadata', 'null'), '{}'),
                null,
                null,
                null
            )::ragpg.chunk
        from ragpg._cut(p_content, p_chunks) as cut
        order by cut.place
    );
end;
$$;

comment on function ragpg._chunk_rows(bigint, uuid, text, text, jsonb) is
'p_chunks as rows of ragpg.chunk, text cut from the content and ids computed; not analysed yet. RG007.';

create function ragpg._cut(p_content text, p_chunks jsonb)
returns table (place bigint, value jsonb, content text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
-- the ranges of a long text are many, and none of these estimates knows it
set enable_nestloop = off
as $$
declare
    v_page constant integer := 10000;
    v_pages constant integer := 20;
begin
    -- substr counts characters from the start every time: in a text of megabytes thousands of ranges are cut out of pages, and the
    -- pages out of blocks
    return query
    with block as materialized (
        select series.number, substr(p_content, series.number * v_page * v_pages + 1, v_page * v_pages) as text
        from generate_series(0, length(p_content) / (v_page * v_pages)) as series (number)
    ),

    page as materialized (
        select block.number * v_pages + series.number as number, substr(block.text, series.number * v_page + 1, v_page) as text
        from block
        cross join generate_series(0, v_pages - 1) as series (number)
    ),

    piece as (
        select
            item.place,
            item.value,
            (item.value ->> 'char_start')::numeric::integer as char_start,
            (item.value ->> 'char_end')::numeric::integer as char_end
        from jsonb_array_elements(p_chunks) with ordinality as item (value, place)
    )

    select
        piece.place,
        piece.value,
        substr(
            string_agg(page.text, '' order by page.number),
            piece.char_start % v_page + 1,
            piece.char_end - piece.char_start
        )
    from piece
    cross join lateral generate_series(piece.char_start / v_page, (piece.char_end - 1) / v_page) as touched (number)
    join page on page.number = touched.number
    group by piece.place, piece.value, piece.char_start, piece.char_end;
end;
$$;

comment on function ragpg._cut(text, jsonb) is 'The text of every range of p_chunks, in any number and over a text of any length.';

create function ragpg._is_chunk(p_chunk jsonb, p_length integer) returns boolean
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text;
    v_given constant jsonb := case when jsonb_typeof(p_chunk) = 'object' then p_chunk end;
begin
    if v_given is null then
        return false;
    end if;
    foreach v_key in array array['char_start', 'char_end', 'parent_start', 'parent_end', 'page_start', 'page_end', 'token_count'] loop
        continue when coalesce(v_given -> v_key, 'null') = 'null';
        if jsonb_typeof(v_given -> v_key) <> 'number'
            or (v_given ->> v_key)::numeric not between 0 and 2147483647
            or (v_given ->> v_key)::numeric <> trunc((v_given ->> v_key)::numeric) then
            return false;
        end if;
    end loop;
    return coalesce(
        (v_given ->> 'char_start')::numeric < (v_given ->> 'char_end')::numeric
        and (v_given ->> 'char_end')::numeric <= p_length
        and num_nulls(v_given ->> 'parent_start', v_given ->> 'parent_end') <> 1
        and coalesce((v_given ->> 'parent_start')::numeric, 0) <= (v_given ->> 'char_start')::numeric
        and coalesce((v_given ->> 'parent_end')::numeric, p_length) between (v_given ->> 'char_end')::numeric and p_length
        and coalesce((v_given ->> 'page_start')::numeric, 1) >= 1
        and coalesce((v_given ->> 'page_end')::numeric >= (v_given ->> 'page_start')::numeric, true)
        and jsonb_typeof(coalesce(v_given -> 'heading', 'null')) in ('string', 'null')
        and coalesce(v_given -> 'kind', 'null') in ('null', '"text"', '"table"', '"code"')
        and jsonb_typeof(coalesce(v_given -> 'metadata', 'null')) in ('object', 'null')
        and (
            coalesce(v_given -> 'section_path', 'null') = 'null'
            or jsonb_typeof(v_given -> 'section_path') = 'array'
            and not jsonb_path_exists(v_given -> 'section_path', 'strict $[*] ? (@.type() != "string")')
        ),
        false
    );
end;
$$;

comment on function ragpg._is_chunk(jsonb, integer) is 'True where an element of p_chunks is a range of a text of p_length characters, with attributes of the right kind.';
