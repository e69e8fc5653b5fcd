create function ragpg._phrase_in(p_configs text[], p_text text) returns tsquery
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_query tsquery;
    v_one tsquery;
    v_config text;
begin
    foreach v_config in array p_configs loop
        v_one := ragpg._phrase(v_config::regconfig, p_text);
        v_query := case when v_query is null then v_one when v_one is null then v_query else v_query || v_one end;
    end loop;
    return v_query;
end;
$$;

comment on function ragpg._phrase_in(text[], text) is 'The phrase as a tsquery, analysed in any of the languages in use.';
