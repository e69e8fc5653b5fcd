-- Scripts written without spaces. Postgres takes a Japanese sentence for one word; pairs of characters need no dictionary.

create function ragpg._spaceless() returns text
language sql immutable parallel safe
begin atomic
    select
        '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF'
        || '\uAC00-\uD7AF\uF900-\uFAFF\U00020000-\U0003FFFF]+';
end;

comment on function ragpg._spaceless() is
'The regular expression for a run of a script written without spaces: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean, whose particles stick to words.';

create function ragpg._letters(p_text text)
returns table (place bigint, pair text, alone text, single text, is_first boolean)
language sql immutable parallel safe
begin atomic
    select
        item.place,
        case when item.next <> ' ' then item.letter || item.next end as pair,
        case when item.previous = ' ' and item.next = ' ' then letter.marked end as alone,
        case when letter.marked <> item.letter then letter.marked end as single,
        item.previous = ' ' as is_first
    from (
        -- what stands between two runs is one blank
        select string_to_array(regexp_replace(p_text, '[^' || substr(ragpg._spaceless(), 2), ' ', 'g'), null) as letters
    ) as run
    cross join lateral unnest(' '::text || run.letters, run.letters, run.letters[2:] || ' '::text)
        with ordinality as item (previous, letter, next, place)
    cross join lateral (
        -- a Thai letter alone means nothing, and most texts would hold them all
        select case when item.letter < U&'\3000' collate "C" then item.letter else '^' || item.letter end as marked
    ) as letter
    where item.letter <> ' ';
end;

comment on function ragpg._letters(text) is
'The characters of the runs of a text that are written without spaces: the pair that each begins, what stands for it where it is alone in its run, what stands for it anywhere (Chinese, Japanese and Korean only).';

create function ragpg._characters(p_text text) returns tsvector
language sql immutable parallel safe
begin atomic
    select coalesce(
        string_agg(
            concat_ws(
                ' ',
                '''' || coalesce(letter.pair, case when letter.single is null then letter.alone end) || ''':' || letter.place,
                '''' || letter.single || ''''
            ),
            ' '
        ),
        ''
    )::tsvector
    from ragpg._letters(p_text) as letter;
end;

comment on function ragpg._characters(text) is
'The characters of a text''s runs without spaces (Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer) as lexemes: overlapping pairs at their places, and of the first three each character by itself, marked ^.';
