-- Runs at the start of every migration's transaction, online and in the script of `ragpg migrate --sql`.

-- One installation at a time: whoever comes second finds the work done.
select pg_catalog.pg_advisory_xact_lock(7160871512096047);

do $preflight$
declare
    v_schema text;
    v_version text;
begin
    if pg_catalog.current_setting('server_version_num')::int < 150000 then
        raise exception 'PostgreSQL % is too old: ragpg needs PostgreSQL 15 or newer, upgrade the server',
            pg_catalog.current_setting('server_version')
            using errcode = 'RG012';
    end if;

    select n.nspname, e.extversion into v_schema, v_version
    from pg_catalog.pg_extension e
    join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector';

    if v_version is null then
        select a.default_version into v_version
        from pg_catalog.pg_available_extensions a
        where a.name = 'vector';
        if v_version is null then
            raise exception 'the server has no pgvector: install version 0.8.4 or newer '
                '(https://github.com/pgvector/pgvector#installation), then run this again'
                using errcode = 'RG012';
        end if;
    end if;

    if pg_catalog.string_to_array(pg_catalog.substring(v_version, '^[0-9]+(?:[.][0-9]+)*'), '.')::int[] < '{0,8,4}' then
        raise exception 'pgvector % is too old: ragpg needs 0.8.4 or newer (older HNSW indexes can be corrupted by vacuum); '
            'upgrade pgvector on the server, then run as a superuser: alter extension vector update', v_version
            using errcode = 'RG012';
    end if;

    if v_schema is null then
        begin
            create extension vector;
        exception when insufficient_privilege then
            raise exception 'pgvector is not installed in this database and this role may not install it: '
                'run as a superuser: create extension vector'
                using errcode = 'RG012';
        end;
        select n.nspname into strict v_schema
        from pg_catalog.pg_extension e
        join pg_catalog.pg_namespace n on n.oid = e.extnamespace
        where e.extname = 'vector';
    end if;

    -- Not `if not exists`, which asks for the privilege to create a schema even where there is one.
    if pg_catalog.to_regnamespace('ragpg') is null then
        create schema ragpg;
        comment on schema ragpg is 'Retrieval-augmented generation: documents, chunks, embeddings and the functions that search them.';
    end if;

    -- The rest of the transaction finds pgvector's types without knowing where they are.
    perform pg_catalog.set_config('search_path', pg_catalog.format('ragpg, %I, pg_temp', v_schema), true);
    -- Loads the library: only then may a role that is no superuser name hnsw.* in a function's SET clause.
    perform '[1]'::vector;
end
$preflight$;
