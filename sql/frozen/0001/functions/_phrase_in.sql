create function ragpg._phrase_in(p_configs text[], p_text text) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_query tsquery;
    v_stop_words tsquery;
    v_one record;
    v_config text;
begin
    foreach v_config in array p_configs loop
        v_one := ragpg._phrase(v_config::regconfig, p_text);
        if v_one.o_is_stop_words then
            v_stop_words := case when v_stop_words is null then v_one.o_query else v_stop_words || v_one.o_query end;
        elsif v_one.o_query is not null then
            v_query := case when v_query is null then v_one.o_query else v_query || v_one.o_query end;
        end if;
    end loop;
    -- a word that one language drops is meant in the language that does not
    return coalesce(v_query, v_stop_words);
end;
$$;

comment on function ragpg._phrase_in(text[], text) is
'The phrase as a tsquery, analysed in any of the languages in use; as stop words only where it is nothing else in any of them.';
