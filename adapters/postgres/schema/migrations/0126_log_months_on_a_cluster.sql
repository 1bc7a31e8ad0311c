-- gatehouse: compatible from 0079
-- Months of logs that are distributed over the workers of a cluster are made and dropped by the same functions as those of one
-- server. Rows move to their month through the log, so that none stays where no statement sees it; and what a partition holds
-- is asked of its rows, because on the coordinator it has no bytes.
SELECT set_config('search_path', format('%I, pg_temp', current_schema()), true);

CREATE FUNCTION log_partition_bytes(part text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    is_distributed boolean := false;
    bytes          bigint;
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1)'
        INTO is_distributed USING to_regclass(quote_ident(part));
    END IF;
    IF is_distributed THEN
        EXECUTE 'SELECT citus_relation_size($1)' INTO bytes USING to_regclass(quote_ident(part));
        RETURN bytes;
    END IF;
    RETURN pg_relation_size(to_regclass(quote_ident(part)));
END
$$;
COMMENT ON FUNCTION log_partition_bytes(text) IS 'The size of the rows of a partition, wherever they lie.';

CREATE OR REPLACE FUNCTION add_log_month(log text, month date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET lock_timeout = '500ms'
    AS $$
DECLARE
    ends     uuid := first_id_at((date_trunc('month', month::timestamp) + interval '1 month') AT TIME ZONE 'UTC');
    part     text := log || to_char(month, '_YYYY_MM');
    first    uuid;
    leftover text;
    grants   aclitem[];
BEGIN
    -- Again behind the locks, because another process may have made the month meanwhile.
    FOR attempt IN 1..2 LOOP
        SELECT p.name, (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([-0-9a-f]+)''\)'))[1]::uuid, c.relacl
        INTO   leftover, first, grants
        FROM   log_partitions p
        JOIN   pg_class c ON c.relname = p.name
                             AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = quote_ident(p.log)::regclass)
        WHERE  p.log = add_log_month.log AND p.is_last;
        -- Another process may be replacing the partition at this moment.
        IF leftover IS NULL AND NOT (attempt = 1 AND EXISTS (SELECT FROM pg_partitioned_table
                                                             WHERE  partrelid = to_regclass(quote_ident(log)))) THEN
            RAISE EXCEPTION '% is no log that is partitioned by month', log;
        END IF;
        IF first >= ends THEN
            RETURN false;
        END IF;
        EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', log);
    END LOOP;
    -- The last partition is dropped and made again, with other bounds.
    EXECUTE format('CREATE TEMPORARY TABLE log_strays ON COMMIT DROP AS TABLE %I', leftover);
    PERFORM make_log_partition(part, leftover, NULL, 'A month of ' || log || '.');
    EXECUTE format('DROP TABLE %I', leftover);
    PERFORM make_log_partition(leftover, part, grants, 'Rows of ' || log || ' for which no month is there; normally none.');
    -- Months that were not made belong to this one.
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', log, part, first, ends);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', log, leftover, ends);
    EXECUTE format('INSERT INTO %I SELECT * FROM pg_temp.log_strays', log);
    DROP TABLE pg_temp.log_strays;
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION drop_log_month(log text, before uuid, only_empty boolean) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET lock_timeout = '500ms'
    AS $$
DECLARE
    earliest text := log || '_before';
    part     text;
    ends     uuid;
    is_used  boolean;
    grants   aclitem[];
BEGIN
    -- It is kept for ever.
    IF log = 'audit_entries' THEN
        RAISE EXCEPTION 'months of % are never dropped', log;
    END IF;
    -- Again behind the locks, because others may have written meanwhile.
    FOR attempt IN 1..2 LOOP
        SELECT   p.name, p.end_id
        INTO     part, ends
        FROM     log_partitions p
        WHERE    p.log = drop_log_month.log AND NOT p.is_last AND p.end_id <= drop_log_month.before
        -- The first partition is left empty, and has nothing to drop then.
        AND      (CASE WHEN p.first_id IS NULL THEN log_partition_bytes(earliest) > 0 ELSE true END)
        ORDER BY p.end_id
        LIMIT    1;
        IF part IS NULL THEN
            RETURN NULL;
        END IF;
        BEGIN
            -- A month that was large is not read behind the locks.
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I) AND %L OR EXISTS (SELECT 1 FROM %I) AND %L',
                           part, only_empty AND attempt = 1, earliest, part <> earliest)
            INTO   is_used;
        EXCEPTION
            -- Another process has dropped it at this moment.
            WHEN undefined_table THEN
                RETURN NULL;
        END;
        IF is_used THEN
            RETURN NULL;
        END IF;
        EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', log);
    END LOOP;
    SELECT relacl INTO grants FROM pg_class WHERE oid = quote_ident(earliest)::regclass;
    EXECUTE format('DROP TABLE %I', part);
    IF part <> earliest THEN
        EXECUTE format('DROP TABLE %I', earliest);
    END IF;
    -- With a clock that was ahead, months are dropped that come again when it is right.
    PERFORM make_log_partition(earliest, log || '_after', grants, 'Rows of ' || log || ' from before its first month; normally none.');
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', log, earliest, ends);
    RETURN part;
END
$$;

-- It locked the tables to which a log refers, and no log refers to any now.
DROP FUNCTION lock_log(text);
