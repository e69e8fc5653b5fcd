-- pg_dump writes functions by name, so a restore makes this one before _nearest_hnsw: the literal loads pgvector's library, and
-- without it a role that is no superuser may not name hnsw.* settings in a function.

create function ragpg._load_pgvector() returns vector
language sql immutable parallel safe
begin atomic
    select '[1]'::vector;
end;

comment on function ragpg._load_pgvector() is 'Loads pgvector''s library when a role that is no superuser restores a backup.';
