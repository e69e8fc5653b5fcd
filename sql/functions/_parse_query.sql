create function ragpg._excluded() returns text
language sql immutable parallel safe
begin atomic
    select '(?:^|(?<=\s))-("[^"]+"|[^\s"-][^\s"]*)' as characters;
end;

comment on function ragpg._excluded() is
'The regular expression for a -word or a -"phrase" of a query; its group is what is excluded.';

create function ragpg._parse_query(
    p_configs text[], p_query text,
    out o_has_words boolean, out o_lexemes text[], out o_counts integer[], out o_phrases tsquery, out o_exclusions tsquery,
    out o_stop_lexemes text[], out o_stop_counts integer[], out o_stop_phrase tsquery
)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_excluded constant text := ragpg._excluded();
    v_query constant text := coalesce(p_query, '');
    v_rest constant text := regexp_replace(v_query, v_excluded, ' ', 'g');
    v_stop_configs text[];
    v_is_known boolean;
    v_found text;
    v_one tsquery;
begin
    o_has_words := v_rest ~ '[^[:punct:][:space:]]' or v_rest ~ ragpg._pictographs();
    with word as materialized (
        select
            config.name as config,
            item.lexeme,
            coalesce(cardinality(item.positions), 1) as occurrences,
            starts_with(item.lexeme, '~') as is_stop
        from unnest(p_configs) as config (name)
        cross join lateral unnest(ragpg._analyze(config.name::regconfig, v_rest)) as item
        where not starts_with(item.lexeme, '^')
        union all
        -- a single Chinese character is a word where it is all there is of its run
        select null, letter.alone, count(*), false
        from ragpg._letters(ragpg._normalise(v_rest)) as letter
        where letter.alone is not null and letter.single is not null
        group by letter.alone
    ),

    -- the language that the question is asked in, where one shows: that of most of its stop words, two at least
    asked as (
        select guess.config, guess.stop_words
        from (
            select
                word.config,
                array_agg(substr(word.lexeme, 2)) as stop_words,
                count(*) as found,
                lead(count(*), 1, 0::bigint) over (order by count(*) desc) as next
            from word
            where word.is_stop
            group by word.config
            order by found desc
            limit 1
        ) as guess
        where guess.found >= 2 and guess.found > guess.next
    ),

    -- they are no words of the others either: «what» is rare in Chinese documents, and says nothing about them
    foreign_stop as (
        select config.name as config, item.lexeme
        from asked
        cross join unnest(p_configs) as config (name)
        cross join lateral unnest(ragpg._analyze(config.name::regconfig, array_to_string(asked.stop_words, ' '))) as item
        where config.name <> asked.config and not starts_with(item.lexeme, '~')
    ),

    term as (
        select word.lexeme, max(word.occurrences)::integer as occurrences, word.is_stop, array_agg(distinct word.config) as configs
        from word
        where
            not exists (
                select from foreign_stop
                where foreign_stop.config = word.config and foreign_stop.lexeme = word.lexeme
            )
            and (
                not word.is_stop or not exists (
                    select from word as other
                    where not other.is_stop and coalesce(other.config = word.config, true)
                )
            )
        group by word.lexeme, word.is_stop
    )

    select
        array_agg(term.lexeme order by term.lexeme) filter (where not term.is_stop),
        array_agg(term.occurrences order by term.lexeme) filter (where not term.is_stop),
        array_agg(term.lexeme order by term.lexeme) filter (where term.is_stop),
        array_agg(term.occurrences order by term.lexeme) filter (where term.is_stop),
        array(select distinct unnest(stop_word.configs) from term as stop_word where stop_word.is_stop),
        coalesce(bool_or(not term.is_stop and term.configs <> array['simple']), false)
    into o_lexemes, o_counts, o_stop_lexemes, o_stop_counts, v_stop_configs, v_is_known
    from term;
    if o_stop_lexemes is not null and not v_is_known then
        -- simple, which has no stop words, does not tell that a word is more than one
        o_stop_lexemes := o_lexemes || o_stop_lexemes;
        o_stop_counts := o_counts || o_stop_counts;
        o_lexemes := null;
        o_counts := null;
        v_stop_configs := p_configs;
    end if;
    o_stop_phrase := ragpg._phrase_in(v_stop_configs, v_rest);

    for v_found in select part.text[1] from regexp_matches(v_rest, '"([^"]+)"', 'g') as part (text) loop
        v_one := ragpg._phrase_in(p_configs, v_found);
        o_phrases := case when o_phrases is null then v_one when v_one is null then o_phrases else o_phrases && v_one end;
    end loop;
    for v_found in select part.text[1] from regexp_matches(v_query, v_excluded, 'g') as part (text) loop
        v_one := ragpg._phrase_in(p_configs, v_found);
        o_exclusions := case when o_exclusions is null then v_one when v_one is null then o_exclusions else o_exclusions || v_one end;
    end loop;
end;
$$;

comment on function ragpg._parse_query(text[], text) is
'A person''s query taken apart: its lexemes with their counts (in every language in use), the "quoted phrases" that a chunk must hold, the -exclusions it must not; and its stop words, alone and as a phrase, in the languages in which it holds nothing else.';
