create function ragpg._phrase(p_config regconfig, p_text text) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_text text := ragpg._normalise(p_text);
    v_words tsvector;
    v_run text;
    v_phrase tsquery;
    v_query tsquery;
    v_previous integer;
    v_item record;
begin
    v_words := to_tsvector(p_config, ragpg._plain_words(regexp_replace(v_text, ragpg._spaceless(), ' ', 'g')));
    for v_item in
        select position.place, ragpg._any_of(array_agg(word.lexeme)) as query
        from unnest(v_words) as word
        cross join lateral unnest(word.positions) as position (place)
        group by position.place
        order by position.place
    loop
        v_query := case
            when v_query is null then v_item.query
            else tsquery_phrase(v_query, v_item.query, v_item.place - v_previous)
        end;
        v_previous := v_item.place;
    end loop;
    for v_run in
        select run.letters[1]
        from regexp_matches(v_text, '(' || ragpg._spaceless() || ')', 'g') as run (letters)
    loop
        v_phrase := null;
        for v_item in
            select ragpg._any_of(array[gram.lexeme]) as query
            from unnest(ragpg._bigrams(v_run)) with ordinality as gram (lexeme, place)
            order by gram.place
        loop
            v_phrase := case when v_phrase is null then v_item.query else tsquery_phrase(v_phrase, v_item.query, 1) end;
        end loop;
        v_query := case when v_query is null then v_phrase else v_query && v_phrase end;
    end loop;
    -- an identifier is meant whole: C++ is not C, and 3.11 is not 3 11
    foreach v_run in array ragpg._identifiers(v_text) loop
        v_query := case when v_query is null then ragpg._any_of(array[v_run]) else v_query && ragpg._any_of(array[v_run]) end;
    end loop;
    return v_query;
end;
$$;

comment on function ragpg._phrase(regconfig, text) is
'The tsquery that finds the words of a text next to each other, analysed as documents are. Null where the text holds no searchable word.';

create function ragpg._parse_query(
    p_configs text[], p_query text,
    out o_has_words boolean, out o_lexemes text[], out o_counts integer[], out o_phrases tsquery, out o_exclusions tsquery
)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_excluded constant text := '(?:^|(?<=\s))-("[^"]+"|[^\s"-][^\s"]*)';
    v_rest text := regexp_replace(coalesce(p_query, ''), v_excluded, ' ', 'g');
    v_found text;
    v_one tsquery;
begin
    o_has_words := v_rest ~ '[^[:punct:][:space:]]';
    select array_agg(term.lexeme order by term.lexeme), array_agg(term.occurrences order by term.lexeme)
    into o_lexemes, o_counts
    from (
        select word.lexeme, max(coalesce(cardinality(word.positions), 1)) as occurrences
        from unnest(p_configs) as config (name)
        cross join lateral unnest(ragpg._analyze(config.name::regconfig, v_rest)) as word
        group by word.lexeme
    ) as term;

    for v_found in select part.text[1] from regexp_matches(v_rest, '"([^"]+)"', 'g') as part (text) loop
        v_one := ragpg._phrase_in(p_configs, v_found);
        o_phrases := case when o_phrases is null then v_one when v_one is null then o_phrases else o_phrases && v_one end;
    end loop;
    for v_found in select part.text[1] from regexp_matches(coalesce(p_query, ''), v_excluded, 'g') as part (text) loop
        v_one := ragpg._phrase_in(p_configs, v_found);
        o_exclusions := case when o_exclusions is null then v_one when v_one is null then o_exclusions else o_exclusions || v_one end;
    end loop;
end;
$$;

comment on function ragpg._parse_query(text[], text) is
'A person''s query taken apart: its lexemes with their counts (in every language in use), the "quoted phrases" that a chunk must hold, the -exclusions it must not.';
