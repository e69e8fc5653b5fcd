create function ragpg._phrase_in(p_configs text[], p_text text) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_known tsquery[] := '{}';
    v_stop_words tsquery[] := '{}';
    v_simple tsquery[] := '{}';
    v_one record;
    v_config text;
begin
    foreach v_config in array p_configs loop
        v_one := ragpg._phrase(v_config::regconfig, p_text);
        continue when v_one.o_query is null;
        if v_config = 'simple' then
            v_simple := v_simple || v_one.o_query;
        elsif v_one.o_is_stop_words then
            v_stop_words := v_stop_words || v_one.o_query;
        else
            v_known := v_known || v_one.o_query;
        end if;
    end loop;
    -- a word that one language drops is meant in the language that does not; simple, which drops none, doesn't tell
    return (
        select string_agg(concat('(', phrase.query, ')'), ' | ')::tsquery
        from unnest(case when v_known = '{}' then v_stop_words else v_known end || v_simple) as phrase (query)
    );
end;
$$;

comment on function ragpg._phrase_in(text[], text) is
'The phrase as a tsquery, analysed in any of the languages in use; as stop words only where it is nothing else in any of them.';
