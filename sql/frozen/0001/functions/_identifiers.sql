-- requires: _fold
-- Postgres' own parser reads `ERR-1042` as a word and a negative number and drops the `++` of `C++`; so identifiers are found here.

create function ragpg._pictographs() returns text
language sql immutable parallel safe
begin atomic
    select '[\u2600-\u27BF\U0001F000-\U0001FAFF]' as characters;
end;

comment on function ragpg._pictographs() is 'The regular expression for an emoji or another pictograph.';

create function ragpg._identifiers(p_text text) returns text[]
language sql immutable parallel safe
begin atomic
    select coalesce(array_agg(lower(ragpg._fold(name.text)) order by found.place, name.place), '{}')
    from (
        select
            match.token[1] as token,
            match.place
        from regexp_matches(
            p_text,
            -- joined by punctuation (ERR-1042, a/b.c, ana@example.org), ending in + or # (C++, C#), with underscores,
            -- starting with a dot or two colons (.NET, ::1), or an emoji
            '([[:alnum:]_]+(?:[-_./:@+#~&=?%\\]+[[:alnum:]_]+)+[+#]*|[[:alnum:]]+[+#]+|[[:alnum:]]*_+[[:alnum:]][[:alnum:]_]*'
            || '|[[:alnum:]]+_+|(?<![[:alnum:]])(?:\.|::)[[:alnum:]]+|' || ragpg._pictographs() || ')',
            'g'
        ) with ordinality as match (token, place)
    ) as found
    cross join lateral (
        select
            found.token as text,
            0 as place
        union all
        -- the parts of a path, a URL or an address that are identifiers themselves: a file's name, a host, .NET in C#/.NET
        select part.text, part.place
        from regexp_split_to_table(found.token, '[/\\:@&=?%~]+') with ordinality as part (text, place)
        where found.token ~ '[/\\:@&=?%~]' and part.text ~ '[-_.+#]' and part.text <> found.token
        union all
        -- v2.14.3 is version 2.14.3
        select
            substr(found.token, 2) as text,
            1 as place
        where found.token ~ '^[vV][0-9]+[.]'
    ) as name
    where length(name.text) <= 255;
end;

comment on function ragpg._identifiers(text) is
'The identifiers of a text (error codes, versions, paths, addresses, C++, snake_case, emojis), whole and in lower case, in order, each followed by those inside it (the host of a URL, the file of a path).';

create function ragpg._word_parts(p_text text) returns text
language sql immutable parallel safe
begin atomic
    select coalesce(
        ragpg._fold(string_agg(
            regexp_replace(
                regexp_replace(
                    regexp_replace(found.token[1], '([[:lower:]])([[:upper:]])', '\1 \2', 'g'),
                    '([[:upper:]])([[:upper:]][[:lower:]]{2})', '\1 \2', 'g'
                ),
                '([[:alpha:]])(?=[0-9])|([0-9])(?=[[:alpha:]])', '\1\2 ', 'g'
            ),
            ' ' order by found.place
        )),
        ''
    )
    from regexp_matches(
        p_text,
        '([[:alnum:]]*(?:[[:lower:]][[:upper:]]|[[:upper:]]{2}[[:lower:]]{2}|[[:alpha:]][0-9]|[0-9][[:alpha:]])[[:alnum:]]*)',
        'g'
    ) with ordinality as found (token, place)
    where length(found.token[1]) <= 255;
end;

comment on function ragpg._word_parts(text) is
'The parts of words written in CamelCase or of letters and digits together (getUserName: get User Name, HTTPServer: HTTP Server, SKU12: SKU 12), as one text.';
