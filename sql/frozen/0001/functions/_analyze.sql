-- Text analysis, the same for documents and for queries. Postgres' own parser reads `ERR-1042` as a word and a negative
-- number, drops the `++` of `C++` and takes a Japanese sentence for one word; so it is only given plain words here, and what
-- it would damage is added beside them: identifiers whole, their parts, and bigrams of scripts without spaces.

create function ragpg._quoted(p_lexeme text) returns text
language sql immutable parallel safe
begin atomic
    select '''' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''';
end;

comment on function ragpg._quoted(text) is 'A lexeme as the text forms of tsvector and tsquery want it, so that nothing in it is syntax.';

create function ragpg._positioned_lexemes(p_lexemes text[]) returns tsvector
language sql immutable parallel safe
begin atomic
    select coalesce(string_agg(entry.lexeme, ' '), '')::tsvector
    from (
        select
            ragpg._quoted(item.lexeme) || ':' || string_agg(least(item.place, 16383)::text, ',' order by item.place) as lexeme
        from unnest(p_lexemes) with ordinality as item (lexeme, place)
        where item.lexeme <> ''
        group by item.lexeme
    ) as entry;
end;

comment on function ragpg._positioned_lexemes(text[]) is
'A tsvector of the given lexemes, taken as they are (no stemming), each at the positions where it stands in the array.';

create function ragpg._identifiers(p_text text) returns text[]
language sql immutable parallel safe
begin atomic
    select coalesce(array_agg(lower(found.token[1]) order by found.place), '{}')
    from regexp_matches(
        p_text,
        -- joined by punctuation (ERR-1042, a/b.c, ana@example.org), ending in + or # (C++, C#), starting with a dot (.NET)
        '([[:alnum:]_]+(?:[-_./:@+#~&=?%\\]+[[:alnum:]_]+)+[+#]*|[[:alnum:]]+[+#]+|[[:alnum:]]*_[[:alnum:]_]*'
        || '|(?<![[:alnum:]])\.[[:alpha:]][[:alnum:]]*)',
        'g'
    ) with ordinality as found (token, place)
    where length(found.token[1]) between 2 and 255;
end;

comment on function ragpg._identifiers(text) is
'The identifiers of a text (error codes, versions, paths, addresses, C++, snake_case), whole and in lower case, in order.';

create function ragpg._word_parts(p_text text) returns text
language sql immutable parallel safe
begin atomic
    select coalesce(
        string_agg(
            regexp_replace(
                regexp_replace(found.token[1], '([[:lower:]])([[:upper:]])', '\1 \2', 'g'),
                '([[:alpha:]])(?=[0-9])|([0-9])(?=[[:alpha:]])', '\1\2 ', 'g'
            ),
            ' ' order by found.place
        ),
        ''
    )
    from regexp_matches(
        p_text,
        '([[:alnum:]]*(?:[[:lower:]][[:upper:]]|[[:alpha:]][0-9]|[0-9][[:alpha:]])[[:alnum:]]*)',
        'g'
    ) with ordinality as found (token, place)
    where length(found.token[1]) <= 255;
end;

comment on function ragpg._word_parts(text) is
'The parts of words written in CamelCase or of letters and digits together (getUserName: get User Name, SKU12: SKU 12), as one text.';

create function ragpg._spaceless() returns text
language sql immutable parallel safe
begin atomic
    select
        '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF'
        || '\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]+';
end;

comment on function ragpg._spaceless() is
'The regular expression for a run of a script written without spaces: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean, whose particles stick to words.';

create function ragpg._bigrams(p_text text) returns text[]
language sql immutable parallel safe
begin atomic
    select coalesce(
        array_agg(substr(run.letters[1], gram.start, 2) order by run.place, gram.start), '{}'
    )
    from regexp_matches(p_text, '(' || ragpg._spaceless() || ')', 'g')
        with ordinality as run (letters, place)
    cross join lateral generate_series(1, greatest(length(run.letters[1]) - 1, 1)) as gram (start);
end;

comment on function ragpg._bigrams(text) is
'The overlapping character pairs of every run of a script written without spaces (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer), in order.';

create function ragpg._plain_words(p_text text) returns text
language sql immutable parallel safe
begin atomic
    select regexp_replace(
        -- without these characters the parser finds nothing but words and whole numbers
        translate(p_text, '-_./:@+#~&=?%\<>', '                '),
        -- a lexeme over 2,047 bytes would be dropped: a word that long is cut into pieces, in queries too
        '([[:alnum:]]{255})(?=[[:alnum:]])', '\1 ', 'g'
    );
end;

comment on function ragpg._plain_words(text) is
'The text with every character that Postgres'' parser treats specially replaced by a space, and words over 255 characters cut.';

create function ragpg._normalise(p_text text) returns text
language sql immutable parallel safe
begin atomic
    select case when octet_length(p_text) = length(p_text) then p_text else normalize(p_text, nfkc) end;
end;

comment on function ragpg._normalise(text) is
'The text in Unicode normal form KC, so that full-width letters, ligatures and combining marks match their plain forms.';

create function ragpg._analyze(p_config regconfig, p_text text) returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text text := ragpg._normalise(p_text);
    v_bigrams tsvector := '';
begin
    if v_text is null then
        return '';
    end if;
    if octet_length(v_text) <> length(v_text) and v_text ~ ragpg._spaceless() then
        v_bigrams := ragpg._positioned_lexemes(ragpg._bigrams(v_text));
        v_text := regexp_replace(v_text, ragpg._spaceless(), ' ', 'g');
    end if;
    return to_tsvector(p_config, ragpg._plain_words(v_text))
        || v_bigrams
        || to_tsvector(p_config, ragpg._word_parts(v_text))
        || ragpg._positioned_lexemes(ragpg._identifiers(v_text));
end;
$$;

comment on function ragpg._analyze(regconfig, text) is
'The tsvector of a text: words by the given configuration, identifiers whole and by part, scripts without spaces as bigrams. Documents and queries both go through it.';
