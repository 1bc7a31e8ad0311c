-- gatehouse: compatible from 0025
-- Functions for logs that are partitioned by month: tables partitioned by the range of the id, a UUIDv7 that begins with its
-- time. Partitions are made and dropped by functions with the rights of their owner, because the role of the server may own
-- nothing. No statement here reads a table of the product.

CREATE FUNCTION first_id_at(moment timestamptz) RETURNS uuid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN (lpad(to_hex(greatest(floor(extract(epoch FROM moment) * 1000), 0)::bigint), 12, '0') || repeat('0', 20))::uuid;
COMMENT ON FUNCTION first_id_at(timestamptz) IS 'The lowest id that a row of this moment can have.';

CREATE VIEW log_partitions AS
SELECT parent.relname AS log,
       part.relname AS name,
       (regexp_match(pg_get_expr(part.relpartbound, part.oid), 'FROM \(''([-0-9a-f]+)''\) TO \('''))[1]::uuid AS first_id,
       (regexp_match(pg_get_expr(part.relpartbound, part.oid), 'TO \(''([-0-9a-f]+)''\)'))[1]::uuid AS end_id,
       pg_get_expr(part.relpartbound, part.oid) LIKE '%TO (MAXVALUE)' AS is_last
FROM   pg_class parent
JOIN   pg_inherits i ON i.inhparent = parent.oid
JOIN   pg_class part ON part.oid = i.inhrelid
WHERE  parent.relkind = 'p' AND part.relkind = 'r' AND parent.relpersistence = 'p'
AND    parent.relnamespace = (SELECT relnamespace FROM pg_class
                              WHERE  oid = 'schema_migrations'::regclass AND relpersistence = 'p');
COMMENT ON VIEW log_partitions IS 'The partitions of the logs: what was written before they were partitioned (no first id), the months, and what is after the last one.';

CREATE FUNCTION bound_log(log text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    newest uuid;
    ends   date := '2027-01-01';
BEGIN
    -- An interrupted migration has it already.
    IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = log::regclass AND conname = log || '_before') THEN
        RETURN;
    END IF;
    EXECUTE format('SELECT id FROM %I ORDER BY id DESC LIMIT 1', log) INTO newest;
    -- An empty table has the same bound everywhere. Ids that are made while the table is changed are below it as well.
    IF newest IS NOT NULL THEN
        ends := greatest(
            ends,
            date_trunc('month', greatest(
                now(),
                to_timestamp(('x' || lpad(left(replace(newest::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0))
            AT TIME ZONE 'UTC') + interval '2 months');
    END IF;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (id < %L) NOT VALID', log, log || '_before',
                   first_id_at(ends::timestamp AT TIME ZONE 'UTC'));
END
$$;
COMMENT ON FUNCTION bound_log(text) IS 'Adds the constraint that makes a table the first partition of its log: all ids are before a month that is to come.';

CREATE FUNCTION begin_log_months(log text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    before  text := log || '_before';
    ends    uuid;
    options text;
    one     record;
BEGIN
    SELECT (regexp_match(pg_get_constraintdef(oid), '''([-0-9a-f]{36})'''))[1], array_to_string(reloptions, ', ')
    INTO   STRICT ends, options
    FROM   (SELECT c.oid, t.reloptions
            FROM   pg_constraint c
            JOIN   pg_class t ON t.oid = c.conrelid
            WHERE  c.conrelid = log::regclass AND c.conname = before AND c.convalidated) AS bound;
    -- The key begins with the organization; an index for it was made before.
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', log, log || '_pkey');
    EXECUTE format('ALTER INDEX %I RENAME TO %I', log || '_key', log || '_pkey');
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY USING INDEX %I', log, log || '_pkey', log || '_pkey');
    EXECUTE format('ALTER TABLE %I RENAME TO %I', log, before);
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING COMMENTS INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE)'
                   ' PARTITION BY RANGE (id)', log, before);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', log, before);
    EXECUTE format('COMMENT ON TABLE %I IS %L', log, obj_description(before::regclass));
    EXECUTE format('COMMENT ON TABLE %I IS %L', before, 'What was written before ' || log || ' was partitioned.');
    -- Each index of the log takes the name, and that of the old rows another one.
    FOR one IN
        SELECT x.relname AS name, regexp_replace(x.relname, '^' || log, before) AS renamed,
               pg_get_indexdef(x.oid) AS definition, i.indisprimary
        FROM   pg_index i
        JOIN   pg_class x ON x.oid = i.indexrelid
        WHERE  i.indrelid = before::regclass
        -- An index that was named for the first partition is one of it alone.
        AND    NOT starts_with(x.relname, before)
        ORDER  BY x.relname
    LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', one.name, one.renamed);
        IF one.indisprimary THEN
            EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I PRIMARY KEY %s', log, one.name,
                           (regexp_match(one.definition, ' USING btree (\(.*\))$'))[1]);
        ELSE
            EXECUTE regexp_replace(one.definition, '^(CREATE (UNIQUE )?INDEX \S+ ON )\S+( .*)$',
                                   '\1' || quote_ident(log) || '\3');
        END IF;
    END LOOP;
    -- What others may do with the log they may go on to do.
    FOR one IN
        SELECT coalesce(nullif(acl.grantee::regrole::text, '-'), 'PUBLIC') AS grantee, acl.privilege_type AS privilege
        FROM   pg_class t, aclexplode(t.relacl) AS acl
        WHERE  t.oid = before::regclass AND acl.grantee <> t.relowner
    LOOP
        EXECUTE format('GRANT %s ON %I TO %s', one.privilege, log, one.grantee);
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', log, before, ends);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', before, before);
    -- Not a partition by default: with one, PostgreSQL does not know that the partitions are in the order of the ids, and would
    -- begin to read all of them for a page of the newest rows.
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (MAXVALUE)%s', log || '_after', log, ends,
                   ' WITH (' || options || ')');
    EXECUTE format('COMMENT ON TABLE %I IS %L', log || '_after', 'Rows of ' || log || ' for which no month is there; normally none.');
END
$$;
COMMENT ON FUNCTION begin_log_months(text) IS 'Makes a table the first partition of a log of the same name, with the index <log>_key as its key; the foreign keys are added afterwards.';

CREATE FUNCTION lock_log(log text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    one record;
BEGIN
    -- The tables that the log refers to come first, as in the transactions that write to it: a new partition takes this lock
    -- on each of them, for its foreign key. They can be read meanwhile.
    FOR one IN
        SELECT confrelid::regclass AS name FROM pg_constraint
        WHERE  conrelid = quote_ident(log)::regclass AND contype = 'f'
        ORDER  BY oid
    LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', one.name);
    END LOOP;
    EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', log);
END
$$;
COMMENT ON FUNCTION lock_log(text) IS 'Locks a log for a change of its partitions.';

CREATE FUNCTION make_log_partition(part text, model text, grants aclitem[], remark text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    options text := (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = quote_ident(model)::regclass);
    one     record;
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)%s', part, model, ' WITH (' || options || ')');
    EXECUTE format('COMMENT ON TABLE %I IS %L', part, remark);
    FOR one IN
        SELECT coalesce(nullif(acl.grantee::regrole::text, '-'), 'PUBLIC') AS grantee, acl.privilege_type AS privilege
        FROM   aclexplode(grants) AS acl
        WHERE  acl.grantee <> (SELECT relowner FROM pg_class WHERE oid = quote_ident(part)::regclass)
    LOOP
        EXECUTE format('GRANT %s ON %I TO %s', one.privilege, part, one.grantee);
    END LOOP;
END
$$;
COMMENT ON FUNCTION make_log_partition(text, text, aclitem[], text) IS 'Makes a table like a partition of a log, to be attached to it; the grants are those that are given beside the default ones.';

-- Both functions below run with the rights of their owner. PostgreSQL looks for tables among the temporary ones of the caller
-- first, unless these are named last.
SELECT set_config('search_path', format('%I, pg_temp', current_schema()), true);

CREATE FUNCTION add_log_month(log text, month date) RETURNS boolean
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
        PERFORM lock_log(log);
    END LOOP;
    PERFORM make_log_partition(part, leftover, NULL, 'A month of ' || log || '.');
    -- The last partition is dropped and made again. To detach it and attach it again would lock the tables that the log refers
    -- to against reading.
    EXECUTE format('INSERT INTO %I SELECT * FROM %I', part, leftover);
    EXECUTE format('DROP TABLE %I', leftover);
    PERFORM make_log_partition(leftover, part, grants, 'Rows of ' || log || ' for which no month is there; normally none.');
    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE id >= %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
                   part, ends, leftover);
    -- Months that were not made belong to this one.
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', log, part, first, ends);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (MAXVALUE)', log, leftover, ends);
    RETURN true;
END
$$;
COMMENT ON FUNCTION add_log_month(text, date) IS 'Adds the partition of a month to a log, from the end of the last one, and moves what there is of it; false if it has one.';

CREATE FUNCTION drop_log_month(log text, before uuid, only_empty boolean) RETURNS text
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
        AND      (CASE WHEN p.first_id IS NULL THEN pg_relation_size(to_regclass(quote_ident(earliest))) > 0 ELSE true END)
        ORDER BY p.end_id
        LIMIT    1;
        IF part IS NULL THEN
            RETURN NULL;
        END IF;
        BEGIN
            -- A month that was large is not read behind the locks.
            EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %I) AND %L OR EXISTS (SELECT FROM ONLY %I) AND %L',
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
        PERFORM lock_log(log);
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
COMMENT ON FUNCTION drop_log_month(text, uuid, boolean) IS 'Drops the oldest partition of a log if all its ids are before that one, and returns its name. Its range goes to the first partition, which is always there.';

REVOKE ALL ON FUNCTION add_log_month(text, date) FROM PUBLIC;
REVOKE ALL ON FUNCTION drop_log_month(text, uuid, boolean) FROM PUBLIC;
