create function ragpg._configs(p_collection_id bigint) returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    -- one index probe a language, however many documents there are
    return array(
        with recursive step (language) as (
            (
                select document.language from ragpg.document
                where document.collection_id = p_collection_id
                order by document.language
                limit 1
            )
            union all
            select (
                select document.language from ragpg.document
                where document.collection_id = p_collection_id and document.language > step.language
                order by document.language
                limit 1
            )
            from step
            where step.language is not null
        )

        select step.language from step where step.language is not null
    );
end;
$$;

comment on function ragpg._configs(bigint) is 'The text-search configurations of a collection''s documents.';

create function ragpg._sees_language(p_scope ragpg._scope, p_languages text[]) returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
    return exists (
        select from ragpg.document
        where
            document.collection_id = p_scope.collection_id and document.tenant_id = p_scope.tenant_id
            and (p_scope.every_document or document.acl && p_scope.principals)
            and (document.expires_at is null or document.expires_at > now())
            and document.language = any (p_languages)
    );
end;
$$;

comment on function ragpg._sees_language(ragpg._scope, text[]) is
'True where the caller may see a document that was analysed with one of the configurations.';
