create function ragpg._split_text(p_content text) returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_target constant integer := 1500;
begin
    return (
        select jsonb_agg(jsonb_build_object('char_start', part.char_start, 'char_end', part.char_end) order by part.char_start)
        from (
            -- neighbouring pieces that begin in the same stretch of the text make one chunk
            select
                min(piece.char_start) as char_start,
                max(piece.char_start + length(rtrim(piece.text, E' \t\r\n'))) as char_end
            from (
                select
                    cut.text,
                    sum(length(cut.text)) over (order by line.place, cut.place) - length(cut.text) as char_start
                from string_to_table(p_content, E'\n') with ordinality as line (text, place)
                cross join lateral (
                    select unit.text, unit.place
                    from unnest(
                        -- with the newline that string_to_table took; a line over the target is taken word by word
                        case when length(line.text) <= v_target then array[line.text || E'\n']
                        else array(
                            select word.text[1]
                            from regexp_matches(line.text || E'\n', '(\s*\S{1,255}|\s+$)', 'g') as word (text)
                        ) end
                    ) with ordinality as unit (text, place)
                ) as cut
            ) as piece
            where piece.text ~ '\S'
            group by piece.char_start / v_target
        ) as part
    );
end;
$$;

comment on function ragpg._split_text(text) is
'A plain split into ranges of about 1,500 characters between lines, or words where a line is longer: for callers who have only SQL.';
