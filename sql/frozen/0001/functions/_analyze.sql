-- requires: _fold, _identifiers, _spaceless
-- Text analysis, the same for documents and for queries: Postgres' parser is only given plain words, and what it would damage
-- is added beside them. Two kinds of lexemes don't count towards a chunk's length: a stop word (~the) is for queries of nothing
-- else and for phrases, a single Chinese, Japanese or Korean character (^犬) for queries of one. The mark keeps the stop words of
-- one language from the words of another: an English query "die" finds no German article.

create function ragpg._quoted(p_lexeme text) returns text
language sql immutable parallel safe
begin atomic
    select '''' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''';
end;

comment on function ragpg._quoted(text) is 'A lexeme as the text forms of tsvector and tsquery want it, so that nothing in it is syntax.';

create function ragpg._positioned_lexemes(p_lexemes text[]) returns tsvector
language sql immutable parallel safe
begin atomic
    select coalesce(string_agg(ragpg._quoted(item.lexeme) || ':' || item.place, ' '), '')::tsvector
    from unnest(p_lexemes) with ordinality as item (lexeme, place)
    where item.lexeme <> '';
end;

comment on function ragpg._positioned_lexemes(text[]) is
'A tsvector of the given lexemes, taken as they are (no stemming), each at the positions where it stands in the array.';

create function ragpg._plain_words(p_text text) returns text
language sql immutable parallel safe
begin atomic
    with words as materialized (
        -- without these characters the parser finds nothing but words and whole numbers; those beyond ASCII (quotation marks, dashes,
        -- the apostrophe of l’assurance, 《》) are letters to it where the database's character type is C, as with the builtin C.UTF-8
        select regexp_replace(
            p_text,
            '[-_./:@+#~&=?%\\<>\u00A1\u00A6\u00A7\u00AB\u00B6\u00B7\u00BB\u00BF\u2010-\u2027\u2030-\u205E\u3001\u3002\u3008-\u3011\u3014-\u301F\u30FB]',
            ' ', 'g'
        ) as text
    )

    select case
        -- a lexeme over 2,047 bytes would be dropped: a word that long is cut into pieces, in queries too
        when words.text ~ '[^\s[:punct:]]{255}'
            then regexp_replace(words.text, '([[:alnum:]]{255})(?=[[:alnum:]])', '\1 ', 'g')
        else words.text
    end
    from words;
end;

comment on function ragpg._plain_words(text) is
'The text with every character that Postgres'' parser treats specially replaced by a space, and words over 255 characters cut.';

create function ragpg._words(p_config regconfig, p_text text) returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_words tsvector := to_tsvector(p_config, p_text);
    v_has_stop_words constant boolean := p_config <> 'pg_catalog.simple'::regconfig;
    v_simple constant tsvector := case when v_has_stop_words then to_tsvector('pg_catalog.simple', p_text) else v_words end;
    v_accented text[];
    v_places text[];
    v_more text;
begin
    if octet_length(p_text) = length(p_text) or p_text !~ ragpg._accented() then
        if not v_has_stop_words then
            return v_words;
        end if;
        -- where the configuration left a gap between its words there was a stop word
        v_more := (
            select string_agg('''~' || word.lexeme || ''':' || array_to_string(word.positions, ','), ' ')
            from unnest(v_simple) as word
            where word.positions[1] not in (select unnest(known.positions) from unnest(v_words) as known)
        );
        return case when v_more is null then v_words else (v_words::text || ' ' || v_more)::tsvector end;
    end if;

    select
        string_agg('''~' || word.lexeme || ''':' || word.places, ' ') filter (where not word.is_known),
        array_agg(word.lexeme) filter (where word.is_known and octet_length(word.lexeme) > length(word.lexeme)),
        array_agg(word.places) filter (where word.is_known and octet_length(word.lexeme) > length(word.lexeme))
    into v_more, v_accented, v_places
    from (
        select
            item.lexeme,
            array_to_string(item.positions, ',') as places,
            item.positions[1] in (select unnest(known.positions) from unnest(v_words) as known) as is_known
        from unnest(v_simple) as item
        -- a fence: looked up once a word, not once an aggregate
        offset 0
    ) as word;
    -- at its place a word stands without accents as its stem, and as the stem of what is typed without accents
    -- (résumé: resume, resum), where the two differ
    v_more := concat_ws(
        ' ',
        v_more,
        (
            select string_agg(ragpg._quoted(stem.lexeme) || ':' || v_places[stem.place], ' ')
            from (
                select form.lexeme, unnest(form.positions) as place
                from unnest(to_tsvector(p_config, ragpg._fold(array_to_string(v_accented, ' ')))) as form
            ) as stem
        )
    );
    if v_words::text ~ ragpg._accented() then
        select
            concat_ws(' ', v_more, string_agg(ragpg._quoted(word.lexeme) || ':' || array_to_string(word.positions, ','), ' ')),
            ts_delete(v_words, array_agg(word.lexeme))
        into v_more, v_words
        from unnest(v_words) as word
        where word.lexeme ~ ragpg._accented();
    end if;
    -- of a combining mark by itself nothing is left
    return concat_ws(' ', v_words::text, regexp_replace(ragpg._fold(v_more), '(^| )'''':[0-9,]+', '', 'g'))::tsvector;
end;
$$;

comment on function ragpg._words(regconfig, text) is
'The words of a text as the given configuration stems them, without accents, each at its place; and its stop words, marked ~.';

create function ragpg._analyze(p_config regconfig, p_text text) returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text text := ragpg._normalise(p_text);
    v_characters tsvector := '';
begin
    if v_text is null then
        return '';
    end if;
    if octet_length(v_text) <> length(v_text) and v_text ~ ragpg._spaceless() then
        v_characters := ragpg._characters(v_text);
        v_text := regexp_replace(v_text, ragpg._spaceless(), ' ', 'g');
    end if;
    return ragpg._words(p_config, ragpg._plain_words(v_text))
        || v_characters
        || to_tsvector(p_config, ragpg._word_parts(v_text))
        || ragpg._positioned_lexemes(ragpg._identifiers(v_text));
end;
$$;

comment on function ragpg._analyze(regconfig, text) is
'The tsvector of a text: words by the given configuration, identifiers whole and by part, scripts without spaces as pairs of characters. Documents and queries both go through it.';
