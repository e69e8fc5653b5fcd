create function ragpg._configs(p_scope ragpg._scope) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    v_languages text[];
begin
    -- one index probe a language, however many documents there are
    v_languages := array(
        with recursive step (language) as (
            (
                select document.language from ragpg.document
                where document.collection_id = p_scope.collection_id
                order by document.language
                limit 1
            )
            union all
            select (
                select document.language from ragpg.document
                where document.collection_id = p_scope.collection_id and document.language > step.language
                order by document.language
                limit 1
            )
            from step
            where step.language is not null
        )

        select step.language from step where step.language is not null
    );
    -- a language of hidden documents alone would stem the query's words in one more way, and find other chunks with them. Where
    -- there is but one language, a caller who sees nothing in it finds nothing with it.
    if cardinality(v_languages) > 1 then
        v_languages := array(
            select item.language from unnest(v_languages) as item (language)
            where ragpg._sees_language(p_scope, array[item.language])
        );
    end if;
    return v_languages;
end;
$$;

comment on function ragpg._configs(ragpg._scope) is
'The text-search configurations of the documents that the caller may see; of a collection in one language, that one.';

create function ragpg._sees_language(p_scope ragpg._scope, p_languages text[]) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return (
        select count(*) > 0
        from (
            select 1 from ragpg.document
            where
                document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
                and (p_scope.every_document or document.acl && p_scope.principals)
                and (document.expires_at is null or document.expires_at > now())
                and document.language = any (p_languages)
            -- one would do, but looking for one Postgres scans the table in the hope to meet it soon; few it finds by their ACL
            limit 100
        ) as seen
    );
end;
$$;

comment on function ragpg._sees_language(ragpg._scope, text[]) is
'True where the caller may see a document that was analysed with one of the configurations.';

create function ragpg._existing_configs(p_languages text[]) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    -- over the catalogue only: its plan may be kept
    return array(
        select ragpg._config_name(config.cfgname, namespace.nspname)
        from pg_ts_config as config
        join pg_namespace as namespace on namespace.oid = config.cfgnamespace
        where ragpg._config_name(config.cfgname, namespace.nspname) = any (p_languages)
    );
end;
$$;

comment on function ragpg._existing_configs(text[]) is 'Those of the text-search configurations that still exist.';
