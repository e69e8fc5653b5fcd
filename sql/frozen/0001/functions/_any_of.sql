-- requires: _analyze
create function ragpg._any_of(p_lexemes text[]) returns tsquery
language sql immutable parallel safe
begin atomic
    select string_agg(ragpg._quoted(item.lexeme), ' | ')::tsquery
    from unnest(p_lexemes) as item (lexeme);
end;

comment on function ragpg._any_of(text[]) is
'The tsquery that matches any of the lexemes, taken as they are: nothing is parsed or stemmed a second time. Null for none.';
