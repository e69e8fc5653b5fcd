create function ragpg._lock_for_dropping(p_patience interval) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- who waits for these locks lets nobody past: every search that starts meanwhile waits behind it, so never for long
set lock_timeout = '100ms'
as $$
declare
    v_pause constant double precision := 0.2;
    v_deadline constant timestamptz := clock_timestamp() + p_patience;
begin
    loop
        begin
            -- in the order in which searches and writes take them, so that nobody waits in a circle
            lock table ragpg.index_version, ragpg.document, ragpg.chunk, ragpg.embedding in access exclusive mode;
            return;
        exception when lock_not_available then
            if clock_timestamp() + make_interval(secs => v_pause) > v_deadline then
                raise exception using
                    errcode = 'lock_not_available',
                    message = 'other transactions that search or write stayed open, and nothing can be dropped under them',
                    hint = 'Run it again, or look for old transactions: select * from pg_stat_activity order by xact_start.';
            end if;
        end;
        -- outside of the block: what was locked is free again
        perform pg_sleep(v_pause);
    end loop;
end;
$$;

comment on function ragpg._lock_for_dropping(interval) is
'Takes the locks for dropping partitions, a tenth of a second at a time, so that searches never wait longer for it to begin. 55P03 after p_patience.';

create function ragpg._lock_patience() returns interval
language sql stable
begin atomic
    select coalesce(nullif(current_setting('lock_timeout')::interval, '0'), '1 minute');
end;

comment on function ragpg._lock_patience() is 'How long a function that drops partitions tries to lock them: the caller''s lock_timeout, else a minute.';
