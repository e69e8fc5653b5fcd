-- Statistics are read in one transaction while others write. Nobody may wait for that, so those who write leave a shared advisory
-- lock that says since when, and the refresh takes their earliest instant as its horizon.

create function ragpg._announce_write(p_index_version bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    -- held to the end of the transaction: the object is the second in which it began to write. Nobody ever waits for it.
    perform pg_advisory_xact_lock_shared(
        ragpg._write_lock_class(p_index_version), (extract(epoch from clock_timestamp())::bigint % 2147483647)::integer
    );
end;
$$;

comment on function ragpg._announce_write(bigint) is
'Lets refresh_statistics see that this transaction is writing chunks, and since when. Call it before written_at is read from the clock.';

create function ragpg._write_lock_class(p_index_version bigint) returns integer
language sql immutable parallel safe
begin atomic
    select hashtext('ragpg write ' || p_index_version);
end;

comment on function ragpg._write_lock_class(bigint) is 'The class of the advisory locks of those who write to an index version.';

create function ragpg._write_horizon(p_index_version bigint) returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
    v_now constant timestamptz := clock_timestamp();
begin
    return coalesce(
        (
            select least(v_now, to_timestamp(min(lock.objid::bigint)))
            from pg_locks as lock
            where
                lock.locktype = 'advisory' and lock.objsubid = 2 and lock.granted
                and lock.database = (select database.oid from pg_database as database where database.datname = current_database())
                and lock.classid::bigint = ragpg._write_lock_class(p_index_version)::bigint & 4294967295
        ),
        v_now
    );
end;
$$;

comment on function ragpg._write_horizon(bigint) is
'The instant before which every chunk of the index version was written by a transaction that has ended.';

create function ragpg._activation_lock(p_collection text) returns bigint
language sql immutable parallel safe
begin atomic
    select hashtextextended('ragpg activate ' || p_collection, 0);
end;

comment on function ragpg._activation_lock(text) is
'The advisory lock between those who write to a collection (shared) and who activates another of its index versions (alone).';
