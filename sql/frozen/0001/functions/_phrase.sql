create function ragpg._phrase(p_config regconfig, p_text text, out o_query tsquery, out o_is_stop_words boolean)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text constant text := ragpg._normalise(p_text);
    v_words text;
    v_characters text;
    v_identifiers text;
begin
    select string_agg(concat(' <' || word.place - word.previous || '> ', '(' || word.query || ')'), '' order by word.place), bool_and(word.is_stop)
    into v_words, o_is_stop_words
    from (
        select
            position.place,
            lag(position.place) over (order by position.place) as previous,
            ragpg._any_of(array_agg(word.lexeme))::text as query,
            bool_and(starts_with(word.lexeme, '~')) as is_stop
        from unnest(ragpg._words(p_config, ragpg._plain_words(regexp_replace(v_text, ragpg._spaceless(), ' ', 'g')))) as word
        cross join lateral unnest(word.positions) as position (place)
        group by position.place
    ) as word;
    select string_agg(letter.operator || ragpg._quoted(letter.lexeme), '' order by letter.place)
    into v_characters
    from (
        select
            item.place,
            coalesce(item.pair, item.alone) as lexeme,
            case when not item.is_first then ' <-> ' when row_number() over (order by item.place) = 1 then '' else ' & ' end as operator
        from ragpg._letters(v_text) as item
        where coalesce(item.pair, item.alone) is not null
    ) as letter;
    -- an identifier is meant whole: C++ is not C, and 3.11 is not 3 11
    select string_agg(ragpg._quoted(name.lexeme), ' & ') into v_identifiers
    from unnest(ragpg._identifiers(v_text)) as name (lexeme);
    o_query := nullif(concat_ws(' & ', v_words, v_characters, v_identifiers), '')::tsquery;
    o_is_stop_words := o_is_stop_words and v_characters is null and v_identifiers is null;
end;
$$;

comment on function ragpg._phrase(regconfig, text) is
'The tsquery that finds the words of a text next to each other, analysed as documents are, and whether all are stop words. Null where the text holds no searchable word.';
