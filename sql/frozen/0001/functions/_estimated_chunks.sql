create function ragpg._estimated_chunks(p_index_version bigint) returns bigint
language sql stable parallel safe
begin atomic
    select class.reltuples::bigint
    from pg_catalog.pg_class as class
    where class.oid = to_regclass(format('ragpg.%I', 'chunk_v' || p_index_version));
end;

comment on function ragpg._estimated_chunks(bigint) is
'About how many chunks an index version has, as of the last VACUUM or ANALYZE; −1 where there was none yet.';
