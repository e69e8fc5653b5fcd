create function ragpg._vector_schema() returns name
language sql stable parallel safe
begin atomic
    select namespace.nspname
    from pg_catalog.pg_extension as extension
    join pg_catalog.pg_namespace as namespace on namespace.oid = extension.extnamespace
    where extension.extname = 'vector';
end;

comment on function ragpg._vector_schema() is 'The schema that pgvector lives in, wherever it was put.';
