-- The schema after all migrations, written by ops/dump-schema. To change it, add a migration and run that.

CREATE FUNCTION add_log_month(log text, month date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
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

COMMENT ON FUNCTION add_log_month(log text, month date) IS 'Adds the partition of a month to a log, from the end of the last one, and moves what there is of it; false if it has one.';

CREATE FUNCTION addresses_in(value jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT COALESCE(array_agg(DISTINCT lower(rtrim(found.found[1], '.-'::text))), '{}'::text[]) AS "coalesce" FROM regexp_matches(regexp_replace((addresses_in.value)::text, '\\(u....|.)'::text, ' '::text, 'g'::text), '[^\s"''<>(),:;[\]]+@[\w.-]+'::text, 'g'::text) found(found));

COMMENT ON FUNCTION addresses_in(value jsonb) IS 'Every email address that stands in a text somewhere in a value.';

CREATE FUNCTION begin_log_months(log text) RETURNS void
    LANGUAGE plpgsql
    AS $_$
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
$_$;

COMMENT ON FUNCTION begin_log_months(log text) IS 'Makes a table the first partition of a log of the same name, with the index <log>_key as its key; the foreign keys are added afterwards.';

CREATE FUNCTION billing_subscriptions_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO billing_cancellations (id, mode, due_at, created_at)
    VALUES (OLD.id, OLD.mode, '-infinity', now())
    ON CONFLICT (id) DO NOTHING;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION billing_subscriptions_deleted() IS 'Queues the end of a live subscription whose user, service or organization is deleted.';

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

COMMENT ON FUNCTION bound_log(log text) IS 'Adds the constraint that makes a table the first partition of its log: all ids are before a month that is to come.';

CREATE FUNCTION check_customer(of_organization uuid, of_customer uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Another transaction may be at the row of a customer that it has noted, so only one of this transaction counts.
    INSERT INTO customer_user_checks (id, organization_id, customer_id, created_at)
    VALUES (md5(concat_ws(' ', of_customer, pg_current_xact_id()))::uuid, of_organization, of_customer, clock_timestamp())
    ON CONFLICT (id) DO NOTHING;
END
$$;

COMMENT ON FUNCTION check_customer(of_organization uuid, of_customer uuid) IS 'Notes that the vendor of a customer may have to be told of many of its people.';

CREATE FUNCTION check_customer_user(of_organization uuid, of_user uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    of_organization := coalesce((SELECT c.organization_id
                                 FROM   organizations i
                                 JOIN   service_customers c ON c.id = i.internal_of
                                 WHERE  i.id = of_organization), of_organization);
    -- A transaction that changes a person several times, as provisioning does, notes that once.
    INSERT INTO customer_user_checks (id, organization_id, user_id, created_at)
    VALUES (md5(concat_ws(' ', of_organization, of_user, pg_current_xact_id()))::uuid, of_organization, of_user,
            clock_timestamp())
    ON CONFLICT (id) DO NOTHING;
END
$$;

COMMENT ON FUNCTION check_customer_user(of_organization uuid, of_user uuid) IS 'Notes that vendors may have to be told of a person of a customer.';

CREATE FUNCTION connections_of_customers_required() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Those of its mail domains are individuals no longer, and its people may have to sign in by its connection.
    PERFORM recheck_customer(service_id, NULL, 'connection') FROM service_customers WHERE organization_id = NEW.organization_id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION connections_of_customers_required() IS 'Notes that a customer has proved a mail domain, or requires its connection.';

CREATE FUNCTION customer_assignments_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM recheck_customer(c.service_id, c.id, 'unassigned')
    FROM    service_customers c
    WHERE   c.id IN (SELECT customer_id FROM removed) AND c.access = 'assigned';
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION customer_assignments_removed() IS 'Notes that a customer assigns a service to fewer people.';

CREATE FUNCTION customers_let_in_others() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer(c.organization_id, c.id)
    FROM    service_customers c
    WHERE   c.id IN (SELECT customer_id FROM changed) AND c.accepted_at IS NOT NULL;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION customers_let_in_others() IS 'Notes that customers assign a service otherwise.';

CREATE FUNCTION customers_show_others() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.organization_id IS NOT NULL THEN
        PERFORM check_customer(NEW.organization_id, NEW.id);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION customers_show_others() IS 'Notes that a customer lets in others, or shares its directory or not.';

CREATE FUNCTION directory_group_members_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE directory_groups AS g
    SET    members = g.members + counted.members, changes = g.changes + 1
    FROM   (SELECT group_id, count(*) AS members FROM added GROUP BY group_id) AS counted
    WHERE  g.id = counted.group_id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION directory_group_members_added() IS 'Counts new members of groups.';

CREATE FUNCTION directory_group_members_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- In this order, because accounts of one organization may be deleted at once.
    PERFORM FROM directory_groups WHERE id IN (SELECT group_id FROM removed) ORDER BY id FOR NO KEY UPDATE;
    UPDATE directory_groups AS g
    SET    members = g.members - gone.members, changes = g.changes + 1, updated_at = greatest(g.updated_at, now())
    FROM   (SELECT group_id, count(*) AS members FROM removed GROUP BY group_id) AS gone
    WHERE  g.id = gone.group_id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION directory_group_members_removed() IS 'Counts members of groups who are gone.';

CREATE FUNCTION domain_routes_made_for() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.made_for := (SELECT internal_of FROM organizations WHERE id = NEW.organization_id);
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION domain_routes_made_for() IS 'Finds the customer record for which a vendor has a mail domain.';

CREATE FUNCTION drop_log_month(log text, before uuid, only_empty boolean) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
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

COMMENT ON FUNCTION drop_log_month(log text, before uuid, only_empty boolean) IS 'Drops the oldest partition of a log if all its ids are before that one, and returns its name. Its range goes to the first partition, which is always there.';

CREATE FUNCTION events_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM events WHERE organization_id = OLD.id;
    DELETE FROM event_positions WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION events_of_organization_deleted() IS 'Deletes the events of an organization with it.';

CREATE PROCEDURE fill_addresses_of_memberships()
    LANGUAGE plpgsql
    AS $$
DECLARE
    last_id uuid := '00000000-0000-0000-0000-000000000000';
    ids     uuid[];
BEGIN
    LOOP
        ids := ARRAY(SELECT id FROM memberships WHERE id > last_id ORDER BY id LIMIT 5000);
        EXIT WHEN cardinality(ids) = 0;
        -- The accounts are locked first, as a change of an address does.
        WITH unfilled AS MATERIALIZED (
            SELECT   m.id, u.email
            FROM     memberships m
            JOIN     users u ON u.id = m.user_id
            WHERE    m.id = ANY (ids) AND m.member_email IS NULL
            ORDER BY u.id
            FOR KEY SHARE OF u)
        UPDATE memberships m SET member_email = f.email FROM unfilled f WHERE m.id = f.id;
        last_id := ids[cardinality(ids)];
        -- No change of a member waits longer than for one batch.
        COMMIT;
    END LOOP;
END
$$;

COMMENT ON PROCEDURE fill_addresses_of_memberships() IS 'Fills in the addresses of members, batch by batch, for the next migration; of no use after it.';

CREATE FUNCTION first_id_at(moment timestamp with time zone) RETURNS uuid
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN ((lpad(to_hex((GREATEST(floor((EXTRACT(epoch FROM moment) * (1000)::numeric)), (0)::numeric))::bigint), 12, '0'::text) || repeat('0'::text, 20)))::uuid;

COMMENT ON FUNCTION first_id_at(moment timestamp with time zone) IS 'The lowest id that a row of this moment can have.';

CREATE FUNCTION follow_customer(of_customer uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- First locked, so that of two changes at once the later one sees what the other has changed.
    PERFORM FROM organizations WHERE internal_of = of_customer FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE organizations i
    SET    status = x.status, suspended_at = CASE WHEN x.status = 'suspended' THEN clock_timestamp() END
    FROM   (SELECT CASE WHEN c.accepted_at IS NOT NULL AND c.vendor_paused_at IS NULL AND c.customer_paused_at IS NULL
                         AND vo.status = 'active'
                         AND (co.status = 'active' OR (c.is_made AND co.status = 'pending'))
                        THEN 'active' ELSE 'suspended' END AS status
            FROM      service_customers c
            JOIN      organizations vo ON vo.id = c.vendor_id
            LEFT JOIN organizations co ON co.id = c.organization_id
            WHERE     c.id = of_customer) AS x
    WHERE  i.internal_of = of_customer AND i.status <> x.status;
END
$$;

COMMENT ON FUNCTION follow_customer(of_customer uuid) IS 'Opens or closes what a vendor has made for a customer, as its record and both organizations are now.';

CREATE FUNCTION groups_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer_user(x.organization_id, x.user_id)
    FROM    (SELECT DISTINCT changed.organization_id, changed.user_id
             FROM   changed
             JOIN   customer_assignments a ON a.organization_id = changed.organization_id
                                          AND a.group_id = changed.group_id) AS x;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION groups_of_customers_changed() IS 'Notes that people came to a group that a customer assigns, or left it.';

CREATE FUNCTION groups_of_customers_raised() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer_user(x.organization_id, x.user_id)
    FROM    (SELECT DISTINCT changed.organization_id, changed.user_id
             FROM   changed
             JOIN   before ON before.group_id = changed.group_id AND before.user_id = changed.user_id
                          AND before.gives_products <> changed.gives_products
             JOIN   customer_assignments a ON a.organization_id = changed.organization_id
                                          AND a.group_id = changed.group_id) AS x;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION groups_of_customers_raised() IS 'Notes that people are in a group by the word of a maker that may give what a customer assigns to it.';

CREATE FUNCTION groups_of_organization(organization_id uuid, groups text[]) RETURNS bigint[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT COALESCE(array_agg(hashtextextended(letters.letters, uuid_hash_extended(groups_of_organization.organization_id, (0)::bigint))), '{}'::bigint[]) AS "coalesce" FROM unnest(groups_of_organization.groups) letters(letters));

COMMENT ON FUNCTION groups_of_organization(organization_id uuid, groups text[]) IS 'Groups of letters as an index has them that finds them in one organization alone.';

CREATE FUNCTION internal_organizations_follow() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_TABLE_NAME = 'service_customers' THEN
        PERFORM follow_customer(NEW.id);
    ELSE
        PERFORM follow_customer(c.id)
        FROM    service_customers c
        WHERE   (c.vendor_id = NEW.id OR c.organization_id = NEW.id)
          AND   EXISTS (SELECT FROM organizations i WHERE i.internal_of = c.id);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION internal_organizations_follow() IS 'Keeps internal organizations open exactly while their customers are.';

CREATE FUNCTION is_of_customer(organization uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    -- An organization that is being deleted is none any more.
    RETURN EXISTS (SELECT FROM service_customers c
                   JOIN   organizations o ON o.id = c.organization_id
                   WHERE  c.organization_id = organization)
        OR EXISTS (SELECT FROM organizations i
                   JOIN   service_customers c ON c.id = i.internal_of AND c.accepted_at IS NOT NULL
                   WHERE  i.id = organization);
END
$$;

COMMENT ON FUNCTION is_of_customer(organization uuid) IS 'Whether an organization uses a service of another one, or admits people to it for one that does.';

CREATE FUNCTION known_ids_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE known_account_ids k
    SET    user_id = NULL
    WHERE  (k.organization_id, k.user_id) IN (SELECT organization_id, user_id FROM removed)
      AND  NOT EXISTS (SELECT FROM memberships m WHERE m.organization_id = k.organization_id AND m.user_id = k.user_id)
      AND  NOT EXISTS (SELECT FROM service_users l WHERE l.organization_id = k.organization_id AND l.user_id = k.user_id);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION known_ids_ended() IS 'Ends the id by which an organization knows a user whom it has no more.';

CREATE FUNCTION known_ids_given() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- An account whose id is that of another user there gets one of its own.
    INSERT INTO known_account_ids (organization_id, known_id, user_id)
    SELECT k.organization_id, gen_random_uuid(), k.known_id
    FROM   known_account_ids k
    WHERE  (k.organization_id, k.known_id) IN (SELECT organization_id, user_id FROM added)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION known_ids_given() IS 'Gives an account another id in an organization that knows another user by the id of the account.';

CREATE FUNCTION lapse_deactivations(of_organization_id uuid, of_domain text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE users
    SET    deactivated_at = NULL, deactivated_by_organization_id = NULL, email_verified_at = NULL
    WHERE  deactivated_by_organization_id = of_organization_id AND anonymized_at IS NULL
      AND  split_part(email, '@', 2) = coalesce(of_domain, split_part(email, '@', 2));
    UPDATE users
    SET    disowned_at = NULL, disowned_by_organization_id = NULL
    WHERE  disowned_by_organization_id = of_organization_id
      AND  split_part(email, '@', 2) = coalesce(of_domain, split_part(email, '@', 2));
END
$$;

COMMENT ON FUNCTION lapse_deactivations(of_organization_id uuid, of_domain text) IS 'Ends what an organization has decided about accounts of a mail domain; null stands for all its domains.';

CREATE FUNCTION letter_groups(value text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
BEGIN
    RETURN ARRAY(SELECT DISTINCT substr(value, n, 3) FROM generate_series(1, length(value) - 2) AS n);
END
$$;

COMMENT ON FUNCTION letter_groups(value text) IS 'Every three letters that stand side by side in a text.';

CREATE FUNCTION log_partition_bytes(part text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $_$
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
$_$;

COMMENT ON FUNCTION log_partition_bytes(part text) IS 'The size of the rows of a partition, wherever they lie.';

CREATE FUNCTION log_rows_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM webhook_deliveries WHERE organization_id = OLD.id;
    DELETE FROM webhook_attempts WHERE organization_id = OLD.id;
    DELETE FROM scim_log_entries WHERE organization_id = OLD.id;
    DELETE FROM audit_entries WHERE organization_id = OLD.id;
    DELETE FROM audit_seals WHERE organization_id = OLD.id;
    INSERT INTO ended_log_owners (organization_id, webhook_id)
    VALUES (OLD.id, '00000000-0000-0000-0000-000000000000')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION log_rows_of_organization_deleted() IS 'Deletes what the logs have of an organization that is deleted, and remembers it for what is being written.';

CREATE FUNCTION log_rows_of_webhook_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- The deletion of an organization deletes those of all its webhooks.
    IF EXISTS (SELECT FROM organizations WHERE id = OLD.organization_id) THEN
        DELETE FROM webhook_deliveries WHERE organization_id = OLD.organization_id AND webhook_id = OLD.id;
        DELETE FROM webhook_attempts WHERE organization_id = OLD.organization_id AND webhook_id = OLD.id;
        INSERT INTO ended_log_owners (organization_id, webhook_id) VALUES (OLD.organization_id, OLD.id)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION log_rows_of_webhook_deleted() IS 'Deletes the deliveries of a webhook that is deleted, with their attempts, and remembers it for what is being written.';

CREATE FUNCTION login_events_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM login_events WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION login_events_of_organization_deleted() IS 'Deletes the sign-ins to an organization that is deleted.';

CREATE FUNCTION login_events_of_service_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE login_events SET service_id = NULL WHERE organization_id = OLD.organization_id AND service_id = OLD.id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION login_events_of_service_deleted() IS 'Takes a service that is deleted out of the sign-ins to it.';

CREATE FUNCTION login_events_of_users_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    ids uuid[] := ARRAY(SELECT id FROM removed);
BEGIN
    IF cardinality(ids) > 0 THEN
        DELETE FROM login_events WHERE user_id = ANY (ids);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION login_events_of_users_deleted() IS 'Deletes the sign-ins of accounts that are deleted.';

CREATE FUNCTION mail_domain_lost() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM lapse_deactivations(OLD.organization_id, OLD.domain);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION mail_domain_lost() IS 'Ends what an organization has decided about accounts of a mail domain that is no longer its own.';

CREATE FUNCTION mails_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- First: it waits for transactions that write mails.
    DELETE FROM mail_dues WHERE organization_id = OLD.id;
    DELETE FROM mails WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION mails_of_organization_deleted() IS 'Deletes the mails of an organization with it.';

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

COMMENT ON FUNCTION make_log_partition(part text, model text, grants aclitem[], remark text) IS 'Makes a table like a partition of a log, to be attached to it; the grants are those that are given beside the default ones.';

CREATE FUNCTION mark_due(of_organization_id uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    is_marked boolean;
BEGIN
    LOOP
        SELECT events AND entries INTO is_marked FROM log_dues WHERE organization_id = of_organization_id FOR KEY SHARE;
        EXIT WHEN FOUND;
        PERFORM FROM organizations WHERE id = of_organization_id FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE foreign_key_violation
                USING MESSAGE = 'a log refers to an organization that does not exist', TABLE = 'log_dues';
        END IF;
        INSERT INTO log_dues (organization_id) VALUES (of_organization_id) ON CONFLICT DO NOTHING;
    END LOOP;
    -- A mark that another transaction is setting at this moment is not waited for.
    IF NOT is_marked THEN
        UPDATE log_dues
        SET    events = true, entries = true, events_at = CASE WHEN events THEN events_at ELSE now() END
        WHERE  organization_id = (SELECT organization_id
                                  FROM   log_dues
                                  WHERE  organization_id = of_organization_id
                                  FOR    NO KEY UPDATE SKIP LOCKED);
    END IF;
END
$$;

CREATE FUNCTION mark_mails_due(of_organization_id uuid, at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    marked_at timestamptz;
BEGIN
    LOOP
        SELECT greatest(coalesce(queued_at, 'infinity'), coalesce(routed_at, 'infinity'))
        INTO   marked_at
        FROM   mail_dues
        WHERE  organization_id = of_organization_id
        FOR    KEY SHARE;
        EXIT WHEN FOUND;
        PERFORM FROM organizations WHERE id = of_organization_id FOR KEY SHARE;
        IF NOT FOUND AND of_organization_id <> '00000000-0000-0000-0000-000000000000' THEN
            RAISE foreign_key_violation
                USING MESSAGE = 'a mail refers to an organization that does not exist', TABLE = 'mails';
        END IF;
        INSERT INTO mail_dues (organization_id, queued_at, routed_at) VALUES (of_organization_id, at, at) ON CONFLICT DO NOTHING;
    END LOOP;
    -- A time that another transaction is setting at this moment is not waited for.
    IF marked_at > at THEN
        UPDATE mail_dues
        SET    queued_at = least(queued_at, at), routed_at = least(routed_at, at)
        WHERE  organization_id = (SELECT organization_id
                                  FROM   mail_dues
                                  WHERE  organization_id = of_organization_id
                                  FOR    NO KEY UPDATE SKIP LOCKED);
    END IF;
END
$$;

CREATE FUNCTION members_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND is_of_customer(OLD.organization_id) THEN
        PERFORM check_customer_user(OLD.organization_id, OLD.user_id);
    END IF;
    IF TG_OP <> 'DELETE' AND (TG_OP = 'INSERT' OR NEW.user_id <> OLD.user_id) AND is_of_customer(NEW.organization_id) THEN
        PERFORM check_customer_user(NEW.organization_id, NEW.user_id);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION members_of_customers_changed() IS 'Notes that a person has become a member of a customer, has changed there, or is none any more.';

CREATE FUNCTION membership_totals_added() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO membership_totals AS total (organization_id, members, changes, changed_at)
    SELECT   added.organization_id, count(*), 1, max(added.created_at)
    FROM     added
    GROUP BY added.organization_id
    ORDER BY added.organization_id
    ON CONFLICT (organization_id) DO UPDATE
    SET members = total.members + excluded.members, changes = total.changes + 1,
        changed_at = greatest(total.changed_at, excluded.changed_at);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION membership_totals_added() IS 'Counts new members.';

CREATE FUNCTION membership_totals_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE membership_totals AS total
    SET    members = total.members - gone.members, changes = total.changes + 1,
           changed_at = greatest(total.changed_at, now())
    FROM   (SELECT organization_id, count(*) AS members FROM removed GROUP BY organization_id) AS gone
    WHERE  total.organization_id = gone.organization_id;
    DELETE FROM membership_totals
    WHERE  organization_id IN (SELECT organization_id FROM removed)
      AND  NOT EXISTS (SELECT FROM organizations o WHERE o.id = membership_totals.organization_id);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION membership_totals_removed() IS 'Counts members who are gone.';

CREATE FUNCTION memberships_email() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Locked, because the address may be changed or the account deleted at this moment.
    SELECT email INTO NEW.member_email FROM users WHERE id = NEW.user_id FOR KEY SHARE;
    -- Without an account the foreign key refuses the row, and not the column, so that the transaction is repeated.
    NEW.member_email := coalesce(NEW.member_email, '');
    NEW.made_for := (SELECT internal_of FROM organizations WHERE id = NEW.organization_id);
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION memberships_email() IS 'Finds the address of the account that becomes a member.';

CREATE FUNCTION organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM lapse_deactivations(OLD.id, NULL);
    RETURN OLD;
END
$$;

COMMENT ON FUNCTION organization_deleted() IS 'Ends what an organization has decided about accounts.';

CREATE FUNCTION organizations_joined() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE organizations
    SET    had_other_members = true
    WHERE  id IN (SELECT organization_id FROM added WHERE role <> 'owner') AND NOT had_other_members;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION organizations_joined() IS 'Notes that an organization has had a member besides its founder.';

CREATE FUNCTION organizations_of_customers_closed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM recheck_customer(service_id, id, 'organization') FROM service_customers WHERE organization_id = NEW.id;
    PERFORM recheck_customer(id, NULL, 'vendor') FROM services WHERE organization_id = NEW.id AND customers <> 'none';
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION organizations_of_customers_closed() IS 'Notes that a vendor or a customer is active no longer.';

CREATE FUNCTION password_decoy(hash text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (hash ~ '[$]2[aby][$][0-9][0-9][$]'::text) THEN ("left"(hash, '-53'::integer) || repeat('.'::text, 53)) WHEN (hash ~~ 'scrypt$%'::text) THEN ((((((((('scrypt$'::text || split_part(hash, '$'::text, 2)) || '$'::text) || repeat('A'::text, 22)) || '$'::text) || split_part(hash, '$'::text, 4)) || '$'::text) || split_part(hash, '$'::text, 5)) || '$'::text) || regexp_replace(split_part(hash, '$'::text, 6), '[^=]'::text, 'A'::text, 'g'::text)) ELSE (((("substring"(hash, '^(.*)[$][^$]*[$][^$]*$'::text) || '$'::text) || repeat('A'::text, 22)) || '$'::text) || regexp_replace("substring"(hash, '[^$]*$'::text), '[^=]'::text, 'A'::text, 'g'::text)) END;

COMMENT ON FUNCTION password_decoy(hash text) IS 'A hash that costs as much to compare and matches no password.';

CREATE FUNCTION people_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Vendors see people who have confirmed that they are members, so that nobody else adds to what is noted here, and
    -- those whom they admit themselves.
    PERFORM check_customer_user(m.organization_id, m.user_id)
    FROM    memberships m
    WHERE   m.user_id = NEW.id AND (m.confirmed_at IS NOT NULL OR m.made_for IS NOT NULL)
      AND   is_of_customer(m.organization_id);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION people_of_customers_changed() IS 'Notes that a person has another name, or an account that is closed or opened.';

CREATE FUNCTION plans_priced() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    sold bigint;
    overdue bigint;
BEGIN
    SELECT count(*), count(*) FILTER (WHERE status = 'past_due') INTO sold, overdue
    FROM   subscriptions
    WHERE  service_id = NEW.service_id AND plan_id = NEW.id AND status IN ('active', 'past_due');
    IF sold = 0 THEN
        RETURN NULL;
    END IF;
    IF NEW.currency = OLD.currency THEN
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, kind, live, late, cents, currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.id, 'priced', 0, 0,
                sold * (NEW.price_cents - OLD.price_cents), NEW.currency, NEW.updated_at);
    ELSE
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, kind, live, late, cents, currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.id, 'priced', -sold, -overdue, -sold * OLD.price_cents,
                OLD.currency, NEW.updated_at),
               (NEW.organization_id, NEW.service_id, NEW.id, 'priced', sold, overdue, sold * NEW.price_cents,
                NEW.currency, NEW.updated_at);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION plans_priced() IS 'Records what the new price of a plan changes for its subscriptions.';

CREATE FUNCTION platform_event_waits(since timestamp with time zone, first_id uuid) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $_$
DECLARE
    found timestamptz;
BEGIN
    EXECUTE $statement$
        SELECT   occurred_at
        FROM     events
        WHERE    organization_id = '00000000-0000-0000-0000-000000000000' AND position = 0
        AND      occurred_at > $1 AND id >= $2
        ORDER BY occurred_at, id
        LIMIT    1
    $statement$ INTO found USING since, first_id;
    RETURN found;
END
$_$;

COMMENT ON FUNCTION platform_event_waits(since timestamp with time zone, first_id uuid) IS 'Since when an event of the platform itself waits for its position; null when none does.';

CREATE FUNCTION recheck_customer(of_service uuid, of_customer uuid, because text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- One that this transaction has noted is read by none before all of its changes.
    INSERT INTO customer_rechecks (id, service_id, customer_id, reason, created_at)
    SELECT gen_random_uuid(), of_service, of_customer, because, now()
    WHERE  NOT EXISTS (SELECT FROM customer_rechecks
                       WHERE  service_id = of_service AND customer_id IS NOT DISTINCT FROM of_customer
                         AND  after_session IS NULL AND xmin = pg_current_xact_id()::xid);
END
$$;

COMMENT ON FUNCTION recheck_customer(of_service uuid, of_customer uuid, because text) IS 'Notes that sessions of a customer, or of a whole service, may be open no longer.';

CREATE FUNCTION roles_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO customer_user_checks (id, organization_id, service_id, created_at)
    VALUES (gen_random_uuid(), NEW.organization_id, NEW.id, clock_timestamp());
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION roles_of_customers_changed() IS 'Notes that a service with customers has other roles.';

CREATE FUNCTION scim_tokens_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- The tokens of an organization are deleted after it.
    INSERT INTO directory_ends (organization_id, ended_at)
    SELECT OLD.organization_id, now() WHERE EXISTS (SELECT FROM organizations WHERE id = OLD.organization_id)
    ON CONFLICT (organization_id) DO UPDATE SET ended_at = excluded.ended_at;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION scim_tokens_removed() IS 'Notes when a directory lost a token with which it managed groups.';

CREATE FUNCTION service_assignments_removed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM recheck_customer(v.id, NULL, 'unassigned')
    FROM    services v
    WHERE   v.id IN (SELECT service_id FROM removed) AND v.access = 'assigned';
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION service_assignments_removed() IS 'Notes that an organization assigns a service of its own to fewer people.';

CREATE FUNCTION service_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.accepted_at IS NOT NULL THEN
            PERFORM recheck_customer(OLD.service_id, OLD.id, 'ended');
        END IF;
    ELSIF NEW.accepted_at IS NOT NULL THEN
        IF TG_OP = 'INSERT' OR OLD.accepted_at IS NULL THEN
            -- Its people are individuals no longer.
            PERFORM recheck_customer(NEW.service_id, NULL, 'begun');
        ELSIF (OLD.vendor_paused_at, OLD.customer_paused_at, OLD.access)
              IS DISTINCT FROM (NEW.vendor_paused_at, NEW.customer_paused_at, NEW.access) THEN
            PERFORM recheck_customer(NEW.service_id, NEW.id, 'changed');
        END IF;
    ELSIF TG_OP = 'UPDATE' AND OLD.accepted_at IS NOT NULL THEN
        PERFORM recheck_customer(NEW.service_id, NEW.id, 'ended');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION service_customers_changed() IS 'Notes that a customer has begun, has changed or has ended.';

CREATE FUNCTION service_user_metadata_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Locked, so that of two links that end at once the second one sees that the first one has gone.
    PERFORM FROM service_user_metadata
    WHERE    user_id IN (SELECT user_id FROM removed)
    ORDER BY service_id, user_id
    FOR      UPDATE;
    IF FOUND THEN
        DELETE FROM service_user_metadata d
        WHERE  d.user_id IN (SELECT user_id FROM removed)
          AND  NOT EXISTS (SELECT FROM service_users l WHERE l.service_id = d.service_id AND l.user_id = d.user_id)
          AND  NOT EXISTS (SELECT
                           FROM   memberships m
                           JOIN   customer_users own  ON own.organization_id = m.organization_id AND own.user_id = m.user_id
                           JOIN   service_customers c ON c.id = own.customer_id
                           WHERE  m.user_id = d.user_id AND c.service_id = d.service_id);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION service_user_metadata_ended() IS 'Ends what services note about users who use them no more.';

CREATE FUNCTION service_user_metadata_moved() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    of_service_id uuid;
BEGIN
    IF TG_TABLE_NAME = 'service_users' THEN
        of_service_id := OLD.service_id;
    ELSE
        SELECT service_id INTO of_service_id FROM service_customers WHERE id = OLD.customer_id;
    END IF;
    UPDATE service_user_metadata d
    SET    user_id = NEW.user_id
    WHERE  d.service_id = of_service_id AND d.user_id = OLD.user_id
      AND  NOT EXISTS (SELECT FROM service_user_metadata o WHERE o.service_id = of_service_id AND o.user_id = NEW.user_id);
    IF NOT FOUND THEN
        -- What is noted about the other account stays. Of this one it has ended, where this was the last link.
        DELETE FROM service_user_metadata d
        WHERE  d.service_id = of_service_id AND d.user_id = OLD.user_id
          AND  NOT EXISTS (SELECT FROM service_users l WHERE l.service_id = of_service_id AND l.user_id = OLD.user_id)
          AND  NOT EXISTS (SELECT
                           FROM   memberships m
                           JOIN   customer_users own  ON own.organization_id = m.organization_id AND own.user_id = m.user_id
                           JOIN   service_customers c ON c.id = own.customer_id
                           WHERE  m.user_id = OLD.user_id AND c.service_id = of_service_id);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION service_user_metadata_moved() IS 'Moves what a service notes about a user along with the link to another account.';

CREATE FUNCTION service_users_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO service_user_changes (service_id, user_id, change) VALUES (NEW.service_id, NEW.user_id, 1);
    ELSE
        INSERT INTO service_user_changes (service_id, user_id, change) VALUES (OLD.service_id, OLD.user_id, -1);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION service_users_changed() IS 'Records that a service got or lost a user, to be counted later.';

CREATE FUNCTION service_users_email() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Locked, because the address may be changed or the account deleted at this moment.
    SELECT email INTO NEW.email FROM users WHERE id = NEW.user_id FOR KEY SHARE;
    -- Without an account the foreign key refuses the row, and not the column, so that the transaction is repeated.
    NEW.email := coalesce(NEW.email, '');
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION service_users_email() IS 'Finds the address of whoever is linked to a service.';

CREATE FUNCTION service_users_moved() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO service_user_changes (service_id, user_id, change)
    VALUES (OLD.service_id, OLD.user_id, -1), (NEW.service_id, NEW.user_id, 1);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION service_users_moved() IS 'Records that a link belongs to another account, for the numbers of users of services.';

CREATE FUNCTION services_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM recheck_customer(NEW.id, NULL, 'service');
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION services_of_customers_changed() IS 'Notes that a service may be open to fewer people.';

CREATE FUNCTION sessions_ended() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    ended_at timestamptz := NEW.revoked_at;
BEGIN
    INSERT INTO logout_notices (organization_id, service_id, session_id, user_id, next_retry_at, queued_at)
    SELECT organization_id, id, OLD.id, OLD.user_id, ended_at, ended_at
    FROM   services
    WHERE  id = OLD.service_id AND organization_id = OLD.organization_id AND backchannel_logout_uri IS NOT NULL;
    IF FOUND THEN
        INSERT INTO logout_queues AS queue (service_id, organization_id, due_at)
        VALUES (OLD.service_id, OLD.organization_id, ended_at)
        ON CONFLICT (service_id) DO UPDATE SET due_at = least(queue.due_at, excluded.due_at);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION sessions_ended() IS 'Queues a logout token for the service of a session that has ended.';

CREATE FUNCTION subscription_counts_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM subscription_changes WHERE organization_id = OLD.id;
    DELETE FROM subscription_days WHERE organization_id = OLD.id;
    -- In the order in which others add to them.
    PERFORM FROM currency_totals
    WHERE   currency IN (SELECT currency FROM subscription_totals WHERE organization_id = OLD.id)
    ORDER   BY currency
    FOR     UPDATE;
    UPDATE currency_totals c
    SET    live = c.live - t.live, late = c.late - t.late, cents = c.cents - t.cents
    FROM   subscription_totals t
    WHERE  t.organization_id = OLD.id AND t.currency = c.currency;
    DELETE FROM subscription_totals WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION subscription_counts_deleted() IS 'Deletes what an organization that is deleted has sold.';

CREATE FUNCTION subscriptions_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    was_live boolean := TG_OP <> 'INSERT' AND OLD.status IN ('active', 'past_due');
    is_live boolean := TG_OP <> 'DELETE' AND NEW.status IN ('active', 'past_due');
    was_late boolean := TG_OP <> 'INSERT' AND OLD.status = 'past_due';
    is_late boolean := TG_OP <> 'DELETE' AND NEW.status = 'past_due';
    is_moved boolean := TG_OP = 'UPDATE' AND OLD.plan_id <> NEW.plan_id;
    found record;
BEGIN
    IF was_live AND (is_moved OR NOT is_live) THEN
        -- With its organization everything goes.
        IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM organizations WHERE id = OLD.organization_id) THEN
            RETURN NULL;
        END IF;
        -- A price that changes at this moment is either seen here, or this change is seen there.
        SELECT * INTO found FROM plans WHERE id = OLD.plan_id FOR SHARE;
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, user_id, kind, live, late, cents,
                                          currency, at)
        VALUES (OLD.organization_id, OLD.service_id, OLD.plan_id, OLD.user_id,
                CASE WHEN is_live THEN 'moved_out' ELSE 'ended' END, -1, -was_late::integer,
                -coalesce(found.price_cents, 0), coalesce(found.currency, ''),
                CASE WHEN TG_OP = 'DELETE' THEN now() ELSE NEW.updated_at END);
    END IF;
    IF is_live AND (is_moved OR NOT was_live) THEN
        SELECT * INTO found FROM plans WHERE id = NEW.plan_id FOR SHARE;
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, user_id, kind, live, late, cents,
                                          currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.plan_id, NEW.user_id,
                CASE WHEN was_live THEN 'moved_in' ELSE 'begun' END, 1, is_late::integer, found.price_cents,
                found.currency, NEW.updated_at);
    ELSIF is_live AND was_late <> is_late THEN
        SELECT * INTO found FROM plans WHERE id = NEW.plan_id;
        INSERT INTO subscription_changes (organization_id, service_id, plan_id, user_id, kind, live, late, cents,
                                          currency, at)
        VALUES (NEW.organization_id, NEW.service_id, NEW.plan_id, NEW.user_id,
                CASE WHEN is_late THEN 'late' ELSE 'settled' END, 0, is_late::integer - was_late::integer, 0,
                found.currency, NEW.updated_at);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION subscriptions_changed() IS 'Records what a change of a subscription changes of what is sold.';

CREATE FUNCTION user_anonymized() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO platform_audit_entries (id, action, target_type, target_id, ip_address, user_agent, success, details, created_at)
    SELECT NEW.id, NEW.event_type, 'user', NEW.user_id::text, '0.0.0.0', 'anonymized', true, '{}', NEW.created_at
    WHERE  NOT EXISTS (SELECT FROM platform_audit_entries
                       WHERE  target_type = 'user' AND target_id = NEW.user_id::text AND action = NEW.event_type);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION user_anonymized() IS 'Adds an anonymization to the log of the platform, where a process of an earlier version has not.';

CREATE FUNCTION user_claimed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.unproved_since := NULL;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION user_claimed() IS 'Keeps an account whose address is proved, also after the proof is lost again.';

CREATE FUNCTION user_given_something() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE users SET unproved_since = NULL WHERE id = NEW.user_id AND unproved_since IS NOT NULL;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION user_given_something() IS 'Keeps an account that ever had a membership or used a service: logs name it.';

CREATE FUNCTION user_recounted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO user_count_changes (active_users, mfa_users)
    VALUES ((NEW.deactivated_at IS NULL)::integer - (OLD.deactivated_at IS NULL)::integer,
            (NEW.deactivated_at IS NULL AND NEW.mfa_enabled_at IS NOT NULL)::integer
            - (OLD.deactivated_at IS NULL AND OLD.mfa_enabled_at IS NOT NULL)::integer);
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION user_recounted() IS 'Records that an account is in use again or no more, or has a second factor or none.';

CREATE FUNCTION users_counted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO user_count_changes (active_users, mfa_users)
        SELECT count(*), count(mfa_enabled_at) FROM changed WHERE deactivated_at IS NULL HAVING count(*) > 0;
    ELSE
        INSERT INTO user_count_changes (active_users, mfa_users)
        SELECT -count(*), -count(mfa_enabled_at) FROM changed WHERE deactivated_at IS NULL HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION users_counted() IS 'Records how many accounts in use a statement made or deleted.';

CREATE SEQUENCE passkey_challenge_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE SEQUENCE recent_act_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE active_days (
    user_id uuid NOT NULL,
    scope uuid NOT NULL,
    day date NOT NULL
)
WITH (autovacuum_vacuum_insert_scale_factor='0.01', autovacuum_vacuum_scale_factor='0.02');
COMMENT ON TABLE active_days IS 'On which of the last days a user signed in, so that each is counted once; deleted when no window contains them.';
COMMENT ON COLUMN active_days.scope IS 'An organization, or zero for the whole platform; no reference, because the rows go soon.';
ALTER TABLE ONLY active_days
    ADD CONSTRAINT active_days_pkey PRIMARY KEY (user_id, scope, day);
CREATE INDEX active_days_of_scope ON active_days USING btree (day, scope, user_id);

CREATE TABLE active_user_changes (
    organization_id uuid NOT NULL,
    day date NOT NULL,
    users bigint NOT NULL,
    week_change bigint NOT NULL,
    month_change bigint NOT NULL
);
COMMENT ON TABLE active_user_changes IS 'How many users signed in to an organization on a day.';
COMMENT ON COLUMN active_user_changes.week_change IS 'Those active in the seven days that end here, less those of the seven days that end a day before.';
COMMENT ON COLUMN active_user_changes.month_change IS 'The same with thirty days.';
ALTER TABLE ONLY active_user_changes
    ADD CONSTRAINT active_user_changes_pkey PRIMARY KEY (organization_id, day);

CREATE TABLE address_conflicts (
    organization_id uuid NOT NULL,
    occurred_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE address_conflicts IS 'When an organization learned that an address is taken; more than 20 an hour are refused.';
CREATE INDEX address_conflicts_ended ON address_conflicts USING btree (occurred_at);
CREATE INDEX address_conflicts_of_organization ON address_conflicts USING btree (organization_id, occurred_at);

CREATE TABLE api_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    key_hash bytea NOT NULL,
    permissions text[] NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    created_by uuid,
    made_by_key uuid
);
COMMENT ON TABLE api_keys IS 'Keys with which the backend of a service calls /api/service; stored as hashes.';
COMMENT ON COLUMN api_keys.made_by_key IS 'The key of the organization that made it; null for one that a person made.';
ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
CREATE INDEX api_keys_created_by ON api_keys USING btree (created_by) WHERE (created_by IS NOT NULL);
CREATE INDEX api_keys_made_by_key ON api_keys USING btree (made_by_key) WHERE (made_by_key IS NOT NULL);
CREATE INDEX api_keys_of_service ON api_keys USING btree (organization_id, service_id, created_at DESC, id DESC);
CREATE INDEX api_keys_prefix ON api_keys USING btree (prefix);

CREATE TABLE audit_chains (
    organization_id uuid NOT NULL,
    sealed_through bigint NOT NULL,
    head text NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    CONSTRAINT audit_chains_sealed_through_check CHECK ((sealed_through > 0))
);
COMMENT ON TABLE audit_chains IS 'The last position of each chain, and its hash.';
ALTER TABLE ONLY audit_chains
    ADD CONSTRAINT audit_chains_pkey PRIMARY KEY (organization_id);

CREATE TABLE audit_counting (
    is_the_only_row boolean DEFAULT true NOT NULL,
    counted_through uuid NOT NULL,
    CONSTRAINT audit_counting_is_the_only_row_check CHECK (is_the_only_row)
);
COMMENT ON TABLE audit_counting IS 'How far the audit log of everybody is counted; without a row, nothing of it.';
ALTER TABLE ONLY audit_counting
    ADD CONSTRAINT audit_counting_pkey PRIMARY KEY (is_the_only_row);

CREATE TABLE audit_entries (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    actor_user_id uuid,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    ip_address text,
    user_agent text,
    success boolean NOT NULL,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    "position" bigint,
    request_id text
)
PARTITION BY RANGE (id);
COMMENT ON TABLE audit_entries IS 'The audit log of each organization; kept indefinitely.';
COMMENT ON COLUMN audit_entries."position" IS 'The place in the chain of the organization: 1, 2, 3 …; null until the entry is sealed.';
COMMENT ON COLUMN audit_entries.request_id IS 'The request that did it, as in the log of the service; null for background work and older entries. The chain does not cover it.';
ALTER TABLE ONLY audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX audit_entries_action ON ONLY audit_entries USING btree (organization_id, action, id DESC);
CREATE INDEX audit_entries_actor ON ONLY audit_entries USING btree (actor_user_id) WHERE (actor_user_id IS NOT NULL);
CREATE INDEX audit_entries_addresses ON ONLY audit_entries USING gin (addresses_in(details)) WHERE ((details)::text ~~ '%@%'::text);
CREATE INDEX audit_entries_ids ON ONLY audit_entries USING btree (id);
CREATE INDEX audit_entries_impersonator ON ONLY audit_entries USING btree (((details ->> 'impersonator_id'::text))) WHERE (details ? 'impersonator_id'::text);
CREATE INDEX audit_entries_ip_address ON ONLY audit_entries USING btree (organization_id, ip_address, id DESC) WHERE (ip_address IS NOT NULL);
CREATE INDEX audit_entries_positions ON ONLY audit_entries USING btree (organization_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX audit_entries_request ON ONLY audit_entries USING btree (organization_id, request_id, id DESC) WHERE (request_id IS NOT NULL);
CREATE INDEX audit_entries_target ON ONLY audit_entries USING btree (organization_id, target_type, target_id, id DESC) INCLUDE (action);
CREATE INDEX audit_entries_target_type ON ONLY audit_entries USING btree (organization_id, target_type, id DESC);
CREATE INDEX audit_entries_unsealed ON ONLY audit_entries USING btree (organization_id, created_at, id) WHERE ("position" IS NULL);
CREATE INDEX audit_entries_who ON ONLY audit_entries USING btree (organization_id, actor_user_id, id DESC) WHERE (actor_user_id IS NOT NULL);
CREATE INDEX audit_entries_without_user ON ONLY audit_entries USING btree (organization_id, COALESCE(('setup_link:'::text || (details ->> 'setup_link_id'::text)), ('api_key:'::text || (details ->> 'organization_key_id'::text)), 'system'::text), id DESC) WHERE (actor_user_id IS NULL);

CREATE TABLE audit_milestones (
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    entries bigint NOT NULL,
    entry_id uuid NOT NULL
);
COMMENT ON TABLE audit_milestones IS 'Now and then, how many audit entries of a kind there are up to one of them.';
ALTER TABLE ONLY audit_milestones
    ADD CONSTRAINT audit_milestones_pkey PRIMARY KEY (organization_id, kind, entries);

CREATE TABLE audit_sealing (
    is_the_only_row boolean DEFAULT true NOT NULL,
    last_organization_id uuid NOT NULL,
    last_of_old_months uuid,
    CONSTRAINT audit_sealing_is_the_only_row_check CHECK (is_the_only_row)
);
COMMENT ON TABLE audit_sealing IS 'The organization whose entries were sealed last; the next one in the order of the ids has its turn.';
COMMENT ON COLUMN audit_sealing.last_of_old_months IS 'As last_organization_id, of the batches that seal old months; null before the first one.';
ALTER TABLE ONLY audit_sealing
    ADD CONSTRAINT audit_sealing_pkey PRIMARY KEY (is_the_only_row);

CREATE TABLE audit_seals (
    organization_id uuid NOT NULL,
    "position" bigint NOT NULL,
    entry_id uuid NOT NULL,
    hash text NOT NULL,
    digests jsonb NOT NULL,
    salts jsonb NOT NULL
);
COMMENT ON TABLE audit_seals IS 'The hash of each sealed entry, and the salted digests of its personal fields. It refers to no entry, so that it shows which one was deleted.';
COMMENT ON COLUMN audit_seals.salts IS 'A field that was anonymized has no salt any more; its digest stays.';
ALTER TABLE ONLY audit_seals
    ADD CONSTRAINT audit_seals_pkey PRIMARY KEY (organization_id, "position");

CREATE TABLE audit_totals (
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    entries bigint NOT NULL
);
COMMENT ON TABLE audit_totals IS 'How many audit entries there are up to the one that audit_counting names.';
COMMENT ON COLUMN audit_totals.kind IS 'An action, a target type, or nothing for all.';
ALTER TABLE ONLY audit_totals
    ADD CONSTRAINT audit_totals_pkey PRIMARY KEY (organization_id, kind);

CREATE TABLE authorization_codes (
    code_hash bytea NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    session_id uuid NOT NULL,
    redirect_uri text NOT NULL,
    scopes text[] NOT NULL,
    audience text,
    nonce text,
    code_challenge text,
    key_thumbprint text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    host text,
    used_at timestamp with time zone,
    requested_claims jsonb
);
COMMENT ON TABLE authorization_codes IS 'Codes that a browser carries to a service; each is exchanged for tokens once.';
COMMENT ON COLUMN authorization_codes.requested_claims IS 'What the parameter claims has asked for (OpenID Connect Core, 5.5); null for nothing.';
ALTER TABLE ONLY authorization_codes
    ADD CONSTRAINT authorization_codes_pkey PRIMARY KEY (code_hash);
CREATE INDEX authorization_codes_ended ON authorization_codes USING btree (expires_at);
CREATE INDEX authorization_codes_of_service ON authorization_codes USING btree (organization_id, service_id);
CREATE INDEX authorization_codes_of_session ON authorization_codes USING btree (session_id);

CREATE TABLE authorization_requests (
    id_hash bytea NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    is_pushed boolean NOT NULL,
    parameters jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    opened_at timestamp with time zone
);
COMMENT ON TABLE authorization_requests IS 'Requests that a service has pushed (RFC 9126), or that wait while their user signs in or answers a question.';
COMMENT ON COLUMN authorization_requests.opened_at IS 'When a browser first brought the reference of a pushed request; from then on it lives as the sign-in does.';
ALTER TABLE ONLY authorization_requests
    ADD CONSTRAINT authorization_requests_pkey PRIMARY KEY (id_hash);
CREATE INDEX authorization_requests_ended ON authorization_requests USING btree (expires_at);
CREATE INDEX authorization_requests_of_service ON authorization_requests USING btree (organization_id, service_id);

CREATE TABLE backup_codes (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);
COMMENT ON TABLE backup_codes IS 'Ten codes for when the second factor is lost; each is used once.';
ALTER TABLE ONLY backup_codes
    ADD CONSTRAINT backup_codes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY backup_codes
    ADD CONSTRAINT backup_codes_user_id_code_hash_key UNIQUE (user_id, code_hash);

CREATE TABLE billing_cancellations (
    id text NOT NULL,
    mode text NOT NULL,
    due_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT billing_cancellations_mode_check CHECK ((mode = ANY (ARRAY['sandbox'::text, 'test'::text, 'live'::text])))
);
COMMENT ON TABLE billing_cancellations IS 'Subscriptions that the provider has to end, because what they were bought for is gone.';
COMMENT ON COLUMN billing_cancellations.due_at IS 'When the provider is asked; null once it has ended the subscription.';
ALTER TABLE ONLY billing_cancellations
    ADD CONSTRAINT billing_cancellations_pkey PRIMARY KEY (id);
CREATE INDEX billing_cancellations_created ON billing_cancellations USING btree (created_at);
CREATE INDEX billing_cancellations_due ON billing_cancellations USING btree (mode, due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE billing_checkouts (
    id uuid NOT NULL,
    mode text NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    user_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    price_id text NOT NULL,
    success_url text NOT NULL,
    cancel_url text NOT NULL,
    session_id text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT billing_checkouts_mode_check CHECK ((mode = ANY (ARRAY['sandbox'::text, 'test'::text, 'live'::text])))
);
COMMENT ON TABLE billing_checkouts IS 'Checkouts that were started; one without a session is repeated under the same key after a crash.';
ALTER TABLE ONLY billing_checkouts
    ADD CONSTRAINT billing_checkouts_pkey PRIMARY KEY (id);
CREATE INDEX billing_checkouts_created ON billing_checkouts USING btree (created_at);
CREATE INDEX billing_checkouts_of_service ON billing_checkouts USING btree (organization_id, service_id);
CREATE INDEX billing_checkouts_of_user ON billing_checkouts USING btree (user_id);
CREATE INDEX billing_checkouts_unfinished ON billing_checkouts USING btree (user_id, plan_id) WHERE (session_id IS NULL);

CREATE TABLE billing_customers (
    id text NOT NULL,
    mode text NOT NULL,
    organization_id uuid,
    name text,
    email text,
    profile_event_id text,
    profile_at timestamp with time zone,
    default_payment_method text,
    deleted_at timestamp with time zone,
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    seller_organization_id uuid,
    service_id uuid,
    user_id uuid,
    CONSTRAINT billing_customers_mode_check CHECK ((mode = ANY (ARRAY['sandbox'::text, 'test'::text, 'live'::text]))),
    CONSTRAINT billing_customers_of_user_check CHECK (((num_nonnulls(seller_organization_id, service_id, user_id) = 0) OR ((num_nonnulls(seller_organization_id, service_id, user_id) = 3) AND (organization_id IS NULL))))
);
COMMENT ON TABLE billing_customers IS 'Customers at the payment provider; organization_id is null until an event or a checkout names the organization.';
COMMENT ON COLUMN billing_customers.seller_organization_id IS 'The organization whose service an end user buys; then the customer is the end user, and organization_id is null.';
COMMENT ON COLUMN billing_customers.user_id IS 'The end user who is this customer, for the one service.';
ALTER TABLE ONLY billing_customers
    ADD CONSTRAINT billing_customers_pkey PRIMARY KEY (id);
CREATE INDEX billing_customers_email ON billing_customers USING btree (email) WHERE (email IS NOT NULL);
CREATE INDEX billing_customers_of_organization ON billing_customers USING btree (organization_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX billing_customers_of_seller ON billing_customers USING btree (seller_organization_id, service_id) WHERE (seller_organization_id IS NOT NULL);
CREATE INDEX billing_customers_of_user ON billing_customers USING btree (user_id) WHERE (user_id IS NOT NULL);
CREATE UNIQUE INDEX billing_customers_one ON billing_customers USING btree (organization_id, mode) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX billing_customers_one_of_user ON billing_customers USING btree (user_id, service_id, mode) WHERE ((user_id IS NOT NULL) AND (deleted_at IS NULL));

CREATE TABLE billing_events (
    id text NOT NULL,
    type text NOT NULL,
    effect text NOT NULL,
    billing_subscription_id text,
    billing_customer_id text,
    facts jsonb NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    is_noticed boolean DEFAULT false NOT NULL
);
COMMENT ON TABLE billing_events IS 'Events of the payment provider, each stored once, with the facts that a subscription or customer is computed from.';
COMMENT ON COLUMN billing_events.is_noticed IS 'Whether the mail that this event causes was queued.';
ALTER TABLE ONLY billing_events
    ADD CONSTRAINT billing_events_pkey PRIMARY KEY (id);
CREATE INDEX billing_events_of_customer ON billing_events USING btree (billing_customer_id, occurred_at) WHERE (billing_customer_id IS NOT NULL);
CREATE INDEX billing_events_of_subscription ON billing_events USING btree (billing_subscription_id, occurred_at) WHERE (billing_subscription_id IS NOT NULL);

CREATE TABLE billing_subscriptions (
    id text NOT NULL,
    customer_id text,
    mode text,
    organization_id uuid,
    service_id uuid,
    user_id uuid,
    plan_id uuid,
    outcome text NOT NULL,
    read_facts jsonb,
    read_as_of timestamp with time zone,
    check_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT billing_subscriptions_mode_check CHECK ((mode = ANY (ARRAY['sandbox'::text, 'test'::text, 'live'::text]))),
    CONSTRAINT billing_subscriptions_outcome_check CHECK ((outcome = ANY (ARRAY['parked'::text, 'applied'::text, 'conflict'::text])))
);
COMMENT ON TABLE billing_subscriptions IS 'What billing knows of a subscription; parked until an event tells to which organization, service and user it belongs.';
COMMENT ON COLUMN billing_subscriptions.plan_id IS 'The plan that was bought; it holds while no plan has the price.';
COMMENT ON COLUMN billing_subscriptions.read_facts IS 'The subscription as it was last read from the provider, at read_as_of by the clock of the provider.';
ALTER TABLE ONLY billing_subscriptions
    ADD CONSTRAINT billing_subscriptions_pkey PRIMARY KEY (id);
CREATE INDEX billing_subscriptions_due ON billing_subscriptions USING btree (check_at) WHERE (check_at IS NOT NULL);
CREATE INDEX billing_subscriptions_of_customer ON billing_subscriptions USING btree (customer_id, check_at);
CREATE INDEX billing_subscriptions_of_service ON billing_subscriptions USING btree (organization_id, service_id);
CREATE INDEX billing_subscriptions_of_user ON billing_subscriptions USING btree (user_id, service_id);
CREATE TRIGGER billing_subscriptions_deleted AFTER DELETE ON billing_subscriptions FOR EACH ROW WHEN (((old.check_at IS NOT NULL) AND (old.mode IS NOT NULL))) EXECUTE FUNCTION billing_subscriptions_deleted();

CREATE TABLE branding_pictures (
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT branding_pictures_kind_check CHECK ((kind = ANY (ARRAY['logo'::text, 'icon'::text]))),
    CONSTRAINT branding_pictures_media_type_check CHECK ((media_type = ANY (ARRAY['image/png'::text, 'image/svg+xml'::text])))
);
COMMENT ON TABLE branding_pictures IS 'The pictures of a branding, rebuilt from what was uploaded; the name is a hash of the content.';
ALTER TABLE ONLY branding_pictures
    ADD CONSTRAINT branding_pictures_pkey PRIMARY KEY (organization_id, kind);

CREATE TABLE branding_version_pictures (
    organization_id uuid NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT branding_version_pictures_media_type_check CHECK ((media_type = ANY (ARRAY['image/png'::text, 'image/svg+xml'::text])))
);
COMMENT ON TABLE branding_version_pictures IS 'The pictures of the versions of a branding, each once; the name is a hash of the content. Everybody is shown those of branding_pictures alone.';
ALTER TABLE ONLY branding_version_pictures
    ADD CONSTRAINT branding_version_pictures_pkey PRIMARY KEY (organization_id, name);

CREATE TABLE branding_versions (
    organization_id uuid NOT NULL,
    number integer NOT NULL,
    logo text,
    icon text,
    primary_color text,
    background_color text,
    support_email text,
    terms_url text,
    privacy_url text,
    updated_at timestamp with time zone NOT NULL,
    made_by uuid,
    is_by_key boolean NOT NULL
);
COMMENT ON TABLE branding_versions IS 'What was saved as the branding of an organization, the present one among it.';
COMMENT ON COLUMN branding_versions.number IS 'Counts the versions of the organization from 1.';
COMMENT ON COLUMN branding_versions.made_by IS 'The person who saved it; null for what was saved before versions were kept, and after the account is deleted.';
COMMENT ON COLUMN branding_versions.is_by_key IS 'Whether a key of the organization saved it, which made_by has made.';
ALTER TABLE ONLY branding_versions
    ADD CONSTRAINT branding_versions_pkey PRIMARY KEY (organization_id, number);
CREATE INDEX branding_versions_of_maker ON branding_versions USING btree (made_by) WHERE (made_by IS NOT NULL);

CREATE TABLE brandings (
    organization_id uuid NOT NULL,
    primary_color text,
    background_color text,
    support_email text,
    terms_url text,
    privacy_url text,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT brandings_background_color_check CHECK ((background_color ~ '^#[0-9a-f]{6}$'::text)),
    CONSTRAINT brandings_primary_color_check CHECK ((primary_color ~ '^#[0-9a-f]{6}$'::text))
);
COMMENT ON TABLE brandings IS 'How pages and mails of an organization look.';
ALTER TABLE ONLY brandings
    ADD CONSTRAINT brandings_pkey PRIMARY KEY (organization_id);

CREATE TABLE browser_returns (
    id_hash bytea NOT NULL,
    target text NOT NULL,
    organization_slug text,
    service_slug text,
    expires_at timestamp with time zone NOT NULL,
    email text,
    request_key bytea,
    language text,
    request_target text,
    not_in_session uuid
);
COMMENT ON TABLE browser_returns IS 'The path and query that a browser opens after signing in, under an id that is valid once.';
COMMENT ON COLUMN browser_returns.email IS 'The address that the sign-in page proposes.';
COMMENT ON COLUMN browser_returns.request_key IS 'The request that the path answers, if it answers one.';
COMMENT ON COLUMN browser_returns.language IS 'The language that a service has asked for its pages; null for that of the browser.';
COMMENT ON COLUMN browser_returns.request_target IS 'The path on which the request of an application goes on at last, where the target is a step before it; null where it is the target.';
COMMENT ON COLUMN browser_returns.not_in_session IS 'The session of the browser that does not go there: its user signs in anew; no reference.';
ALTER TABLE ONLY browser_returns
    ADD CONSTRAINT browser_returns_pkey PRIMARY KEY (id_hash);
CREATE INDEX browser_returns_expiry ON browser_returns USING btree (expires_at);

CREATE TABLE browser_sessions (
    session_id uuid NOT NULL,
    secret_hash bytea NOT NULL,
    stays_signed_in boolean NOT NULL,
    domain_id uuid
);
COMMENT ON TABLE browser_sessions IS 'The secret in the cookie of a session; sessions.expires_at moves with its use.';
COMMENT ON COLUMN browser_sessions.domain_id IS 'The custom domain that the session belongs to; null for the base URL.';
ALTER TABLE ONLY browser_sessions
    ADD CONSTRAINT browser_sessions_pkey PRIMARY KEY (session_id);
ALTER TABLE ONLY browser_sessions
    ADD CONSTRAINT browser_sessions_secret_hash_key UNIQUE (secret_hash);
CREATE INDEX browser_sessions_of_domain ON browser_sessions USING btree (domain_id) WHERE (domain_id IS NOT NULL);

CREATE TABLE bulk_job_rows (
    job_id uuid NOT NULL,
    number integer NOT NULL,
    label text NOT NULL,
    subject_id uuid,
    seen text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    problem jsonb
);
COMMENT ON TABLE bulk_job_rows IS 'The rows of jobs: what is shown of each, what it is about, and what became of it.';
ALTER TABLE ONLY bulk_job_rows
    ADD CONSTRAINT bulk_job_rows_pkey PRIMARY KEY (job_id, number);
CREATE INDEX bulk_job_rows_label ON bulk_job_rows USING btree (lower(label));
CREATE INDEX bulk_job_rows_subject_id ON bulk_job_rows USING btree (subject_id) WHERE (subject_id IS NOT NULL);

CREATE TABLE bulk_jobs (
    id uuid NOT NULL,
    organization_id uuid,
    kind text NOT NULL,
    details jsonb NOT NULL,
    maker_id uuid NOT NULL,
    session_id uuid NOT NULL,
    request_id text,
    ip_address text,
    user_agent text,
    language text,
    state text DEFAULT 'running'::text NOT NULL,
    problem jsonb,
    rows integer NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    is_waiting boolean DEFAULT false NOT NULL,
    due_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone
);
COMMENT ON TABLE bulk_jobs IS 'Jobs of the console: something done to many rows, in the session of the person who began it. Without an organization it is one of the platform. Kept for 30 days.';
COMMENT ON COLUMN bulk_jobs.session_id IS 'The session in which the job acts; the job ends with it.';
COMMENT ON COLUMN bulk_jobs.is_waiting IS 'Whether it waits until due_at for a limit.';
ALTER TABLE ONLY bulk_jobs
    ADD CONSTRAINT bulk_jobs_pkey PRIMARY KEY (id);
CREATE INDEX bulk_jobs_created_at ON bulk_jobs USING btree (created_at);
CREATE INDEX bulk_jobs_due ON bulk_jobs USING btree (due_at) WHERE (state = 'running'::text);
CREATE INDEX bulk_jobs_maker_id ON bulk_jobs USING btree (maker_id);
CREATE INDEX bulk_jobs_of_organization ON bulk_jobs USING btree (organization_id, created_at DESC, id DESC);

CREATE TABLE client_grants (
    session_id uuid NOT NULL,
    scopes text[] NOT NULL,
    audience text,
    key_thumbprint text,
    host text,
    requested_claims jsonb
);
COMMENT ON TABLE client_grants IS 'What a service was granted at the token endpoint, with a session of a user.';
COMMENT ON COLUMN client_grants.key_thumbprint IS 'The key to which the tokens of the session are bound (RFC 9449).';
COMMENT ON COLUMN client_grants.host IS 'The custom domain under which the sign-in began; null for the base URL.';
COMMENT ON COLUMN client_grants.requested_claims IS 'The same, for the ID tokens and the user information of the session.';
ALTER TABLE ONLY client_grants
    ADD CONSTRAINT client_grants_pkey PRIMARY KEY (session_id);

CREATE TABLE client_problems (
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    kind text NOT NULL,
    network text NOT NULL,
    minute timestamp with time zone NOT NULL,
    noted_at timestamp with time zone NOT NULL,
    ip_address text NOT NULL,
    sent text,
    registered text[] NOT NULL
);
COMMENT ON TABLE client_problems IS 'Requests that were refused in the name of a service: one for each kind, network and minute, the last few of each kind.';
COMMENT ON COLUMN client_problems.kind IS 'A word of core/services/problems.py.';
COMMENT ON COLUMN client_problems.network IS 'From where it came: a /24, or a /48 of IPv6.';
COMMENT ON COLUMN client_problems.ip_address IS 'The address of a backend, the network of a browser.';
COMMENT ON COLUMN client_problems.sent IS 'What the request said, without secrets and persons; null where it said nothing.';
COMMENT ON COLUMN client_problems.registered IS 'What the service had registered then, or what the request might have said.';
ALTER TABLE ONLY client_problems
    ADD CONSTRAINT client_problems_pkey PRIMARY KEY (organization_id, service_id, kind, network, minute);
CREATE INDEX client_problems_ended ON client_problems USING btree (noted_at);

CREATE TABLE connection_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    public_key text NOT NULL,
    private_key_sealed bytea NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone NOT NULL,
    is_active boolean NOT NULL,
    published_until timestamp with time zone,
    warned_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE connection_keys IS 'Key pairs that sign requests and open assertions of SAML connections: the active one, and those before it.';
COMMENT ON COLUMN connection_keys.published_until IS 'Until then metadata contain a certificate that was replaced, and its key opens assertions.';
COMMENT ON COLUMN connection_keys.warned_at IS 'When a mail said that the certificate ends soon.';
ALTER TABLE ONLY connection_keys
    ADD CONSTRAINT connection_keys_pkey PRIMARY KEY (id);
CREATE INDEX connection_keys_ending ON connection_keys USING btree (valid_until) WHERE is_active;
CREATE INDEX connection_keys_of_connection ON connection_keys USING btree (organization_id, connection_id, created_at);
CREATE UNIQUE INDEX connection_keys_one_active ON connection_keys USING btree (connection_id) WHERE is_active;

CREATE TABLE currency_totals (
    currency text NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL
);
COMMENT ON TABLE currency_totals IS 'What all organizations sell now: subscription_totals added up by currency.';
ALTER TABLE ONLY currency_totals
    ADD CONSTRAINT currency_totals_pkey PRIMARY KEY (currency);

CREATE TABLE custom_domains (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    domain text NOT NULL,
    value text NOT NULL,
    status text NOT NULL,
    verified_at timestamp with time zone,
    proved_at timestamp with time zone,
    failing_since timestamp with time zone,
    checked_at timestamp with time zone,
    next_check_at timestamp with time zone,
    CONSTRAINT custom_domains_check CHECK (((status = 'pending'::text) = (verified_at IS NULL))),
    CONSTRAINT custom_domains_check1 CHECK (((status = 'failing'::text) = (failing_since IS NOT NULL))),
    CONSTRAINT custom_domains_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'verified'::text, 'failing'::text])))
);
COMMENT ON TABLE custom_domains IS 'The domains under which hosted pages of organizations work; claims to one domain, at most one of them verified.';
ALTER TABLE ONLY custom_domains
    ADD CONSTRAINT custom_domains_organization_id_key UNIQUE (organization_id);
ALTER TABLE ONLY custom_domains
    ADD CONSTRAINT custom_domains_pkey PRIMARY KEY (id);
CREATE INDEX custom_domains_letter_groups ON custom_domains USING gin (letter_groups(domain));
CREATE INDEX custom_domains_to_check ON custom_domains USING btree (next_check_at) WHERE (verified_at IS NOT NULL);
CREATE UNIQUE INDEX custom_domains_verified ON custom_domains USING btree (domain) WHERE (verified_at IS NOT NULL);

CREATE TABLE customer_active_people (
    customer_id uuid NOT NULL,
    month date NOT NULL,
    user_id uuid NOT NULL
);
COMMENT ON TABLE customer_active_people IS 'Who has signed in or refreshed a session for a customer in a month by UTC, so that each is counted once.';
COMMENT ON COLUMN customer_active_people.month IS 'The first day of the month.';
COMMENT ON COLUMN customer_active_people.user_id IS 'The account, which may be gone; no reference.';
ALTER TABLE ONLY customer_active_people
    ADD CONSTRAINT customer_active_people_pkey PRIMARY KEY (customer_id, month, user_id);
CREATE INDEX customer_active_people_of_user ON customer_active_people USING btree (user_id);

CREATE TABLE customer_assignments (
    customer_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    "position" integer NOT NULL,
    subject text NOT NULL,
    role text,
    custom_role text,
    group_id uuid,
    user_id uuid,
    role_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    CONSTRAINT customer_assignments_check CHECK (((subject = 'role'::text) = (role IS NOT NULL))),
    CONSTRAINT customer_assignments_check1 CHECK ((custom_role = role)),
    CONSTRAINT customer_assignments_check2 CHECK (((subject = 'group'::text) = (group_id IS NOT NULL))),
    CONSTRAINT customer_assignments_check3 CHECK (((subject = 'user'::text) = (user_id IS NOT NULL))),
    CONSTRAINT customer_assignments_subject_check CHECK ((subject = ANY (ARRAY['everyone'::text, 'role'::text, 'group'::text, 'user'::text])))
);
COMMENT ON TABLE customer_assignments IS 'Whom a customer assigns to a service that it uses, and with which of its roles.';
COMMENT ON COLUMN customer_assignments.role_ids IS 'The roles of the service, by their ids; one that the service no longer has gives nothing.';
ALTER TABLE ONLY customer_assignments
    ADD CONSTRAINT customer_assignments_pkey PRIMARY KEY (customer_id, "position");
CREATE INDEX customer_assignments_of_group ON customer_assignments USING btree (organization_id, group_id);
CREATE INDEX customer_assignments_of_role ON customer_assignments USING btree (organization_id, custom_role);
CREATE INDEX customer_assignments_of_user ON customer_assignments USING btree (organization_id, user_id);
CREATE TRIGGER customer_assignments_removed AFTER DELETE ON customer_assignments REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION customer_assignments_removed();
CREATE TRIGGER customers_assign_less AFTER DELETE ON customer_assignments REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_let_in_others();
CREATE TRIGGER customers_assign_more AFTER INSERT ON customer_assignments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_let_in_others();

CREATE TABLE customer_claims (
    customer_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    email text NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    claimed_at timestamp with time zone,
    CONSTRAINT customer_claims_email_check CHECK ((length(email) <= 254))
);
COMMENT ON TABLE customer_claims IS 'Whom a vendor has asked to own the organization that it made for a customer, the last time.';
COMMENT ON COLUMN customer_claims.claimed_at IS 'When the person became the owner; null for an open link.';
ALTER TABLE ONLY customer_claims
    ADD CONSTRAINT customer_claims_pkey PRIMARY KEY (customer_id);
ALTER TABLE ONLY customer_claims
    ADD CONSTRAINT customer_claims_token_hash_key UNIQUE (token_hash);
CREATE INDEX customer_claims_email ON customer_claims USING btree (email);
CREATE INDEX customer_claims_of_vendor ON customer_claims USING btree (vendor_id);
CREATE INDEX customer_claims_over ON customer_claims USING btree (expires_at);

CREATE TABLE customer_group_rules (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    group_id uuid,
    connection_id uuid,
    asserted_group text,
    role_ids uuid[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    made_through text,
    CONSTRAINT customer_group_rules_check CHECK ((((group_id IS NOT NULL) AND (connection_id IS NULL) AND (asserted_group IS NULL)) OR ((group_id IS NULL) AND (connection_id IS NOT NULL) AND (asserted_group IS NOT NULL))))
);
COMMENT ON TABLE customer_group_rules IS 'Which roles of a service people have for a customer by their groups, as the vendor set it up; they add up.';
COMMENT ON COLUMN customer_group_rules.organization_id IS 'The internal organization of the customer.';
COMMENT ON COLUMN customer_group_rules.group_id IS 'A group of its directory; without one, what a connection asserts.';
COMMENT ON COLUMN customer_group_rules.role_ids IS 'The roles of the service, by their ids; one that the service no longer has gives nothing.';
COMMENT ON COLUMN customer_group_rules.made_through IS 'As of upstream_connections.';
ALTER TABLE ONLY customer_group_rules
    ADD CONSTRAINT customer_group_rules_pkey PRIMARY KEY (id);
CREATE INDEX customer_group_rules_of_connection ON customer_group_rules USING btree (organization_id, connection_id);
CREATE INDEX customer_group_rules_of_group ON customer_group_rules USING btree (organization_id, group_id);
CREATE UNIQUE INDEX customer_group_rules_once ON customer_group_rules USING btree (customer_id, COALESCE(group_id, connection_id), COALESCE(asserted_group, ''::text));

CREATE TABLE customer_rechecks (
    id uuid NOT NULL,
    service_id uuid NOT NULL,
    customer_id uuid,
    reason text NOT NULL,
    after_session uuid,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone
);
COMMENT ON TABLE customer_rechecks IS 'Changes that may have ended sessions of many people: those of a customer, or of the individuals of a service.';
COMMENT ON COLUMN customer_rechecks.customer_id IS 'The customer, which may be gone; null for the individuals.';
COMMENT ON COLUMN customer_rechecks.after_session IS 'Up to which session it was checked; null at the beginning.';
COMMENT ON COLUMN customer_rechecks.due_at IS 'When sessions are looked at that have begun beside the change; null before they were looked at first.';
ALTER TABLE ONLY customer_rechecks
    ADD CONSTRAINT customer_rechecks_pkey PRIMARY KEY (id);
CREATE INDEX customer_rechecks_due ON customer_rechecks USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX customer_rechecks_in_order ON customer_rechecks USING btree (created_at, id);

CREATE TABLE customer_slugs (
    slug text NOT NULL
);
COMMENT ON TABLE customer_slugs IS 'Slugs that customers have or had, which no other organization gets.';
ALTER TABLE ONLY customer_slugs
    ADD CONSTRAINT customer_slugs_pkey PRIMARY KEY (slug);

CREATE TABLE customer_user_checks (
    id uuid NOT NULL,
    service_id uuid,
    customer_id uuid,
    user_id uuid,
    after uuid,
    created_at timestamp with time zone NOT NULL,
    organization_id uuid NOT NULL,
    CONSTRAINT customer_user_checks_check CHECK ((num_nonnulls(service_id, customer_id, user_id) = 1))
);
COMMENT ON TABLE customer_user_checks IS 'Changes of which vendors may have to be told: of a person, of a customer, or of all customers of a service.';
COMMENT ON COLUMN customer_user_checks.after IS 'Up to which person or customer it was checked; null at the beginning.';
COMMENT ON COLUMN customer_user_checks.organization_id IS 'The organization whose turn it takes: the customer, or the vendor where its roles have changed; no reference.';
ALTER TABLE ONLY customer_user_checks
    ADD CONSTRAINT customer_user_checks_pkey PRIMARY KEY (id);
CREATE INDEX customer_user_checks_in_turn ON customer_user_checks USING btree (organization_id, created_at, id);

CREATE TABLE customer_users (
    customer_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    first_sign_in_at timestamp with time zone NOT NULL,
    last_sign_in_at timestamp with time zone NOT NULL,
    own_role_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL
);
COMMENT ON TABLE customer_users IS 'Who has signed in to a service for a customer of it.';
COMMENT ON COLUMN customer_users.organization_id IS 'The customer, or the internal organization that admits the user.';
COMMENT ON COLUMN customer_users.own_role_ids IS 'The roles that the vendor gives the user in this context, besides those of assignments.';
ALTER TABLE ONLY customer_users
    ADD CONSTRAINT customer_users_pkey PRIMARY KEY (customer_id, user_id);
CREATE INDEX customer_users_of_member ON customer_users USING btree (organization_id, user_id);
CREATE TRIGGER customer_users_metadata_ended AFTER DELETE ON customer_users REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION service_user_metadata_ended();
CREATE TRIGGER customer_users_metadata_moved AFTER UPDATE OF user_id ON customer_users FOR EACH ROW WHEN ((old.user_id <> new.user_id)) EXECUTE FUNCTION service_user_metadata_moved();

CREATE TABLE customer_users_told (
    customer_id uuid NOT NULL,
    user_id uuid NOT NULL,
    told text NOT NULL
);
COMMENT ON TABLE customer_users_told IS 'The people of customers whom the vendor knows of: who has signed in, and who may where the customer shares its directory.';
COMMENT ON COLUMN customer_users_told.user_id IS 'The account, which may be gone; no reference.';
COMMENT ON COLUMN customer_users_told.told IS 'A digest of what the vendor knows of the person.';
ALTER TABLE ONLY customer_users_told
    ADD CONSTRAINT customer_users_told_pkey PRIMARY KEY (customer_id, user_id);
CREATE INDEX customer_users_told_of_user ON customer_users_told USING btree (user_id, customer_id);

CREATE TABLE departed_identities (
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    linked_at timestamp with time zone NOT NULL,
    left_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE departed_identities IS 'Who signed in by a connection until they left its organization: they are linked again when they belong again.';
COMMENT ON COLUMN departed_identities.linked_at IS 'When the identity was linked that leaving has unlinked.';
ALTER TABLE ONLY departed_identities
    ADD CONSTRAINT departed_identities_pkey PRIMARY KEY (organization_id, connection_id, subject);
CREATE INDEX departed_identities_of_user ON departed_identities USING btree (user_id);

CREATE TABLE device_codes (
    device_code_hash bytea NOT NULL,
    user_code_hash bytea NOT NULL,
    organization_id uuid,
    service_id uuid,
    scopes text[] NOT NULL,
    audience text,
    ip_address text,
    user_agent text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    polled_at timestamp with time zone,
    interval_seconds integer NOT NULL,
    host text,
    denied_at timestamp with time zone,
    session_id uuid,
    used_at timestamp with time zone,
    customer text
);
COMMENT ON TABLE device_codes IS 'Devices that wait until a user approves them on another one (RFC 8628).';
COMMENT ON COLUMN device_codes.service_id IS 'Null for the command line of Gatehouse, whose sessions are on the platform.';
COMMENT ON COLUMN device_codes.session_id IS 'The session that began when a user approved the device.';
COMMENT ON COLUMN device_codes.customer IS 'The id or the slug of the customer that the device names; null where it names none.';
ALTER TABLE ONLY device_codes
    ADD CONSTRAINT device_codes_pkey PRIMARY KEY (device_code_hash);
ALTER TABLE ONLY device_codes
    ADD CONSTRAINT device_codes_user_code_hash_key UNIQUE (user_code_hash);
CREATE INDEX device_codes_ended ON device_codes USING btree (expires_at);
CREATE INDEX device_codes_of_service ON device_codes USING btree (organization_id, service_id);
CREATE INDEX device_codes_of_session ON device_codes USING btree (session_id) WHERE (session_id IS NOT NULL);

CREATE TABLE device_tokens (
    token_hash bytea NOT NULL,
    device_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    mfa_trusted_at timestamp with time zone
);
COMMENT ON TABLE device_tokens IS 'What a device shows to be recognized; the trust after a second factor belongs to the token.';
ALTER TABLE ONLY device_tokens
    ADD CONSTRAINT device_tokens_pkey PRIMARY KEY (token_hash);
CREATE INDEX device_tokens_ended ON device_tokens USING btree (expires_at);
CREATE INDEX device_tokens_of_device ON device_tokens USING btree (device_id);

CREATE TABLE devices (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    device_type text NOT NULL,
    browser text,
    browser_version text,
    os text,
    os_version text,
    user_agent text,
    last_used_at timestamp with time zone NOT NULL,
    last_ip text,
    last_city text,
    last_country text,
    risk_score integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT devices_device_type_check CHECK ((device_type = ANY (ARRAY['browser'::text, 'mobile'::text, 'desktop'::text, 'cli'::text]))),
    CONSTRAINT devices_risk_score_check CHECK (((risk_score >= 0) AND (risk_score <= 100)))
);
COMMENT ON TABLE devices IS 'What a person signs in from.';
ALTER TABLE ONLY devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (id);
CREATE INDEX devices_of_user ON devices USING btree (user_id, last_used_at DESC);
CREATE INDEX devices_unused ON devices USING btree (last_used_at);

CREATE TABLE directory_authorities (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    maker_role text,
    maker_permissions text[],
    link_roles text[]
);
COMMENT ON TABLE directory_authorities IS 'What the makers of SCIM tokens could do whose directories have put members into groups; each once.';
COMMENT ON COLUMN directory_authorities.maker_role IS 'As in scim_tokens; it stays when the token is revoked.';
COMMENT ON COLUMN directory_authorities.link_roles IS 'As in scim_tokens.';
ALTER TABLE ONLY directory_authorities
    ADD CONSTRAINT directory_authorities_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX directory_authorities_once ON directory_authorities USING btree (organization_id, COALESCE(maker_role, ''::text), COALESCE(maker_permissions, '{}'::text[]), COALESCE(link_roles, '{}'::text[]));

CREATE TABLE directory_ends (
    organization_id uuid NOT NULL,
    ended_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE directory_ends IS 'When an organization last revoked a SCIM token that managed groups: they are kept for 30 days after the last one.';
ALTER TABLE ONLY directory_ends
    ADD CONSTRAINT directory_ends_pkey PRIMARY KEY (organization_id);

CREATE TABLE directory_group_members (
    organization_id uuid NOT NULL,
    group_id uuid NOT NULL,
    user_id uuid NOT NULL,
    authority_id uuid NOT NULL,
    gives_products boolean DEFAULT true NOT NULL
);
COMMENT ON TABLE directory_group_members IS 'Which members of an organization are in a group of its directory.';
COMMENT ON COLUMN directory_group_members.authority_id IS 'What the maker of the token could do that put the member in.';
COMMENT ON COLUMN directory_group_members.gives_products IS 'Whether the maker of the token could say who uses the products of the organization; true for members of earlier versions.';
ALTER TABLE ONLY directory_group_members
    ADD CONSTRAINT directory_group_members_pkey PRIMARY KEY (group_id, user_id);
CREATE INDEX directory_group_members_by_user ON directory_group_members USING btree (user_id, organization_id);
CREATE INDEX directory_group_members_of_authority ON directory_group_members USING btree (authority_id);
CREATE INDEX directory_group_members_of_user ON directory_group_members USING btree (organization_id, user_id);
CREATE TRIGGER directory_group_members_added AFTER INSERT ON directory_group_members REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION directory_group_members_added();
CREATE TRIGGER directory_group_members_removed AFTER DELETE ON directory_group_members REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION directory_group_members_removed();
CREATE TRIGGER groups_of_customers_joined AFTER INSERT ON directory_group_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_of_customers_changed();
CREATE TRIGGER groups_of_customers_left AFTER DELETE ON directory_group_members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_of_customers_changed();
CREATE TRIGGER groups_of_customers_raised AFTER UPDATE ON directory_group_members REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_of_customers_raised();

CREATE TABLE directory_groups (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    display_name text NOT NULL,
    external_id text,
    members bigint DEFAULT 0 NOT NULL,
    changes bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE directory_groups IS 'Groups that the directory of an organization sends by SCIM.';
COMMENT ON COLUMN directory_groups.members IS 'How many members it has; triggers write it, as they do changes.';
COMMENT ON COLUMN directory_groups.changes IS 'How often the group or its members changed, for its version.';
ALTER TABLE ONLY directory_groups
    ADD CONSTRAINT directory_groups_organization_id_id_key UNIQUE (organization_id, id);
ALTER TABLE ONLY directory_groups
    ADD CONSTRAINT directory_groups_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX directory_groups_external_id ON directory_groups USING btree (organization_id, external_id) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX directory_groups_name ON directory_groups USING btree (organization_id, lower(display_name));

CREATE TABLE domain_routes (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    domain text NOT NULL,
    connection_id uuid NOT NULL,
    enforced boolean NOT NULL,
    value text NOT NULL,
    status text NOT NULL,
    verified_at timestamp with time zone,
    proved_at timestamp with time zone,
    failing_since timestamp with time zone,
    checked_at timestamp with time zone,
    next_check_at timestamp with time zone,
    vouched_for uuid,
    made_for uuid,
    made_through text,
    created_at timestamp with time zone,
    CONSTRAINT domain_routes_check CHECK (((status = 'pending'::text) = (verified_at IS NULL))),
    CONSTRAINT domain_routes_check1 CHECK (((status = 'failing'::text) = (failing_since IS NOT NULL))),
    CONSTRAINT domain_routes_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'verified'::text, 'failing'::text])))
);
COMMENT ON TABLE domain_routes IS 'Mail domains of organizations, and the connections by which their addresses sign in; at most one verified claim to each domain.';
COMMENT ON COLUMN domain_routes.vouched_for IS 'The connection to which someone has led the domain who may give every role, or before that was recorded; null, or another one than connection_id, where nobody has.';
COMMENT ON COLUMN domain_routes.made_for IS 'The customer record for which a vendor has it; null for one of an organization''s own. A trigger fills it in.';
COMMENT ON COLUMN domain_routes.made_through IS 'As of upstream_connections.';
COMMENT ON COLUMN domain_routes.created_at IS 'When it was claimed; null before that was recorded.';
ALTER TABLE ONLY domain_routes
    ADD CONSTRAINT domain_routes_organization_id_domain_key UNIQUE (organization_id, domain);
ALTER TABLE ONLY domain_routes
    ADD CONSTRAINT domain_routes_pkey PRIMARY KEY (id);
CREATE INDEX domain_routes_letter_groups ON domain_routes USING gin (letter_groups(domain));
CREATE INDEX domain_routes_made_for ON domain_routes USING btree (domain, made_for) WHERE (made_for IS NOT NULL);
CREATE INDEX domain_routes_of_connection ON domain_routes USING btree (organization_id, connection_id);
CREATE INDEX domain_routes_to_check ON domain_routes USING btree (next_check_at) WHERE (verified_at IS NOT NULL);
CREATE UNIQUE INDEX domain_routes_verified ON domain_routes USING btree (domain) WHERE ((verified_at IS NOT NULL) AND (made_for IS NULL));
CREATE TRIGGER domain_routes_deleted AFTER DELETE ON domain_routes FOR EACH ROW WHEN ((old.verified_at IS NOT NULL)) EXECUTE FUNCTION mail_domain_lost();
CREATE TRIGGER domain_routes_lost AFTER UPDATE OF verified_at ON domain_routes FOR EACH ROW WHEN (((old.verified_at IS NOT NULL) AND (new.verified_at IS NULL))) EXECUTE FUNCTION mail_domain_lost();
CREATE TRIGGER domain_routes_made_for BEFORE INSERT ON domain_routes FOR EACH ROW EXECUTE FUNCTION domain_routes_made_for();
CREATE TRIGGER domain_routes_of_customers AFTER UPDATE OF enforced, status, connection_id ON domain_routes FOR EACH ROW WHEN (((new.status = 'verified'::text) AND ((old.status <> 'verified'::text) OR (new.enforced AND (NOT old.enforced)) OR (new.enforced AND (new.connection_id <> old.connection_id))))) EXECUTE FUNCTION connections_of_customers_required();

CREATE TABLE elliptic_signing_keys (
    kid text NOT NULL,
    state text NOT NULL,
    public_pem text NOT NULL,
    private_pem_sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    published_until timestamp with time zone,
    CONSTRAINT elliptic_signing_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'active'::text, 'retired'::text])))
);
COMMENT ON TABLE elliptic_signing_keys IS 'The key pairs that sign by ES256, for services with a security profile; the private halves are encrypted.';
ALTER TABLE ONLY elliptic_signing_keys
    ADD CONSTRAINT elliptic_signing_keys_pkey PRIMARY KEY (kid);
CREATE UNIQUE INDEX elliptic_signing_keys_one_of_each ON elliptic_signing_keys USING btree (state) WHERE (state <> 'retired'::text);

CREATE TABLE ended_log_owners (
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    ended_at timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE ended_log_owners IS 'Organizations and webhooks that were deleted a short time ago: what was written to the logs beside that is still to be deleted.';
COMMENT ON COLUMN ended_log_owners.webhook_id IS 'The webhook; 00000000-0000-0000-0000-000000000000 for the whole organization.';
ALTER TABLE ONLY ended_log_owners
    ADD CONSTRAINT ended_log_owners_pkey PRIMARY KEY (organization_id, webhook_id);
CREATE INDEX ended_log_owners_oldest ON ended_log_owners USING btree (ended_at);

CREATE TABLE event_positions (
    organization_id uuid NOT NULL,
    last_position bigint NOT NULL
);
COMMENT ON TABLE event_positions IS 'The last position given to an event of each organization; the transaction that locks a row gives the next ones. It has a row from the first event on that was given its position here.';
ALTER TABLE ONLY event_positions
    ADD CONSTRAINT event_positions_pkey PRIMARY KEY (organization_id);

CREATE TABLE event_sequencing (
    is_the_only_row boolean DEFAULT true NOT NULL,
    last_position bigint NOT NULL,
    backlog_before timestamp with time zone NOT NULL,
    CONSTRAINT event_sequencing_is_the_only_row_check CHECK (is_the_only_row)
);
COMMENT ON TABLE event_sequencing IS 'What was the last position for all organizations together, on which the positions of each go on.';
COMMENT ON COLUMN event_sequencing.backlog_before IS 'Events that happened earlier were stored before this table existed; they get positions beside the new ones.';
ALTER TABLE ONLY event_sequencing
    ADD CONSTRAINT event_sequencing_pkey PRIMARY KEY (is_the_only_row);

CREATE TABLE events (
    id uuid NOT NULL,
    type text NOT NULL,
    organization_id uuid NOT NULL,
    actor_user_id uuid,
    actor_email text,
    data jsonb NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    "position" bigint DEFAULT 0
)
PARTITION BY RANGE (id);
COMMENT ON TABLE events IS 'Everything that happened, written in the transaction of the change.';
COMMENT ON COLUMN events.organization_id IS 'Zeros for an event of the platform itself.';
COMMENT ON COLUMN events."position" IS 'The order of the feed of an organization; 0 until the sequencer has handed the event on.';
ALTER TABLE ONLY events
    ADD CONSTRAINT events_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX events_actor ON ONLY events USING btree (actor_user_id, actor_email) WHERE (actor_user_id IS NOT NULL);
CREATE INDEX events_addresses ON ONLY events USING gin (addresses_in(data)) WHERE ((data)::text ~~ '%@%'::text);
CREATE INDEX events_feed ON ONLY events USING btree (organization_id, "position") WHERE ("position" IS NOT NULL);
CREATE INDEX events_oldest ON ONLY events USING btree (occurred_at);
CREATE INDEX events_waiting ON ONLY events USING btree (organization_id, occurred_at, id) WHERE ("position" = 0);

CREATE TABLE group_rules (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    place integer NOT NULL,
    group_id uuid,
    connection_id uuid,
    asserted_group text,
    role text NOT NULL,
    made_by uuid,
    created_at timestamp with time zone NOT NULL,
    link_roles text[],
    CONSTRAINT group_rules_check CHECK ((((group_id IS NOT NULL) AND (connection_id IS NULL) AND (asserted_group IS NULL)) OR ((group_id IS NULL) AND (connection_id IS NOT NULL) AND (asserted_group IS NOT NULL))))
);
COMMENT ON TABLE group_rules IS 'Which role the members of a group have, by place: the first rule that fits counts.';
COMMENT ON COLUMN group_rules.group_id IS 'A group of the directory; without one, what a connection asserts.';
COMMENT ON COLUMN group_rules.made_by IS 'Who made the rule, which gives its role only while they may give it.';
COMMENT ON COLUMN group_rules.link_roles IS 'The roles of the setup link that made the rule, which takes no others; null for one that a member made.';
ALTER TABLE ONLY group_rules
    ADD CONSTRAINT group_rules_pkey PRIMARY KEY (id);
CREATE INDEX group_rules_made_by ON group_rules USING btree (made_by) WHERE (made_by IS NOT NULL);
CREATE INDEX group_rules_of_connection ON group_rules USING btree (connection_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX group_rules_of_group ON group_rules USING btree (group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX group_rules_of_organization ON group_rules USING btree (organization_id, place);

CREATE TABLE identities (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    provider text NOT NULL,
    subject text NOT NULL,
    connection_id uuid,
    organization_id uuid,
    service_id uuid,
    email text,
    linked_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    client_id text,
    access_token_sealed bytea,
    refresh_token_sealed bytea,
    token_type text,
    token_expires_at timestamp with time zone,
    scopes text[] DEFAULT '{}'::text[] NOT NULL,
    refresh_claim uuid,
    refresh_claimed_until timestamp with time zone,
    confirmed_at timestamp with time zone,
    groups text[],
    has_groups_overage boolean DEFAULT false NOT NULL,
    own_subject text,
    name text,
    given_name text,
    family_name text,
    CONSTRAINT identities_check CHECK (((organization_id IS NOT NULL) OR ((connection_id IS NULL) AND (service_id IS NULL))))
);
COMMENT ON TABLE identities IS 'Accounts at other providers that sign a user in, each in one context only.';
COMMENT ON COLUMN identities.client_id IS 'The client to which the tokens were issued.';
COMMENT ON COLUMN identities.refresh_claim IS 'Names the request that refreshes the token at this moment.';
COMMENT ON COLUMN identities.confirmed_at IS 'When its user proved to have the account, by signing in to it or by a mailed code; null while only the connection says so.';
COMMENT ON COLUMN identities.groups IS 'The groups that the connection asserted last; null while it has asserted none.';
COMMENT ON COLUMN identities.has_groups_overage IS 'Whether the provider said last that there are too many groups to name.';
COMMENT ON COLUMN identities.own_subject IS 'The id by which the provider itself names the person (sub, NameID), where the connection takes another one as the subject.';
COMMENT ON COLUMN identities.name IS 'What the connection called the person last, as are given_name and family_name; null where it has said none.';
ALTER TABLE ONLY identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (id);
CREATE INDEX identities_last_used ON identities USING btree (organization_id, connection_id, used_at) WHERE (connection_id IS NOT NULL);
CREATE INDEX identities_of_organization ON identities USING btree (organization_id, service_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX identities_of_own_subject ON identities USING btree (organization_id, connection_id, own_subject) WHERE (own_subject IS NOT NULL);
CREATE UNIQUE INDEX identities_of_subject ON identities USING btree (provider, subject, COALESCE(connection_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(organization_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(service_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE UNIQUE INDEX identities_of_user ON identities USING btree (user_id, provider, COALESCE(connection_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(organization_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(service_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE TRIGGER said_names_of_customers_added AFTER INSERT ON identities FOR EACH ROW WHEN (((new.connection_id IS NOT NULL) AND (COALESCE(new.name, new.given_name, new.family_name) IS NOT NULL))) EXECUTE FUNCTION members_of_customers_changed();
CREATE TRIGGER said_names_of_customers_changed AFTER UPDATE OF name, given_name, family_name ON identities FOR EACH ROW WHEN (((new.connection_id IS NOT NULL) AND ((old.name IS DISTINCT FROM new.name) OR (old.given_name IS DISTINCT FROM new.given_name) OR (old.family_name IS DISTINCT FROM new.family_name)))) EXECUTE FUNCTION members_of_customers_changed();

CREATE TABLE invitations (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    invited_by uuid,
    status text NOT NULL,
    token_hash bytea NOT NULL,
    token_sealed bytea,
    proof_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    answered_at timestamp with time zone,
    service_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    message text,
    name text,
    CONSTRAINT invitations_email_check CHECK ((length(email) <= 254)),
    CONSTRAINT invitations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'rejected'::text, 'cancelled'::text, 'expired'::text])))
);
COMMENT ON TABLE invitations IS 'Who was asked to join an organization, and what became of it.';
COMMENT ON COLUMN invitations.token_sealed IS 'For the invited person, who sees it after signing in; erased with the answer.';
COMMENT ON COLUMN invitations.proof_hash IS 'Of what only the mailed link has, so that the token alone proves no address.';
COMMENT ON COLUMN invitations.service_ids IS 'Services to which the person is linked with the acceptance; one that is gone is left out.';
COMMENT ON COLUMN invitations.message IS 'From the inviter to the person, who sees it after a proof of the address; no mail and no log has it.';
COMMENT ON COLUMN invitations.name IS 'As the inviter has called the person, who finds it filled in where they accept; no mail and no log has it.';
ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_token_hash_key UNIQUE (token_hash);
CREATE INDEX invitations_ended ON invitations USING btree (COALESCE(answered_at, expires_at)) WHERE (status <> 'pending'::text);
CREATE INDEX invitations_of_email ON invitations USING btree (email);
CREATE INDEX invitations_of_inviter ON invitations USING btree (invited_by);
CREATE INDEX invitations_of_organization ON invitations USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX invitations_of_status ON invitations USING btree (organization_id, status, created_at DESC, id DESC);
CREATE UNIQUE INDEX invitations_one_pending ON invitations USING btree (organization_id, email) WHERE (status = 'pending'::text);
CREATE INDEX invitations_running_out ON invitations USING btree (expires_at, id) WHERE (status = 'pending'::text);

CREATE TABLE known_account_ids (
    organization_id uuid NOT NULL,
    known_id uuid NOT NULL,
    user_id uuid
);
COMMENT ON TABLE known_account_ids IS 'By which id SCIM and the interface of services know an account of an organization, where it is not the id of the account.';
COMMENT ON COLUMN known_account_ids.user_id IS 'The account; null once the organization has it no more: the id is given to no other one.';
ALTER TABLE ONLY known_account_ids
    ADD CONSTRAINT known_account_ids_pkey PRIMARY KEY (organization_id, known_id);
CREATE UNIQUE INDEX known_account_ids_of_user ON known_account_ids USING btree (user_id, organization_id);

CREATE TABLE known_addresses (
    user_id uuid NOT NULL,
    email text NOT NULL
);
COMMENT ON TABLE known_addresses IS 'The addresses under which a user acted, from events that were deleted; an anonymization replaces them.';
ALTER TABLE ONLY known_addresses
    ADD CONSTRAINT known_addresses_pkey PRIMARY KEY (user_id, email);

CREATE TABLE log_dues (
    organization_id uuid NOT NULL,
    events boolean DEFAULT true NOT NULL,
    entries boolean DEFAULT true NOT NULL,
    events_at timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE log_dues IS 'Which organizations may have something in their logs that waits. It has a row from the first event or audit entry on.';
COMMENT ON COLUMN log_dues.events IS 'Events may wait for their positions; what the platform itself has is looked for always.';
COMMENT ON COLUMN log_dues.entries IS 'Audit entries may wait to be sealed.';
COMMENT ON COLUMN log_dues.events_at IS 'Since when events may wait.';
ALTER TABLE ONLY log_dues
    ADD CONSTRAINT log_dues_pkey PRIMARY KEY (organization_id);
CREATE INDEX log_dues_entries ON log_dues USING btree (organization_id) WHERE entries;
CREATE INDEX log_dues_events ON log_dues USING btree (organization_id) WHERE events;

CREATE TABLE login_events (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid,
    device_id uuid,
    provider text NOT NULL,
    success boolean NOT NULL,
    ip_address text,
    user_agent text,
    risk_score integer NOT NULL,
    risk_factors text[] NOT NULL,
    geo_country text,
    geo_city text,
    created_at timestamp with time zone NOT NULL,
    reason text,
    connection_id uuid,
    through_organization_id uuid,
    request_id text,
    customer_id uuid,
    mailed_proof text,
    CONSTRAINT login_events_risk_score_check CHECK (((risk_score >= 0) AND (risk_score <= 100)))
)
PARTITION BY RANGE (id);
COMMENT ON TABLE login_events IS 'Every attempt to sign in to a known account.';
COMMENT ON COLUMN login_events.user_id IS 'No reference: the deletion of an account deletes its sign-ins by a trigger.';
COMMENT ON COLUMN login_events.organization_id IS 'The organization that was signed in to, or the person, where it was none; no reference.';
COMMENT ON COLUMN login_events.device_id IS 'No reference: the log remembers a device that is gone, and needs no index to forget it.';
COMMENT ON COLUMN login_events.reason IS 'Why it was refused, or what it waits for; null for a success, and for what was refused before reasons were kept.';
COMMENT ON COLUMN login_events.connection_id IS 'No reference, like the device: the connection by which its user came.';
COMMENT ON COLUMN login_events.through_organization_id IS 'The organization whose connection or domain was used, where the sign-in names none, or for which the user signed in to the service of another one; no reference.';
COMMENT ON COLUMN login_events.customer_id IS 'The customer of the service for which the user signed in; no reference.';
COMMENT ON COLUMN login_events.mailed_proof IS 'Of a sign-in by mail, link or code; null where it is not known, and of other ways.';
ALTER TABLE ONLY login_events
    ADD CONSTRAINT login_events_pkey PRIMARY KEY (organization_id, id);
CREATE UNIQUE INDEX login_events_ids ON ONLY login_events USING btree (id);
CREATE INDEX login_events_newest_of_customer ON ONLY login_events USING btree (customer_id, success, id DESC) WHERE (customer_id IS NOT NULL);
CREATE INDEX login_events_newest_of_organization ON ONLY login_events USING btree (organization_id, success, id DESC) INCLUDE (created_at, service_id, provider, user_id);
CREATE INDEX login_events_newest_of_organization_user ON ONLY login_events USING btree (organization_id, user_id, id DESC) WHERE (organization_id <> user_id);
CREATE INDEX login_events_newest_of_service ON ONLY login_events USING btree (service_id, success, id DESC) WHERE (service_id IS NOT NULL);
CREATE INDEX login_events_newest_of_user ON ONLY login_events USING btree (user_id, success, id DESC);
CREATE INDEX login_events_newest_through_organization ON ONLY login_events USING btree (through_organization_id, user_id, id DESC) WHERE (through_organization_id IS NOT NULL);
CREATE INDEX login_events_of_address ON ONLY login_events USING btree (ip_address, id DESC, organization_id) WHERE (ip_address IS NOT NULL);
CREATE INDEX login_events_of_request ON ONLY login_events USING hash (request_id) WHERE ((NOT success) AND (request_id IS NOT NULL));
CREATE INDEX login_events_through_organization ON ONLY login_events USING btree (through_organization_id, id) WHERE (through_organization_id IS NOT NULL);

CREATE TABLE logout_notices (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    attempt_count integer DEFAULT 0 NOT NULL,
    next_retry_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE logout_notices IS 'Ended sessions of which their service is still to be told (OpenID Connect Back-Channel Logout).';
ALTER TABLE ONLY logout_notices
    ADD CONSTRAINT logout_notices_pkey PRIMARY KEY (id);
CREATE INDEX logout_notices_due ON logout_notices USING btree (service_id, next_retry_at, id);
CREATE INDEX logout_notices_of_service ON logout_notices USING btree (organization_id, service_id);

CREATE TABLE logout_queues (
    service_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    due_at timestamp with time zone,
    leased_until timestamp with time zone
);
COMMENT ON TABLE logout_queues IS 'When each service has the next logout token to receive; like webhook_queues.';
ALTER TABLE ONLY logout_queues
    ADD CONSTRAINT logout_queues_pkey PRIMARY KEY (service_id);
CREATE INDEX logout_queues_due ON logout_queues USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX logout_queues_of_organization ON logout_queues USING btree (organization_id, service_id);

CREATE TABLE mail_counts (
    key bytea NOT NULL,
    sent_at timestamp with time zone[] NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE mail_counts IS 'The mails that count towards a limit, and the wrong codes of mails; the key is a keyed hash of the limit and the address or network.';
COMMENT ON COLUMN mail_counts.sent_at IS 'The times of the last mails, the newest first, at most as many as the limit.';
ALTER TABLE ONLY mail_counts
    ADD CONSTRAINT mail_counts_pkey PRIMARY KEY (key);
CREATE INDEX mail_counts_ended ON mail_counts USING btree (expires_at);

CREATE TABLE mail_dues (
    organization_id uuid NOT NULL,
    queued_at timestamp with time zone,
    routed_at timestamp with time zone
);
COMMENT ON TABLE mail_dues IS 'When each organization may have a mail to send; zeros for the platform itself. It has a row from the first mail on.';
COMMENT ON COLUMN mail_dues.queued_at IS 'Of the mails for the mail server of the platform; null when none waits.';
COMMENT ON COLUMN mail_dues.routed_at IS 'Of the mails for the mail server of the organization; null when none waits.';
ALTER TABLE ONLY mail_dues
    ADD CONSTRAINT mail_dues_pkey PRIMARY KEY (organization_id);
CREATE INDEX mail_dues_queued ON mail_dues USING btree (queued_at) WHERE (queued_at IS NOT NULL);
CREATE INDEX mail_dues_routed ON mail_dues USING btree (routed_at) WHERE (routed_at IS NOT NULL);

CREATE TABLE mail_servers (
    organization_id uuid NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    tls text NOT NULL,
    username text,
    password_sealed bytea,
    from_name text NOT NULL,
    from_email text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    next_attempt_at timestamp with time zone,
    last_error text,
    last_success_at timestamp with time zone,
    leased_until timestamp with time zone,
    last_tested_at timestamp with time zone,
    last_test_accepted boolean,
    last_test_answer text,
    CONSTRAINT mail_servers_check CHECK (((username IS NULL) = (password_sealed IS NULL))),
    CONSTRAINT mail_servers_port_check CHECK (((port >= 1) AND (port <= 65535))),
    CONSTRAINT mail_servers_tls_check CHECK ((tls = ANY (ARRAY['starttls'::text, 'tls'::text, 'none'::text])))
);
COMMENT ON TABLE mail_servers IS 'The mail servers of organizations, and how each has worked lately.';
COMMENT ON COLUMN mail_servers.failures IS 'Failures in a row; until next_attempt_at no mail is tried.';
COMMENT ON COLUMN mail_servers.last_tested_at IS 'When these settings were tested last; null when they were not.';
ALTER TABLE ONLY mail_servers
    ADD CONSTRAINT mail_servers_pkey PRIMARY KEY (organization_id);

CREATE TABLE mails (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    recipient text NOT NULL,
    template text NOT NULL,
    values_sealed bytea,
    state text NOT NULL,
    attempts integer NOT NULL,
    due_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    last_error text,
    created_at timestamp with time zone NOT NULL,
    language text,
    CONSTRAINT mails_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'routed'::text, 'sent'::text, 'kept'::text, 'failed'::text, 'discarded'::text])))
)
PARTITION BY RANGE (id);
COMMENT ON TABLE mails IS 'The outbox. What a letter says is encrypted, and erased once it is sent.';
COMMENT ON COLUMN mails.organization_id IS 'Zeros for a mail of the platform itself.';
COMMENT ON COLUMN mails.values_sealed IS 'What the mail says, encrypted; null once it is sent. Of one that has failed it is kept for a retry, as long as the mail.';
COMMENT ON COLUMN mails.language IS 'The tag (BCP 47) of the language in which its recipient reads; null for English, also in mails that an earlier version has queued.';
ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX mails_due ON ONLY mails USING btree (due_at) WHERE (state = 'queued'::text);
CREATE INDEX mails_ids ON ONLY mails USING btree (id);
CREATE INDEX mails_newest ON ONLY mails USING btree (created_at DESC, id DESC);
CREATE INDEX mails_of_recipient ON ONLY mails USING btree (recipient);
CREATE INDEX mails_queued ON ONLY mails USING btree (organization_id, due_at) WHERE (state = 'queued'::text);
CREATE INDEX mails_routed ON ONLY mails USING btree (organization_id, due_at) WHERE (state = 'routed'::text);
CREATE INDEX mails_undelivered ON ONLY mails USING btree (state, created_at DESC, id DESC) WHERE (state = ANY (ARRAY['queued'::text, 'routed'::text, 'kept'::text, 'failed'::text]));

CREATE TABLE membership_totals (
    organization_id uuid NOT NULL,
    members bigint NOT NULL,
    changes bigint NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE membership_totals IS 'How many members an organization has, and how often that changed; a trigger writes it.';
COMMENT ON COLUMN membership_totals.organization_id IS 'No reference: the memberships of an organization are deleted after it.';
ALTER TABLE ONLY membership_totals
    ADD CONSTRAINT membership_totals_pkey PRIMARY KEY (organization_id);

CREATE TABLE memberships (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    suspended_at timestamp with time zone,
    member_email text NOT NULL,
    role_source text,
    role_group text,
    made_for uuid
);
COMMENT ON TABLE memberships IS 'Who manages an organization, with which role.';
COMMENT ON COLUMN memberships.confirmed_at IS 'When the user accepted or used the membership; null until then.';
COMMENT ON COLUMN memberships.suspended_at IS 'Since when a directory has this member inactive; they have no access.';
COMMENT ON COLUMN memberships.member_email IS 'The address of the account; a trigger fills it in.';
COMMENT ON COLUMN memberships.role_source IS 'What gave the role by a rule: scim, or the id of a connection; null for a role that was given by hand.';
COMMENT ON COLUMN memberships.role_group IS 'The id of the group of the directory, or the value that the connection asserts.';
COMMENT ON COLUMN memberships.made_for IS 'The customer record at whose service it admits the person; null for a membership. A trigger fills it in.';
ALTER TABLE ONLY memberships
    ADD CONSTRAINT memberships_organization_id_user_id_key UNIQUE (organization_id, user_id);
ALTER TABLE ONLY memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (id);
CREATE INDEX memberships_in_order ON memberships USING btree (organization_id, created_at, id) INCLUDE (user_id, role, confirmed_at, member_email);
CREATE INDEX memberships_in_order_of_role ON memberships USING btree (organization_id, role, created_at, id) INCLUDE (user_id, confirmed_at, member_email);
CREATE INDEX memberships_letter_groups ON memberships USING gin (groups_of_organization(organization_id, letter_groups(member_email)));
CREATE UNIQUE INDEX memberships_made_for ON memberships USING btree (made_for, user_id) WHERE (made_for IS NOT NULL);
CREATE INDEX memberships_of_user ON memberships USING btree (user_id, organization_id);
CREATE UNIQUE INDEX memberships_one_owner ON memberships USING btree (organization_id) WHERE (role = 'owner'::text);
CREATE INDEX memberships_role_source ON memberships USING btree (organization_id, user_id) INCLUDE (role_source, role_group) WHERE (role_source IS NOT NULL);
CREATE INDEX memberships_suspended ON memberships USING btree (organization_id, user_id) WHERE (suspended_at IS NOT NULL);
CREATE TRIGGER members_of_customers_changed AFTER INSERT OR DELETE OR UPDATE OF user_id, role, confirmed_at, suspended_at, member_email ON memberships FOR EACH ROW EXECUTE FUNCTION members_of_customers_changed();
CREATE TRIGGER membership_totals_added AFTER INSERT ON memberships REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION membership_totals_added();
CREATE TRIGGER membership_totals_removed AFTER DELETE ON memberships REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION membership_totals_removed();
CREATE TRIGGER memberships_email BEFORE INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION memberships_email();
CREATE TRIGGER memberships_email_moved BEFORE UPDATE OF user_id ON memberships FOR EACH ROW WHEN ((old.user_id <> new.user_id)) EXECUTE FUNCTION memberships_email();
CREATE TRIGGER memberships_keep_user AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION user_given_something();
CREATE TRIGGER memberships_known_ids_ended AFTER DELETE ON memberships REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION known_ids_ended();
CREATE TRIGGER memberships_known_ids_given AFTER INSERT ON memberships REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION known_ids_given();
CREATE TRIGGER organizations_joined AFTER INSERT ON memberships REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION organizations_joined();

CREATE TABLE mfa_challenges (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    context jsonb NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    domain_id uuid,
    passkey_challenge bytea,
    passkey_expires_at timestamp with time zone,
    id_token_sealed bytea
);
COMMENT ON TABLE mfa_challenges IS 'Sign-ins between password and second factor; the pre-auth token names one.';
COMMENT ON COLUMN mfa_challenges.domain_id IS 'The custom domain at which the sign-in began; null for the base URL.';
COMMENT ON COLUMN mfa_challenges.passkey_challenge IS 'What a passkey signs to finish this sign-in; null while none was asked for, or once it was answered.';
COMMENT ON COLUMN mfa_challenges.id_token_sealed IS 'That of provider_sessions, while the sign-in waits for its second factor.';
ALTER TABLE ONLY mfa_challenges
    ADD CONSTRAINT mfa_challenges_pkey PRIMARY KEY (id);
CREATE INDEX mfa_challenges_ended ON mfa_challenges USING btree (expires_at);
CREATE INDEX mfa_challenges_of_domain ON mfa_challenges USING btree (domain_id) WHERE (domain_id IS NOT NULL);
CREATE INDEX mfa_challenges_of_user ON mfa_challenges USING btree (user_id);

CREATE TABLE mfa_events (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    event_type text NOT NULL,
    success boolean NOT NULL,
    ip_address text,
    user_agent text,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE mfa_events IS 'The separate log of everything about second factors, and of security events.';
ALTER TABLE ONLY mfa_events
    ADD CONSTRAINT mfa_events_pkey PRIMARY KEY (id);
CREATE INDEX mfa_events_ending ON mfa_events USING btree (created_at) WHERE (event_type <> 'user_anonymized'::text);
CREATE INDEX mfa_events_of_type ON mfa_events USING btree (event_type, created_at DESC);
CREATE INDEX mfa_events_of_user ON mfa_events USING btree (user_id, created_at DESC);
CREATE TRIGGER mfa_events_user_anonymized AFTER INSERT ON mfa_events FOR EACH ROW WHEN ((new.event_type = 'user_anonymized'::text)) EXECUTE FUNCTION user_anonymized();

CREATE TABLE oauth_credentials (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    provider text NOT NULL,
    client_id text NOT NULL,
    client_secret_sealed bytea NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    issuer text
);
COMMENT ON TABLE oauth_credentials IS 'The credentials of organizations at the three external providers.';
COMMENT ON COLUMN oauth_credentials.issuer IS 'The issuer of an added provider, to which alone the secret is sent; null at the documented ones.';
ALTER TABLE ONLY oauth_credentials
    ADD CONSTRAINT oauth_credentials_organization_id_provider_key UNIQUE (organization_id, provider);
ALTER TABLE ONLY oauth_credentials
    ADD CONSTRAINT oauth_credentials_pkey PRIMARY KEY (id);

CREATE TABLE one_time_tokens (
    token_hash bytea NOT NULL,
    purpose text NOT NULL,
    user_id uuid,
    email text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    challenge_id uuid,
    code_hash bytea,
    wrong_codes integer DEFAULT 0 NOT NULL
);
COMMENT ON TABLE one_time_tokens IS 'What was mailed to people to prove an address or intent; stored as hashes, used once.';
COMMENT ON COLUMN one_time_tokens.challenge_id IS 'What names the token to the client that asked for the mail, together with the code.';
COMMENT ON COLUMN one_time_tokens.code_hash IS 'The keyed hash of the code that the mail has beside the link, bound to the challenge; null when it has none.';
ALTER TABLE ONLY one_time_tokens
    ADD CONSTRAINT one_time_tokens_pkey PRIMARY KEY (token_hash);
CREATE INDEX one_time_tokens_ended ON one_time_tokens USING btree (expires_at);
CREATE UNIQUE INDEX one_time_tokens_of_challenge ON one_time_tokens USING btree (challenge_id) WHERE (challenge_id IS NOT NULL);
CREATE INDEX one_time_tokens_of_user ON one_time_tokens USING btree (user_id, purpose);

CREATE TABLE open_registrations (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    data jsonb NOT NULL,
    ip_address text,
    geo_country text,
    geo_city text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    name text
);
COMMENT ON TABLE open_registrations IS 'Registrations of addresses that are not proved: the link that is used makes its password the account''s.';
COMMENT ON COLUMN open_registrations.data IS 'Where the registration leads, and the hash of the browser in which it was made.';
COMMENT ON COLUMN open_registrations.expires_at IS 'Null for the password of an imported account, and of one that is older than this table.';
COMMENT ON COLUMN open_registrations.name IS 'The name that becomes the account''s with the link of this registration.';
ALTER TABLE ONLY open_registrations
    ADD CONSTRAINT open_registrations_pkey PRIMARY KEY (id);
CREATE INDEX open_registrations_ended ON open_registrations USING btree (expires_at);
CREATE INDEX open_registrations_of_user ON open_registrations USING btree (user_id);

CREATE TABLE organization_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    created_by uuid NOT NULL,
    name text NOT NULL,
    prefix text,
    key_hash bytea,
    permissions text[] NOT NULL,
    has_second_factor boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    is_phishing_resistant boolean,
    CONSTRAINT organization_keys_permissions_check CHECK ((cardinality(permissions) > 0))
);
COMMENT ON TABLE organization_keys IS 'Keys with which programs call the management interface of an organization; stored as hashes.';
COMMENT ON COLUMN organization_keys.created_by IS 'The member for whom the key acts; it ends with the membership.';
COMMENT ON COLUMN organization_keys.prefix IS 'Null for a key without a secret, which only workloads use.';
COMMENT ON COLUMN organization_keys.has_second_factor IS 'Whether the session in which the key was made had a second factor.';
COMMENT ON COLUMN organization_keys.is_phishing_resistant IS 'Whether that factor resists phishing, as organizations may require; null for a key that does not say it.';
ALTER TABLE ONLY organization_keys
    ADD CONSTRAINT organization_keys_pkey PRIMARY KEY (id);
CREATE INDEX organization_keys_expiry ON organization_keys USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX organization_keys_of_maker ON organization_keys USING btree (created_by, organization_id);
CREATE INDEX organization_keys_of_organization ON organization_keys USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX organization_keys_prefix ON organization_keys USING btree (prefix);

CREATE TABLE organization_roles (
    organization_id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    permissions text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    scopes text[] DEFAULT '{}'::text[] NOT NULL
);
COMMENT ON TABLE organization_roles IS 'Custom roles; owner, admin and member are built in and have no row.';
COMMENT ON COLUMN organization_roles.scopes IS 'The scopes of services of the organization that the role gives; one that any role lists is given by roles alone.';
ALTER TABLE ONLY organization_roles
    ADD CONSTRAINT organization_roles_pkey PRIMARY KEY (organization_id, slug);
CREATE INDEX organization_roles_with_address ON organization_roles USING btree (organization_id, slug) WHERE ((name ~~ '%@%'::text) OR (description ~~ '%@%'::text));

CREATE TABLE organizations (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    tier_id uuid NOT NULL,
    max_services integer,
    max_users integer,
    mfa_required boolean DEFAULT false NOT NULL,
    device_trust_days integer DEFAULT 30 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    approved_at timestamp with time zone,
    approved_by uuid,
    rejected_at timestamp with time zone,
    rejection_reason text,
    suspended_at timestamp with time zone,
    suspension_reason text,
    mfa_methods text DEFAULT 'any'::text NOT NULL,
    deletes_at timestamp with time zone,
    status_before_deletion text,
    had_other_members boolean DEFAULT false NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_unclaimed boolean DEFAULT false NOT NULL,
    internal_of uuid,
    claimed_at timestamp with time zone,
    CONSTRAINT organizations_deletes_at_check CHECK (((status = 'deleting'::text) = (deletes_at IS NOT NULL))),
    CONSTRAINT organizations_device_trust_days_check CHECK ((device_trust_days >= 0)),
    CONSTRAINT organizations_max_services_check CHECK ((max_services >= 0)),
    CONSTRAINT organizations_max_users_check CHECK ((max_users >= 0)),
    CONSTRAINT organizations_mfa_methods_check CHECK ((mfa_methods = ANY (ARRAY['any'::text, 'phishing_resistant'::text]))),
    CONSTRAINT organizations_status_before_deletion_check CHECK ((((deletes_at IS NULL) = (status_before_deletion IS NULL)) AND (status_before_deletion = ANY (ARRAY['pending'::text, 'active'::text, 'rejected'::text])))),
    CONSTRAINT organizations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'suspended'::text, 'rejected'::text, 'deleting'::text])))
);
COMMENT ON TABLE organizations IS 'The customers of the product; every tenant row names one.';
COMMENT ON COLUMN organizations.mfa_methods IS 'Which second factors count where the organization requires one.';
COMMENT ON COLUMN organizations.deletes_at IS 'When it is deleted for good; null for one that its owner has not deleted.';
COMMENT ON COLUMN organizations.status_before_deletion IS 'The status that it gets back when it is restored.';
COMMENT ON COLUMN organizations.had_other_members IS 'Whether anybody but its founder was ever a member of it.';
COMMENT ON COLUMN organizations.metadata IS 'What the organization notes about itself, by name.';
COMMENT ON COLUMN organizations.is_unclaimed IS 'Whether a vendor has made it for a customer, and no person owns it yet.';
COMMENT ON COLUMN organizations.internal_of IS 'The customer record for which it has what the vendor made; null for all that people see.';
COMMENT ON COLUMN organizations.claimed_at IS 'When a person became the owner of one that a vendor has made; null for all others.';
ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_slug_key UNIQUE (slug);
CREATE INDEX organizations_approved_by ON organizations USING btree (approved_by) WHERE (approved_by IS NOT NULL);
CREATE INDEX organizations_deleting ON organizations USING btree (deletes_at) WHERE (deletes_at IS NOT NULL);
CREATE UNIQUE INDEX organizations_internal_of ON organizations USING btree (internal_of) WHERE (internal_of IS NOT NULL);
CREATE INDEX organizations_letter_groups ON organizations USING gin (letter_groups(((lower(name) || ' '::text) || slug)));
CREATE INDEX organizations_metadata_addresses ON organizations USING gin (addresses_in(metadata)) WHERE ((metadata)::text ~~ '%@%'::text);
CREATE INDEX organizations_newest ON organizations USING btree (created_at DESC, id DESC);
CREATE INDEX organizations_of_status ON organizations USING btree (status, created_at DESC, id DESC);
CREATE INDEX organizations_of_tier ON organizations USING btree (tier_id, created_at DESC, id DESC);
CREATE INDEX organizations_with_address ON organizations USING btree (id) WHERE ((name ~~ '%@%'::text) OR (rejection_reason ~~ '%@%'::text) OR (suspension_reason ~~ '%@%'::text));
CREATE TRIGGER internal_organizations_follow AFTER UPDATE OF status ON organizations FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) AND (new.internal_of IS NULL))) EXECUTE FUNCTION internal_organizations_follow();
CREATE TRIGGER login_events_of_organization_deleted AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION login_events_of_organization_deleted();
CREATE TRIGGER organizations_deleted BEFORE DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION organization_deleted();
CREATE TRIGGER organizations_events_deleted AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION events_of_organization_deleted();
CREATE TRIGGER organizations_log_rows_deleted AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION log_rows_of_organization_deleted();
CREATE TRIGGER organizations_mails_deleted AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION mails_of_organization_deleted();
CREATE TRIGGER organizations_of_customers_closed AFTER UPDATE OF status ON organizations FOR EACH ROW WHEN (((old.status = 'active'::text) AND (new.status <> 'active'::text))) EXECUTE FUNCTION organizations_of_customers_closed();
CREATE TRIGGER subscription_counts_deleted AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION subscription_counts_deleted();

CREATE TABLE passkey_challenges (
    id uuid NOT NULL,
    purpose text NOT NULL,
    user_id uuid,
    challenge bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    number bigint DEFAULT nextval('passkey_challenge_numbers'::regclass) NOT NULL,
    CONSTRAINT passkey_challenges_purpose_check CHECK ((purpose = ANY (ARRAY['register'::text, 'authenticate'::text])))
);
COMMENT ON TABLE passkey_challenges IS 'What a browser is asked to sign; five minutes, one use.';
ALTER TABLE ONLY passkey_challenges
    ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (id);
CREATE INDEX passkey_challenges_ended ON passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_of_user ON passkey_challenges USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE TABLE passkeys (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    aaguid text NOT NULL,
    transports text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    verifies_user boolean DEFAULT false NOT NULL,
    domain_id uuid,
    second_factor_at timestamp with time zone,
    begins_sign_ins boolean DEFAULT true NOT NULL
);
COMMENT ON TABLE passkeys IS 'WebAuthn credentials.';
COMMENT ON COLUMN passkeys.verifies_user IS 'Whether its authenticator has checked a PIN, a finger or a face: two factors.';
COMMENT ON COLUMN passkeys.domain_id IS 'The custom domain that the passkey belongs to; null for the base URL.';
COMMENT ON COLUMN passkeys.second_factor_at IS 'Since when its owner has it as a second factor; null for one that is none.';
COMMENT ON COLUMN passkeys.begins_sign_ins IS 'Whether it signs in by itself; not one that stayed as a second factor when a change of address was undone.';
ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id);
ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);
CREATE INDEX passkeys_of_domain ON passkeys USING btree (domain_id) WHERE (domain_id IS NOT NULL);
CREATE INDEX passkeys_of_user ON passkeys USING btree (user_id, created_at);

CREATE TABLE plans (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    name text NOT NULL,
    price_cents bigint NOT NULL,
    currency text NOT NULL,
    features text[] DEFAULT '{}'::text[] NOT NULL,
    billing_price_id text,
    is_default boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT plans_currency_check CHECK ((currency ~ '^[a-z]{3}$'::text)),
    CONSTRAINT plans_price_cents_check CHECK ((price_cents >= 0))
);
COMMENT ON TABLE plans IS 'What end users of a service subscribe to; the default plan holds for those without a subscription.';
ALTER TABLE ONLY plans
    ADD CONSTRAINT plans_billing_price_id_key UNIQUE (billing_price_id);
ALTER TABLE ONLY plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (id);
ALTER TABLE ONLY plans
    ADD CONSTRAINT plans_service_id_id_key UNIQUE (service_id, id);
CREATE INDEX plans_of_organization ON plans USING btree (organization_id, service_id, created_at, id);
CREATE UNIQUE INDEX plans_one_default ON plans USING btree (service_id) WHERE is_default;
CREATE TRIGGER plans_priced AFTER UPDATE OF price_cents, currency ON plans FOR EACH ROW WHEN (((old.price_cents <> new.price_cents) OR (old.currency <> new.currency))) EXECUTE FUNCTION plans_priced();

CREATE TABLE platform_active_user_changes (
    day date NOT NULL,
    users bigint NOT NULL,
    week_change bigint NOT NULL,
    month_change bigint NOT NULL
);
COMMENT ON TABLE platform_active_user_changes IS 'The same for the whole platform.';
ALTER TABLE ONLY platform_active_user_changes
    ADD CONSTRAINT platform_active_user_changes_pkey PRIMARY KEY (day);

CREATE TABLE platform_audit_entries (
    id uuid NOT NULL,
    actor_user_id uuid,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    organization_id uuid,
    ip_address text,
    user_agent text,
    success boolean NOT NULL,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    request_id text
);
COMMENT ON TABLE platform_audit_entries IS 'What platform owners, the platform''s support and operators by command did. An organization that was deleted is still named here.';
COMMENT ON COLUMN platform_audit_entries.request_id IS 'The request that did it, as in the log of the service; null for commands and older entries.';
ALTER TABLE ONLY platform_audit_entries
    ADD CONSTRAINT platform_audit_entries_pkey PRIMARY KEY (id);
CREATE INDEX platform_audit_entries_action ON platform_audit_entries USING btree (action, id DESC);
CREATE INDEX platform_audit_entries_addresses ON platform_audit_entries USING gin (addresses_in(details)) WHERE ((details)::text ~~ '%@%'::text);
CREATE INDEX platform_audit_entries_ip_address ON platform_audit_entries USING btree (ip_address, id DESC) WHERE (ip_address IS NOT NULL);
CREATE INDEX platform_audit_entries_request ON platform_audit_entries USING btree (request_id, id DESC) WHERE (request_id IS NOT NULL);
CREATE INDEX platform_audit_entries_target ON platform_audit_entries USING btree (target_type, target_id, id DESC);
CREATE INDEX platform_audit_entries_who ON platform_audit_entries USING btree (actor_user_id, id DESC) WHERE (actor_user_id IS NOT NULL);
CREATE INDEX platform_audit_entries_without_user ON platform_audit_entries USING btree (COALESCE(('setup_link:'::text || (details ->> 'setup_link_id'::text)), ('api_key:'::text || (details ->> 'organization_key_id'::text)), 'system'::text), id DESC) WHERE (actor_user_id IS NULL);

CREATE TABLE platform_figures (
    is_the_only_row boolean DEFAULT true NOT NULL,
    active_users bigint NOT NULL,
    mfa_users bigint NOT NULL,
    organizations bigint NOT NULL,
    queued_mails bigint NOT NULL,
    queued_deliveries bigint NOT NULL,
    certificates_ending bigint NOT NULL,
    counted_at timestamp with time zone NOT NULL,
    CONSTRAINT platform_figures_is_the_only_row_check CHECK (is_the_only_row)
);
COMMENT ON TABLE platform_figures IS 'The figures of the gauges, as they were counted last; without a row, all accounts are counted.';
ALTER TABLE ONLY platform_figures
    ADD CONSTRAINT platform_figures_pkey PRIMARY KEY (is_the_only_row);

CREATE TABLE platform_sign_in_counts (
    day date NOT NULL,
    reason text NOT NULL,
    provider text NOT NULL,
    sign_ins bigint NOT NULL,
    CONSTRAINT platform_sign_in_counts_sign_ins_check CHECK ((sign_ins > 0))
);
COMMENT ON TABLE platform_sign_in_counts IS 'The counted sign-ins of all organizations and of none, by day (UTC).';
ALTER TABLE ONLY platform_sign_in_counts
    ADD CONSTRAINT platform_sign_in_counts_pkey PRIMARY KEY (day, reason, provider);

CREATE TABLE provider_sessions (
    session_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    name_id text NOT NULL,
    name_format text,
    name_qualifier text,
    sp_name_qualifier text,
    session_index text,
    id_token_sealed bytea
);
COMMENT ON TABLE provider_sessions IS 'How the identity providers of connections name users and their sessions there, by the session here.';
COMMENT ON COLUMN provider_sessions.name_id IS 'The NameID of SAML, or the sub of OpenID Connect.';
COMMENT ON COLUMN provider_sessions.session_index IS 'The SessionIndex of SAML, or the sid of OpenID Connect.';
COMMENT ON COLUMN provider_sessions.id_token_sealed IS 'The ID token that goes back to the provider as a hint when its person signs out; null where signing out ends here.';
ALTER TABLE ONLY provider_sessions
    ADD CONSTRAINT provider_sessions_pkey PRIMARY KEY (session_id);
CREATE INDEX provider_sessions_of_index ON provider_sessions USING btree (organization_id, connection_id, session_index) WHERE (session_index IS NOT NULL);
CREATE INDEX provider_sessions_of_name ON provider_sessions USING btree (organization_id, connection_id, name_id);

CREATE TABLE recent_acts (
    number bigint DEFAULT nextval('recent_act_numbers'::regclass) NOT NULL,
    organization_id uuid NOT NULL,
    credential_id uuid NOT NULL,
    act text NOT NULL,
    object_id uuid NOT NULL,
    user_id uuid NOT NULL,
    authority_id uuid,
    gives_products boolean,
    done_at timestamp with time zone NOT NULL,
    CONSTRAINT recent_acts_act_check CHECK ((act = ANY (ARRAY['put_in'::text, 'raised'::text, 'taken_out'::text, 'linked'::text])))
);
COMMENT ON TABLE recent_acts IS 'What SCIM tokens and API keys did in their first eight days that no log names one by one.';
COMMENT ON COLUMN recent_acts.credential_id IS 'The token or key, which may be deleted since.';
COMMENT ON COLUMN recent_acts.object_id IS 'The group into which a member was put or out of which they were taken, or the service to which a user was linked.';
COMMENT ON COLUMN recent_acts.authority_id IS 'By whose word somebody was in the group before, whose place was raised or who was taken out.';
COMMENT ON COLUMN recent_acts.gives_products IS 'Whether the place in the group gave products before.';
ALTER TABLE ONLY recent_acts
    ADD CONSTRAINT recent_acts_pkey PRIMARY KEY (number);
CREATE INDEX recent_acts_by_time ON recent_acts USING btree (done_at);
CREATE INDEX recent_acts_of_credential ON recent_acts USING btree (organization_id, credential_id, object_id, user_id, number);
CREATE INDEX recent_acts_of_place ON recent_acts USING btree (organization_id, object_id, user_id);

CREATE TABLE recent_refusals (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    reason text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE recent_refusals IS 'The refused sign-ins of the last minutes, and those that waited, which are counted by person.';
COMMENT ON COLUMN recent_refusals.id IS 'That of the event in the log of sign-ins.';
COMMENT ON COLUMN recent_refusals.organization_id IS 'As in the log of sign-ins: no reference.';
ALTER TABLE ONLY recent_refusals
    ADD CONSTRAINT recent_refusals_pkey PRIMARY KEY (id);
CREATE INDEX recent_refusals_of_user ON recent_refusals USING btree (user_id, created_at);

CREATE TABLE recovery_runs (
    kind text NOT NULL,
    succeeded_at timestamp with time zone NOT NULL,
    CONSTRAINT recovery_runs_kind_check CHECK ((kind = ANY (ARRAY['backup'::text, 'restore_drill'::text])))
);
COMMENT ON TABLE recovery_runs IS 'When a backup last succeeded, and when restoring one was last tried with success.';
ALTER TABLE ONLY recovery_runs
    ADD CONSTRAINT recovery_runs_pkey PRIMARY KEY (kind);

CREATE TABLE refused_redirects (
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    redirect_uri text NOT NULL,
    refused_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE refused_redirects IS 'Of each service, the redirect URI that was refused last; versions before the troubles of clients write it.';
ALTER TABLE ONLY refused_redirects
    ADD CONSTRAINT refused_redirects_pkey PRIMARY KEY (organization_id, service_id);

CREATE TABLE request_sign_ins (
    session_id uuid NOT NULL,
    request_key bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE request_sign_ins IS 'The browser sessions that a form has begun or continued which belonged to a request; no other request counts them.';
ALTER TABLE ONLY request_sign_ins
    ADD CONSTRAINT request_sign_ins_pkey PRIMARY KEY (session_id, request_key);
CREATE INDEX request_sign_ins_ended ON request_sign_ins USING btree (expires_at);

CREATE TABLE saml_certificates (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    public_key text NOT NULL,
    private_key_sealed bytea NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone NOT NULL,
    is_active boolean NOT NULL,
    published_until timestamp with time zone,
    warned_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE saml_certificates IS 'Key pairs that sign for a service: the active one, and those before it.';
COMMENT ON COLUMN saml_certificates.published_until IS 'Until then metadata contain a certificate that was replaced.';
COMMENT ON COLUMN saml_certificates.warned_at IS 'When a mail said that the certificate ends soon.';
ALTER TABLE ONLY saml_certificates
    ADD CONSTRAINT saml_certificates_pkey PRIMARY KEY (id);
CREATE INDEX saml_certificates_ending ON saml_certificates USING btree (valid_until) WHERE is_active;
CREATE INDEX saml_certificates_of_service ON saml_certificates USING btree (organization_id, service_id, created_at);
CREATE UNIQUE INDEX saml_certificates_one_active ON saml_certificates USING btree (service_id) WHERE is_active;

CREATE TABLE saml_configurations (
    service_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    enabled boolean NOT NULL,
    entity_id text,
    acs_url text,
    slo_url text,
    slo_binding text NOT NULL,
    name_id_format text,
    attribute_mapping jsonb,
    sign_assertions boolean NOT NULL,
    sign_response boolean NOT NULL,
    sp_certificate text,
    members_only boolean NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    last_request_at timestamp with time zone,
    last_error text,
    last_error_at timestamp with time zone,
    CONSTRAINT saml_configurations_check CHECK (((NOT enabled) OR ((entity_id IS NOT NULL) AND (acs_url IS NOT NULL))))
);
COMMENT ON TABLE saml_configurations IS 'The service provider of a service, and what assertions for it say.';
COMMENT ON COLUMN saml_configurations.attribute_mapping IS 'From fields of a user to the names of attributes.';
COMMENT ON COLUMN saml_configurations.sp_certificate IS 'If set, signatures of requests are verified and required.';
COMMENT ON COLUMN saml_configurations.last_request_at IS 'When a message of the service provider was last accepted, to the minute.';
ALTER TABLE ONLY saml_configurations
    ADD CONSTRAINT saml_configurations_pkey PRIMARY KEY (service_id);
CREATE INDEX saml_configurations_of_service ON saml_configurations USING btree (organization_id, service_id);

CREATE TABLE saml_logouts (
    id uuid NOT NULL,
    state_hash bytea NOT NULL,
    browser_hash bytea NOT NULL,
    organization_id uuid,
    service_id uuid,
    message_id text,
    relay_state text,
    is_signed boolean NOT NULL,
    named uuid[] NOT NULL,
    has_begun boolean NOT NULL,
    to_tell uuid[] NOT NULL,
    status text[] NOT NULL,
    awaited_id text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    connection_id uuid,
    provider_session_id uuid
);
COMMENT ON TABLE saml_logouts IS 'Logouts that a browser carries from one service provider to the next.';
COMMENT ON COLUMN saml_logouts.message_id IS 'The request to answer at the end; null when the user has signed out here.';
COMMENT ON COLUMN saml_logouts.named IS 'The sessions that the request names.';
COMMENT ON COLUMN saml_logouts.to_tell IS 'Ended sessions whose service providers are still to be told; the first one next.';
COMMENT ON COLUMN saml_logouts.awaited_id IS 'The request to the first of them, whose answer comes next.';
COMMENT ON COLUMN saml_logouts.connection_id IS 'The connection whose identity provider has asked, or is to be told at the end.';
COMMENT ON COLUMN saml_logouts.provider_session_id IS 'The session here of which that identity provider is to be told; null when it has asked itself, or has answered.';
ALTER TABLE ONLY saml_logouts
    ADD CONSTRAINT saml_logouts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY saml_logouts
    ADD CONSTRAINT saml_logouts_service_id_message_id_key UNIQUE (service_id, message_id);
ALTER TABLE ONLY saml_logouts
    ADD CONSTRAINT saml_logouts_state_hash_key UNIQUE (state_hash);
CREATE INDEX saml_logouts_expiry ON saml_logouts USING btree (expires_at);
CREATE UNIQUE INDEX saml_logouts_of_connection ON saml_logouts USING btree (organization_id, connection_id, message_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX saml_logouts_of_service ON saml_logouts USING btree (organization_id, service_id) WHERE (organization_id IS NOT NULL);

CREATE TABLE saml_requests (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    message_id text NOT NULL,
    state_hash bytea NOT NULL,
    browser_hash bytea NOT NULL,
    relay_state text,
    terms jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    answered_at timestamp with time zone,
    ticket_hash bytea,
    ticket_session_id uuid,
    ticket_expires_at timestamp with time zone,
    customer text
);
COMMENT ON TABLE saml_requests IS 'Messages that service providers have sent, so that each is answered once.';
COMMENT ON COLUMN saml_requests.state_hash IS 'The hash of saml_state.';
COMMENT ON COLUMN saml_requests.browser_hash IS 'The hash of the cookie of the browser that brought the message.';
COMMENT ON COLUMN saml_requests.ticket_session_id IS 'The session of a sign-in elsewhere that is to be answered with.';
COMMENT ON COLUMN saml_requests.customer IS 'The id or the slug of the customer that the request names; empty for none, null where it says nothing.';
ALTER TABLE ONLY saml_requests
    ADD CONSTRAINT saml_requests_pkey PRIMARY KEY (id);
ALTER TABLE ONLY saml_requests
    ADD CONSTRAINT saml_requests_service_id_message_id_key UNIQUE (service_id, message_id);
ALTER TABLE ONLY saml_requests
    ADD CONSTRAINT saml_requests_state_hash_key UNIQUE (state_hash);
CREATE INDEX saml_requests_expiry ON saml_requests USING btree (expires_at);
CREATE INDEX saml_requests_of_service ON saml_requests USING btree (organization_id, service_id);
CREATE INDEX saml_requests_of_ticket ON saml_requests USING btree (ticket_session_id) WHERE (ticket_session_id IS NOT NULL);

CREATE TABLE saml_sessions (
    session_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    audience text NOT NULL,
    name_id text NOT NULL,
    name_id_format text NOT NULL
);
COMMENT ON TABLE saml_sessions IS 'The sessions that service providers know, and under which name they know the user.';
ALTER TABLE ONLY saml_sessions
    ADD CONSTRAINT saml_sessions_pkey PRIMARY KEY (session_id);
CREATE INDEX saml_sessions_of_name ON saml_sessions USING btree (organization_id, service_id, name_id);

CREATE TABLE sandbox_customers (
    id text NOT NULL,
    organization_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    name text NOT NULL,
    default_payment_method text,
    created_at timestamp with time zone NOT NULL,
    service_id uuid,
    user_id uuid
);
COMMENT ON TABLE sandbox_customers IS 'Customers of the embedded sandbox provider, where no money moves.';
ALTER TABLE ONLY sandbox_customers
    ADD CONSTRAINT sandbox_customers_idempotency_key_key UNIQUE (idempotency_key);
ALTER TABLE ONLY sandbox_customers
    ADD CONSTRAINT sandbox_customers_pkey PRIMARY KEY (id);
CREATE INDEX sandbox_customers_of_organization ON sandbox_customers USING btree (organization_id);

CREATE TABLE sandbox_deliveries (
    id uuid NOT NULL,
    customer_id text NOT NULL,
    body text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE sandbox_deliveries IS 'Events that the sandbox provider has yet to send to the receiver.';
ALTER TABLE ONLY sandbox_deliveries
    ADD CONSTRAINT sandbox_deliveries_pkey PRIMARY KEY (id);
CREATE INDEX sandbox_deliveries_due ON sandbox_deliveries USING btree (due_at, id);
CREATE INDEX sandbox_deliveries_of_customer ON sandbox_deliveries USING btree (customer_id);

CREATE TABLE sandbox_sessions (
    id text NOT NULL,
    kind text NOT NULL,
    customer_id text NOT NULL,
    idempotency_key text,
    price_id text,
    price_cents bigint,
    currency text,
    service_name text,
    plan_name text,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    success_url text,
    return_url text NOT NULL,
    subscription_id text,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT sandbox_sessions_kind_check CHECK ((kind = ANY (ARRAY['checkout'::text, 'portal'::text])))
);
COMMENT ON TABLE sandbox_sessions IS 'Checkout and portal pages of the sandbox; the id is a capability that cannot be guessed.';
ALTER TABLE ONLY sandbox_sessions
    ADD CONSTRAINT sandbox_sessions_idempotency_key_key UNIQUE (idempotency_key);
ALTER TABLE ONLY sandbox_sessions
    ADD CONSTRAINT sandbox_sessions_pkey PRIMARY KEY (id);
CREATE INDEX sandbox_sessions_expiry ON sandbox_sessions USING btree (expires_at);
CREATE INDEX sandbox_sessions_of_customer ON sandbox_sessions USING btree (customer_id);
CREATE INDEX sandbox_sessions_subscription ON sandbox_sessions USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);

CREATE TABLE sandbox_subscriptions (
    id text NOT NULL,
    customer_id text NOT NULL,
    price_id text NOT NULL,
    price_cents bigint NOT NULL,
    currency text NOT NULL,
    description text NOT NULL,
    status text NOT NULL,
    metadata jsonb NOT NULL,
    current_period_start timestamp with time zone NOT NULL,
    current_period_end timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE sandbox_subscriptions IS 'Subscriptions of the embedded sandbox provider, where no money moves.';
ALTER TABLE ONLY sandbox_subscriptions
    ADD CONSTRAINT sandbox_subscriptions_pkey PRIMARY KEY (id);
CREATE INDEX sandbox_subscriptions_of_customer ON sandbox_subscriptions USING btree (customer_id, created_at);

CREATE TABLE schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    seconds double precision NOT NULL,
    compatible_from integer
);
COMMENT ON TABLE schema_migrations IS 'What was done to this database, and when.';
COMMENT ON COLUMN schema_migrations.compatible_from IS 'The last migration of the oldest Gatehouse that works with the schema after this one; null when only those do that have it.';
ALTER TABLE ONLY schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

CREATE TABLE scim_log_entries (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    token_id uuid NOT NULL,
    token_name text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    resource_id uuid,
    user_name text,
    status integer NOT NULL,
    scim_type text,
    detail text,
    created_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (id);
COMMENT ON TABLE scim_log_entries IS 'What the directory of an organization changed or failed to do; kept for 30 days.';
COMMENT ON COLUMN scim_log_entries.token_id IS 'No reference: the log names a token that was revoked since.';
ALTER TABLE ONLY scim_log_entries
    ADD CONSTRAINT scim_log_entries_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX scim_log_entries_failed ON ONLY scim_log_entries USING btree (organization_id, id DESC) WHERE (status >= 400);
CREATE INDEX scim_log_entries_newest ON ONLY scim_log_entries USING btree (organization_id, id DESC);
CREATE INDEX scim_log_entries_old ON ONLY scim_log_entries USING btree (created_at);
CREATE INDEX scim_log_entries_user_name ON ONLY scim_log_entries USING btree (user_name) WHERE (user_name IS NOT NULL);

CREATE TABLE scim_profiles (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    user_name text NOT NULL,
    external_id text,
    formatted_name text,
    given_name text,
    family_name text,
    display_name text,
    is_primary boolean DEFAULT true NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    made_given_name text,
    made_family_name text
);
COMMENT ON TABLE scim_profiles IS 'What the directory of an organization says of a member; the account itself has none of it.';
COMMENT ON COLUMN scim_profiles.user_name IS 'As it was sent: the address of the account in any case, or a name to sign in with at the directory.';
COMMENT ON COLUMN scim_profiles.is_primary IS 'What the directory says of the address of the account, which is the only one.';
COMMENT ON COLUMN scim_profiles.made_given_name IS 'The given name that was made of the address, which the directory has not told; null for one that it has.';
COMMENT ON COLUMN scim_profiles.made_family_name IS 'The same of the family name.';
ALTER TABLE ONLY scim_profiles
    ADD CONSTRAINT scim_profiles_pkey PRIMARY KEY (organization_id, user_id);
CREATE INDEX scim_profiles_external_id ON scim_profiles USING btree (organization_id, external_id) WHERE (external_id IS NOT NULL);
CREATE UNIQUE INDEX scim_profiles_login_name ON scim_profiles USING btree (organization_id, lower(user_name)) WHERE (user_name !~~ '%@%'::text);
CREATE INDEX scim_profiles_of_user ON scim_profiles USING btree (user_id);
CREATE TRIGGER names_of_customers_changed AFTER INSERT OR UPDATE OF display_name, formatted_name, given_name, family_name ON scim_profiles FOR EACH ROW EXECUTE FUNCTION members_of_customers_changed();

CREATE TABLE scim_tokens (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    token_hash bytea NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    created_by uuid,
    maker_role text,
    maker_permissions text[],
    groups text DEFAULT 'organization'::text NOT NULL,
    link_roles text[],
    made_by_key uuid,
    made_through text,
    CONSTRAINT scim_tokens_groups_check CHECK ((groups = ANY (ARRAY['organization'::text, 'directory'::text])))
);
COMMENT ON TABLE scim_tokens IS 'Tokens with which the directory of an organization calls /scim/v2; stored as hashes.';
COMMENT ON COLUMN scim_tokens.maker_role IS 'The role of the maker when the token was made; a token without one changes plain members only.';
COMMENT ON COLUMN scim_tokens.maker_permissions IS 'What the role allowed then, if it was a custom role.';
COMMENT ON COLUMN scim_tokens.groups IS 'What the directory finds under /Groups: the organization alone, or the groups that it sends.';
COMMENT ON COLUMN scim_tokens.link_roles IS 'The roles of the setup link that made the token, which changes members with these and plain members; null for one that a member made.';
COMMENT ON COLUMN scim_tokens.made_by_key IS 'The key of the organization that made it, itself or by its setup link; null for one that a person made.';
COMMENT ON COLUMN scim_tokens.made_through IS 'As of upstream_connections.';
ALTER TABLE ONLY scim_tokens
    ADD CONSTRAINT scim_tokens_pkey PRIMARY KEY (id);
CREATE INDEX scim_tokens_created_by ON scim_tokens USING btree (created_by) WHERE (created_by IS NOT NULL);
CREATE INDEX scim_tokens_made_by_key ON scim_tokens USING btree (made_by_key) WHERE (made_by_key IS NOT NULL);
CREATE INDEX scim_tokens_of_organization ON scim_tokens USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX scim_tokens_prefix ON scim_tokens USING btree (prefix);
CREATE TRIGGER scim_tokens_removed AFTER DELETE ON scim_tokens FOR EACH ROW WHEN ((old.groups = 'directory'::text)) EXECUTE FUNCTION scim_tokens_removed();

CREATE TABLE server_secrets (
    name text NOT NULL,
    value_sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE server_secrets IS 'Secrets of the installation itself, such as the key of its keyed hashes.';
ALTER TABLE ONLY server_secrets
    ADD CONSTRAINT server_secrets_pkey PRIMARY KEY (name);

CREATE TABLE service_assignments (
    service_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    "position" integer NOT NULL,
    subject text NOT NULL,
    role text,
    custom_role text,
    group_id uuid,
    user_id uuid,
    role_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    CONSTRAINT service_assignments_check CHECK (((subject = 'role'::text) = (role IS NOT NULL))),
    CONSTRAINT service_assignments_check1 CHECK ((custom_role = role)),
    CONSTRAINT service_assignments_check2 CHECK (((subject = 'group'::text) = (group_id IS NOT NULL))),
    CONSTRAINT service_assignments_check3 CHECK (((subject = 'user'::text) = (user_id IS NOT NULL))),
    CONSTRAINT service_assignments_subject_check CHECK ((subject = ANY (ARRAY['everyone'::text, 'role'::text, 'group'::text, 'user'::text])))
);
COMMENT ON TABLE service_assignments IS 'Whom an organization assigns to a service of its own, and with which of its roles.';
COMMENT ON COLUMN service_assignments.role_ids IS 'The roles of the service, by their ids; one that the service no longer has gives nothing.';
ALTER TABLE ONLY service_assignments
    ADD CONSTRAINT service_assignments_pkey PRIMARY KEY (service_id, organization_id, "position");
CREATE INDEX service_assignments_of_group ON service_assignments USING btree (organization_id, group_id);
CREATE INDEX service_assignments_of_role ON service_assignments USING btree (organization_id, custom_role);
CREATE INDEX service_assignments_of_user ON service_assignments USING btree (organization_id, user_id);
CREATE TRIGGER service_assignments_removed AFTER DELETE ON service_assignments REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION service_assignments_removed();

CREATE TABLE service_audiences (
    audience text NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL
);
COMMENT ON TABLE service_audiences IS 'The audiences of services; no two services have the same one.';
ALTER TABLE ONLY service_audiences
    ADD CONSTRAINT service_audiences_pkey PRIMARY KEY (audience);
CREATE INDEX service_audiences_of_service ON service_audiences USING btree (organization_id, service_id);

CREATE TABLE service_customers (
    id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    service_id uuid NOT NULL,
    offered_slug text,
    offered_to uuid,
    offer_expires_at timestamp with time zone,
    organization_id uuid,
    accepted_at timestamp with time zone,
    vendor_paused_at timestamp with time zone,
    customer_paused_at timestamp with time zone,
    external_id text,
    access text DEFAULT 'members'::text NOT NULL,
    shares_directory boolean DEFAULT false NOT NULL,
    groups uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    hidden boolean DEFAULT false NOT NULL,
    last_sign_in_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    is_made boolean DEFAULT false NOT NULL,
    vendor_setup text[] DEFAULT '{}'::text[] NOT NULL,
    ended_at timestamp with time zone,
    ended_organization_id uuid,
    ended_external_id text,
    made_name text,
    CONSTRAINT service_customers_access_check CHECK ((access = ANY (ARRAY['members'::text, 'assigned'::text]))),
    CONSTRAINT service_customers_check CHECK (((organization_id IS NULL) = (accepted_at IS NULL))),
    CONSTRAINT service_customers_check1 CHECK ((organization_id <> vendor_id)),
    CONSTRAINT service_customers_check2 CHECK (((offered_slug IS NULL) = (offer_expires_at IS NULL))),
    CONSTRAINT service_customers_check3 CHECK (((offered_slug IS NOT NULL) OR (organization_id IS NOT NULL) OR (ended_organization_id IS NOT NULL))),
    CONSTRAINT service_customers_ended_check CHECK ((((ended_at IS NULL) = (ended_organization_id IS NULL)) AND ((ended_at IS NULL) OR (organization_id IS NULL))))
);
COMMENT ON TABLE service_customers IS 'Organizations that use the service of another one, and offers to become one.';
COMMENT ON COLUMN service_customers.vendor_id IS 'The organization of the service.';
COMMENT ON COLUMN service_customers.offered_slug IS 'The slug that the vendor has offered it to, as typed; null where the customer began by itself.';
COMMENT ON COLUMN service_customers.offered_to IS 'The organization that had that slug at the offer, if there was one.';
COMMENT ON COLUMN service_customers.organization_id IS 'The customer; null while it is only offered.';
COMMENT ON COLUMN service_customers.access IS 'Whether every member may use it, or those alone whom an assignment fits.';
COMMENT ON COLUMN service_customers.groups IS 'The groups of the customer that the vendor learns of.';
COMMENT ON COLUMN service_customers.hidden IS 'Whether no address of a mail domain of the customer shows that it is one.';
COMMENT ON COLUMN service_customers.last_sign_in_at IS 'The last sign-in for the customer, exact to the hour.';
COMMENT ON COLUMN service_customers.metadata IS 'What the vendor notes about the customer, by name.';
COMMENT ON COLUMN service_customers.is_made IS 'Whether the vendor has made the organization for it.';
COMMENT ON COLUMN service_customers.vendor_setup IS 'Which parts the owner lets the vendor set up, once the organization has one.';
COMMENT ON COLUMN service_customers.ended_at IS 'Since when an unclaimed customer has ended, which can be restored; null for all others.';
COMMENT ON COLUMN service_customers.ended_organization_id IS 'The organization of an unclaimed customer that has ended.';
COMMENT ON COLUMN service_customers.ended_external_id IS 'The external id that it had, which another customer may have now.';
COMMENT ON COLUMN service_customers.made_name IS 'What the vendor called the organization that it made, before its owner chose a name.';
ALTER TABLE ONLY service_customers
    ADD CONSTRAINT service_customers_id_organization_id_key UNIQUE (id, organization_id);
ALTER TABLE ONLY service_customers
    ADD CONSTRAINT service_customers_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX service_customers_active ON service_customers USING btree (service_id, organization_id) WHERE (accepted_at IS NOT NULL);
CREATE INDEX service_customers_ended_organization ON service_customers USING btree (ended_organization_id) WHERE (ended_organization_id IS NOT NULL);
CREATE UNIQUE INDEX service_customers_external ON service_customers USING btree (service_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX service_customers_in_order ON service_customers USING btree (service_id, created_at, id);
CREATE INDEX service_customers_made ON service_customers USING btree (vendor_id) WHERE is_made;
CREATE INDEX service_customers_metadata_addresses ON service_customers USING gin (addresses_in(metadata)) WHERE ((metadata)::text ~~ '%@%'::text);
CREATE INDEX service_customers_of_organization ON service_customers USING btree (organization_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX service_customers_of_vendor ON service_customers USING btree (vendor_id, service_id);
CREATE UNIQUE INDEX service_customers_offered ON service_customers USING btree (service_id, offered_slug) WHERE (accepted_at IS NULL);
CREATE INDEX service_customers_offered_to ON service_customers USING btree (offered_to) WHERE (offered_to IS NOT NULL);
CREATE INDEX service_customers_offers_over ON service_customers USING btree (offer_expires_at) WHERE (accepted_at IS NULL);
CREATE TRIGGER customers_show_others AFTER UPDATE OF access, shares_directory ON service_customers FOR EACH ROW WHEN (((old.access IS DISTINCT FROM new.access) OR (old.shares_directory IS DISTINCT FROM new.shares_directory))) EXECUTE FUNCTION customers_show_others();
CREATE TRIGGER internal_organizations_follow AFTER UPDATE OF accepted_at, vendor_paused_at, customer_paused_at ON service_customers FOR EACH ROW EXECUTE FUNCTION internal_organizations_follow();
CREATE TRIGGER service_customers_changed AFTER INSERT OR DELETE OR UPDATE OF accepted_at, vendor_paused_at, customer_paused_at, access ON service_customers FOR EACH ROW EXECUTE FUNCTION service_customers_changed();

CREATE TABLE service_grants (
    service_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    relation text NOT NULL,
    granted_by uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT service_grants_relation_check CHECK ((relation = ANY (ARRAY['manager'::text, 'viewer'::text])))
);
COMMENT ON TABLE service_grants IS 'What a member may do with one service, beyond their role; it ends with the membership.';
ALTER TABLE ONLY service_grants
    ADD CONSTRAINT service_grants_pkey PRIMARY KEY (service_id, user_id);
CREATE INDEX service_grants_granted_by ON service_grants USING btree (granted_by) WHERE (granted_by IS NOT NULL);
CREATE INDEX service_grants_of_service ON service_grants USING btree (organization_id, service_id, created_at, user_id);
CREATE INDEX service_grants_of_user ON service_grants USING btree (user_id, organization_id);

CREATE TABLE service_user_changes (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    service_id uuid NOT NULL,
    user_id uuid NOT NULL,
    change smallint NOT NULL,
    CONSTRAINT service_user_changes_change_check CHECK ((change = ANY (ARRAY['-1'::integer, 1])))
);
COMMENT ON TABLE service_user_changes IS 'Users that services got or lost, which the milestones do not count yet.';
ALTER TABLE ONLY service_user_changes
    ADD CONSTRAINT service_user_changes_pkey PRIMARY KEY (id);
CREATE INDEX service_user_changes_of_service ON service_user_changes USING btree (service_id, user_id) INCLUDE (change);

CREATE TABLE service_user_metadata (
    service_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    metadata jsonb NOT NULL
);
COMMENT ON TABLE service_user_metadata IS 'What a service notes about its users, by name; gone with the last link.';
ALTER TABLE ONLY service_user_metadata
    ADD CONSTRAINT service_user_metadata_pkey PRIMARY KEY (service_id, user_id);
CREATE INDEX service_user_metadata_addresses ON service_user_metadata USING gin (addresses_in(metadata)) WHERE ((metadata)::text ~~ '%@%'::text);
CREATE INDEX service_user_metadata_of_service ON service_user_metadata USING btree (organization_id, service_id);
CREATE INDEX service_user_metadata_of_user ON service_user_metadata USING btree (user_id);

CREATE TABLE service_user_milestones (
    service_id uuid NOT NULL,
    user_id uuid NOT NULL,
    users bigint NOT NULL
);
COMMENT ON TABLE service_user_milestones IS 'How many users of a service have an id up to this one; the highest possible id stands for all of them.';
ALTER TABLE ONLY service_user_milestones
    ADD CONSTRAINT service_user_milestones_pkey PRIMARY KEY (service_id, user_id);
CREATE INDEX service_user_milestones_before ON service_user_milestones USING btree (service_id, users, user_id);

CREATE TABLE service_users (
    service_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    first_login_at timestamp with time zone NOT NULL,
    last_login_at timestamp with time zone,
    email text NOT NULL,
    origin text DEFAULT 'self'::text NOT NULL,
    CONSTRAINT service_users_origin_check CHECK ((origin = ANY (ARRAY['membership'::text, 'key'::text, 'self'::text])))
);
COMMENT ON TABLE service_users IS 'End users: who signs in with a service.';
COMMENT ON COLUMN service_users.last_login_at IS 'The last sign-in, which confirms the link; null until then, and after a first proof of the address.';
COMMENT ON COLUMN service_users.email IS 'The address of the account; whoever links somebody need not know it.';
COMMENT ON COLUMN service_users.origin IS 'What the link came with: a membership, an API key, or a sign-in by its user.';
ALTER TABLE ONLY service_users
    ADD CONSTRAINT service_users_pkey PRIMARY KEY (service_id, user_id);
CREATE INDEX service_users_linked ON service_users USING btree (service_id, first_login_at);
CREATE INDEX service_users_of_organization ON service_users USING btree (organization_id, user_id DESC) INCLUDE (email, service_id);
CREATE INDEX service_users_of_user ON service_users USING btree (user_id, organization_id);
CREATE TRIGGER service_users_changed AFTER INSERT OR DELETE ON service_users FOR EACH ROW EXECUTE FUNCTION service_users_changed();
CREATE TRIGGER service_users_email BEFORE INSERT ON service_users FOR EACH ROW EXECUTE FUNCTION service_users_email();
CREATE TRIGGER service_users_keep_user AFTER INSERT ON service_users FOR EACH ROW EXECUTE FUNCTION user_given_something();
CREATE TRIGGER service_users_known_ids_ended AFTER DELETE ON service_users REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION known_ids_ended();
CREATE TRIGGER service_users_known_ids_given AFTER INSERT ON service_users REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION known_ids_given();
CREATE TRIGGER service_users_metadata_ended AFTER DELETE ON service_users REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION service_user_metadata_ended();
CREATE TRIGGER service_users_metadata_moved AFTER UPDATE OF user_id ON service_users FOR EACH ROW WHEN ((old.user_id <> new.user_id)) EXECUTE FUNCTION service_user_metadata_moved();
CREATE TRIGGER service_users_moved AFTER UPDATE OF user_id ON service_users FOR EACH ROW WHEN ((old.user_id <> new.user_id)) EXECUTE FUNCTION service_users_moved();

CREATE TABLE services (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    service_type text NOT NULL,
    client_id uuid NOT NULL,
    client_secret_hash bytea,
    codehost_scopes text[],
    websuite_scopes text[],
    officesuite_scopes text[],
    redirect_uris text[] DEFAULT '{}'::text[] NOT NULL,
    device_activation_uri text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    post_logout_redirect_uris text[] DEFAULT '{}'::text[] NOT NULL,
    backchannel_logout_uri text,
    frontchannel_logout_uri text,
    jwks_uri text,
    jwks jsonb,
    audiences text[] DEFAULT '{}'::text[] NOT NULL,
    client_secret_made_by uuid,
    security_profile text,
    client_secret_made_at timestamp with time zone,
    group_claims text[] DEFAULT '{}'::text[] NOT NULL,
    customers text DEFAULT 'none'::text NOT NULL,
    individuals text DEFAULT 'all'::text NOT NULL,
    roles jsonb DEFAULT '[]'::jsonb NOT NULL,
    role_ids jsonb DEFAULT '{}'::jsonb NOT NULL,
    initiate_login_uri text,
    previous_secret_hash bytea,
    previous_secret_expires_at timestamp with time zone,
    scopes jsonb DEFAULT '[]'::jsonb NOT NULL,
    machine_scopes text[] DEFAULT '{}'::text[] NOT NULL,
    claims jsonb DEFAULT '[]'::jsonb NOT NULL,
    access text DEFAULT 'everyone'::text NOT NULL,
    groups_as text DEFAULT 'objects'::text NOT NULL,
    token_signing text DEFAULT 'RS256'::text NOT NULL,
    CONSTRAINT services_access_check CHECK ((access = ANY (ARRAY['everyone'::text, 'members'::text, 'assigned'::text]))),
    CONSTRAINT services_customers_check CHECK ((customers = ANY (ARRAY['none'::text, 'listed'::text, 'any'::text]))),
    CONSTRAINT services_groups_as_check CHECK ((groups_as = ANY (ARRAY['names'::text, 'ids'::text, 'objects'::text]))),
    CONSTRAINT services_individuals_check CHECK ((individuals = ANY (ARRAY['none'::text, 'others'::text, 'all'::text]))),
    CONSTRAINT services_security_profile_check CHECK ((security_profile = 'fapi2'::text)),
    CONSTRAINT services_service_type_check CHECK ((service_type = ANY (ARRAY['web'::text, 'mobile'::text, 'desktop'::text, 'api'::text]))),
    CONSTRAINT services_token_signing_check CHECK ((token_signing = ANY (ARRAY['RS256'::text, 'ES256'::text])))
);
COMMENT ON TABLE services IS 'The applications of an organization.';
COMMENT ON COLUMN services.jwks IS 'The public keys with which the service signs its assertions, when it publishes them nowhere.';
COMMENT ON COLUMN services.client_secret_made_by IS 'Who made the present secret; null before Gatehouse recorded it.';
COMMENT ON COLUMN services.security_profile IS 'Which stricter rules of OAuth hold for the service; null for none beyond the usual ones.';
COMMENT ON COLUMN services.group_claims IS 'The ids of the groups of the organization that its tokens name, or all; none by default.';
COMMENT ON COLUMN services.customers IS 'Which organizations may use it: none, those that it lists, or any.';
COMMENT ON COLUMN services.individuals IS 'Who may use it without a customer: nobody, people of no customer, or everybody.';
COMMENT ON COLUMN services.roles IS 'Its own roles: a list of name, title, description and, where a role gives some, scopes.';
COMMENT ON COLUMN services.role_ids IS 'The id of each role by its name; a role of the same name that is made later has another one.';
COMMENT ON COLUMN services.previous_secret_expires_at IS 'Until when the secret before the present one is taken; null where none was kept.';
COMMENT ON COLUMN services.scopes IS 'Its own scopes: a list of name and description.';
COMMENT ON COLUMN services.machine_scopes IS 'Those of its scopes that its machines may have: its own tokens, and those of workloads.';
COMMENT ON COLUMN services.claims IS 'What its tokens and assertions say besides: a list of claim, from and in_access_token.';
COMMENT ON COLUMN services.access IS 'Who may use it without a customer: everyone, members of the organization, or those whom it assigns.';
COMMENT ON COLUMN services.groups_as IS 'How tokens tell of groups: by names, by ids, or as objects of both.';
COMMENT ON COLUMN services.token_signing IS 'The algorithm that signs its tokens where it has no security profile.';
ALTER TABLE ONLY services
    ADD CONSTRAINT services_client_id_key UNIQUE (client_id);
ALTER TABLE ONLY services
    ADD CONSTRAINT services_organization_id_id_key UNIQUE (organization_id, id);
ALTER TABLE ONLY services
    ADD CONSTRAINT services_organization_id_slug_key UNIQUE (organization_id, slug);
ALTER TABLE ONLY services
    ADD CONSTRAINT services_pkey PRIMARY KEY (id);
CREATE INDEX services_newest ON services USING btree (organization_id, created_at, id);
CREATE TRIGGER login_events_of_service_deleted AFTER DELETE ON services FOR EACH ROW EXECUTE FUNCTION login_events_of_service_deleted();
CREATE TRIGGER roles_of_customers_changed AFTER UPDATE OF role_ids ON services FOR EACH ROW WHEN (((old.customers <> 'none'::text) AND (old.role_ids IS DISTINCT FROM new.role_ids))) EXECUTE FUNCTION roles_of_customers_changed();
CREATE TRIGGER services_closed AFTER UPDATE ON services FOR EACH ROW WHEN (((old.access IS DISTINCT FROM new.access) AND (new.access <> 'everyone'::text))) EXECUTE FUNCTION services_of_customers_changed();
CREATE TRIGGER services_of_customers_changed AFTER UPDATE ON services FOR EACH ROW WHEN (((old.customers IS DISTINCT FROM new.customers) OR (old.individuals IS DISTINCT FROM new.individuals) OR (old.role_ids IS DISTINCT FROM new.role_ids))) EXECUTE FUNCTION services_of_customers_changed();

CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid,
    service_id uuid,
    device_id uuid,
    provider text NOT NULL,
    amr text[] NOT NULL,
    authenticated_at timestamp with time zone NOT NULL,
    refresh_hash bytea NOT NULL,
    refreshed_at timestamp with time zone NOT NULL,
    exchanged_at timestamp with time zone[] DEFAULT '{}'::timestamp with time zone[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ip_address text,
    user_agent text,
    impersonator_id uuid,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    impersonator_session_id uuid,
    parent_id uuid,
    confined_to uuid,
    confined_to_service uuid,
    connection_id uuid,
    confined_to_role text,
    bounded_until timestamp with time zone,
    customer_id uuid,
    lacks_connection boolean DEFAULT false NOT NULL
);
COMMENT ON TABLE sessions IS 'One sign-in, alive until revoked_at or expires_at; every request asks this row.';
COMMENT ON COLUMN sessions.exchanged_at IS 'When the last refresh tokens were exchanged, newest first; repeating is forgiven for a moment.';
COMMENT ON COLUMN sessions.expires_at IS 'The end of the absolute lifetime; the idle one counts from refreshed_at.';
COMMENT ON COLUMN sessions.impersonator_session_id IS 'The session of the platform owner; the impersonation ends with it.';
COMMENT ON COLUMN sessions.parent_id IS 'The browser session from which this one began; it ends when a person ends that one.';
COMMENT ON COLUMN sessions.confined_to IS 'The organization beyond which this session signs in to nothing; null for none.';
COMMENT ON COLUMN sessions.confined_to_service IS 'The one service of it that the session may sign in to; null for all.';
COMMENT ON COLUMN sessions.connection_id IS 'The upstream connection by which its user has signed in.';
COMMENT ON COLUMN sessions.confined_to_role IS 'The role that the session opens besides member, while only the word of its connection says whose it is; null without that limit.';
COMMENT ON COLUMN sessions.bounded_until IS 'Until when the identity provider that signed its user in lets the session last; null without such an end.';
COMMENT ON COLUMN sessions.customer_id IS 'The customer of the service for which its user acts in it; it never changes.';
COMMENT ON COLUMN sessions.lacks_connection IS 'Whether it is limited only for lack of the sign-in that an organization requires of its user.';
ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
CREATE INDEX sessions_ended ON sessions USING btree (expires_at);
CREATE INDEX sessions_of_connection ON sessions USING btree (connection_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX sessions_of_customer ON sessions USING btree (customer_id, id) WHERE (customer_id IS NOT NULL);
CREATE INDEX sessions_of_device ON sessions USING btree (device_id);
CREATE INDEX sessions_of_impersonator ON sessions USING btree (impersonator_id) WHERE (impersonator_id IS NOT NULL);
CREATE INDEX sessions_of_impersonator_session ON sessions USING btree (impersonator_session_id) WHERE (impersonator_session_id IS NOT NULL);
CREATE INDEX sessions_of_organization ON sessions USING btree (organization_id, user_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX sessions_of_parent ON sessions USING btree (parent_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX sessions_of_service_in_order ON sessions USING btree (service_id, id) WHERE (service_id IS NOT NULL);
CREATE INDEX sessions_of_user ON sessions USING btree (user_id, created_at DESC);
CREATE TRIGGER sessions_revoked AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL) AND (old.service_id IS NOT NULL))) EXECUTE FUNCTION sessions_ended();

CREATE TABLE setup_links (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    parts text[] NOT NULL,
    service_id uuid,
    secret_hash bytea NOT NULL,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    roles text[] DEFAULT '{}'::text[] NOT NULL,
    made_by_key uuid,
    return_url text,
    reported_actor text,
    made_by_api_key uuid,
    CONSTRAINT setup_links_check CHECK ((('saml'::text = ANY (parts)) = (service_id IS NOT NULL))),
    CONSTRAINT setup_links_parts_check CHECK ((cardinality(parts) > 0))
);
COMMENT ON TABLE setup_links IS 'Links with which people without an account fill in settings of an organization.';
COMMENT ON COLUMN setup_links.roles IS 'The roles that rules of groups may give which are made with the link; none without the part groups.';
COMMENT ON COLUMN setup_links.made_by_key IS 'The key of the organization that made it, within whose capabilities it works; null for one that a person made.';
COMMENT ON COLUMN setup_links.return_url IS 'Where the pages of a link lead back to that a vendor made for a customer; null for nowhere.';
COMMENT ON COLUMN setup_links.reported_actor IS 'Who uses such a link, as the vendor reports it.';
COMMENT ON COLUMN setup_links.made_by_api_key IS 'The API key of a service that made it, with which it ends; null for one that a person made.';
ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_organization_id_id_key UNIQUE (organization_id, id);
ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_secret_hash_key UNIQUE (secret_hash);
CREATE INDEX setup_links_expiry ON setup_links USING btree (expires_at);
CREATE INDEX setup_links_made_by_api_key ON setup_links USING btree (made_by_api_key) WHERE (made_by_api_key IS NOT NULL);
CREATE INDEX setup_links_made_by_key ON setup_links USING btree (made_by_key) WHERE (made_by_key IS NOT NULL);
CREATE INDEX setup_links_of_maker ON setup_links USING btree (created_by);
CREATE INDEX setup_links_of_service ON setup_links USING btree (organization_id, service_id) WHERE (service_id IS NOT NULL);

CREATE TABLE setup_visits (
    secret_hash bytea NOT NULL,
    organization_id uuid NOT NULL,
    link_id uuid NOT NULL
);
COMMENT ON TABLE setup_visits IS 'The cookies for which the secrets of setup links were exchanged; they end with the link.';
ALTER TABLE ONLY setup_visits
    ADD CONSTRAINT setup_visits_pkey PRIMARY KEY (secret_hash);
CREATE INDEX setup_visits_of_link ON setup_visits USING btree (organization_id, link_id);

CREATE TABLE shown_secrets (
    id uuid NOT NULL,
    session_id uuid,
    setup_visit_hash bytea,
    page text NOT NULL,
    secrets_sealed bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT shown_secrets_one_holder CHECK ((num_nonnulls(session_id, setup_visit_hash) = 1))
);
COMMENT ON TABLE shown_secrets IS 'Secrets that a form has made and that a page shows once, to the browser session, or the visit of a setup link, that made them.';
COMMENT ON COLUMN shown_secrets.page IS 'The path of the page, without the id.';
ALTER TABLE ONLY shown_secrets
    ADD CONSTRAINT shown_secrets_pkey PRIMARY KEY (id);
CREATE INDEX shown_secrets_ended ON shown_secrets USING btree (expires_at);
CREATE INDEX shown_secrets_of_session ON shown_secrets USING btree (session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX shown_secrets_of_setup_visit ON shown_secrets USING btree (setup_visit_hash) WHERE (setup_visit_hash IS NOT NULL);

CREATE TABLE siem_streams (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    provider text NOT NULL,
    endpoint text NOT NULL,
    token_sealed bytea,
    options jsonb NOT NULL,
    event_filter text[],
    enabled boolean NOT NULL,
    starts_at timestamp with time zone,
    "position" bigint NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    last_success_at timestamp with time zone,
    last_error text,
    attempted_at timestamp with time zone,
    due_at timestamp with time zone,
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    made_by uuid,
    sent_entries bigint DEFAULT 0 NOT NULL,
    last_sent_entries integer,
    made_at timestamp with time zone,
    off_reason text,
    include text[] DEFAULT '{audit}'::text[] NOT NULL,
    sign_ins_at timestamp with time zone,
    sign_ins_id uuid,
    CONSTRAINT siem_streams_position_check CHECK (("position" >= 0)),
    CONSTRAINT siem_streams_provider_check CHECK ((provider = ANY (ARRAY['http'::text, 'splunk'::text, 'datadog'::text, 'elastic'::text])))
);
COMMENT ON TABLE siem_streams IS 'Where the audit log of an organization is sent, and how far it was received.';
COMMENT ON COLUMN siem_streams.starts_at IS 'Earlier entries are passed over; null sends the log from its beginning.';
COMMENT ON COLUMN siem_streams."position" IS 'The position in the chain up to which everything was received.';
COMMENT ON COLUMN siem_streams.due_at IS 'When the next batch is sent; null when nothing is left to send.';
COMMENT ON COLUMN siem_streams.made_by IS 'Who configured the stream last; null before Gatehouse recorded it.';
COMMENT ON COLUMN siem_streams.sent_entries IS 'How many entries the receiver has taken since the stream was created, repeated ones included.';
COMMENT ON COLUMN siem_streams.last_sent_entries IS 'How many it took last, at last_success_at.';
COMMENT ON COLUMN siem_streams.off_reason IS 'Why it was switched off by itself; null when it is on, or a person switched it off.';
COMMENT ON COLUMN siem_streams.include IS 'What is sent: audit, sign_ins, or both.';
COMMENT ON COLUMN siem_streams.sign_ins_at IS 'The time of the last sign-in that was received, or up to which there was none; null without sign-ins.';
COMMENT ON COLUMN siem_streams.sign_ins_id IS 'The id of that sign-in, behind all of that time where there was none.';
ALTER TABLE ONLY siem_streams
    ADD CONSTRAINT siem_streams_organization_id_key UNIQUE (organization_id);
ALTER TABLE ONLY siem_streams
    ADD CONSTRAINT siem_streams_pkey PRIMARY KEY (id);
CREATE INDEX siem_streams_due ON siem_streams USING btree (due_at) WHERE (enabled AND (due_at IS NOT NULL));
CREATE INDEX siem_streams_failing ON siem_streams USING btree (organization_id) WHERE (enabled AND (failures > 0));

CREATE TABLE sign_in_counting (
    is_the_only_row boolean DEFAULT true NOT NULL,
    counted_through uuid NOT NULL,
    CONSTRAINT sign_in_counting_is_the_only_row_check CHECK (is_the_only_row)
);
COMMENT ON TABLE sign_in_counting IS 'The id up to which the login events are counted.';
ALTER TABLE ONLY sign_in_counting
    ADD CONSTRAINT sign_in_counting_pkey PRIMARY KEY (is_the_only_row);

CREATE TABLE sign_in_counts (
    organization_id uuid NOT NULL,
    day date NOT NULL,
    reason text NOT NULL,
    provider text NOT NULL,
    service_id uuid NOT NULL,
    sign_ins bigint NOT NULL,
    CONSTRAINT sign_in_counts_sign_ins_check CHECK ((sign_ins > 0))
);
COMMENT ON TABLE sign_in_counts IS 'The counted sign-ins to an organization by day (UTC); they outlive the login events.';
COMMENT ON COLUMN sign_in_counts.reason IS 'Why they were refused; empty for those that succeeded.';
COMMENT ON COLUMN sign_in_counts.service_id IS 'Zero for a sign-in to no service; no reference.';
ALTER TABLE ONLY sign_in_counts
    ADD CONSTRAINT sign_in_counts_pkey PRIMARY KEY (organization_id, day, reason, provider, service_id);

CREATE TABLE sign_in_failures (
    id uuid NOT NULL,
    email_hash bytea NOT NULL,
    network text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    has_failed boolean DEFAULT true NOT NULL,
    session_id uuid
);
COMMENT ON TABLE sign_in_failures IS 'Refused sign-ins of the last minutes by address, whether or not an account has it.';
COMMENT ON COLUMN sign_in_failures.has_failed IS 'False while the comparison is not decided; such an attempt counts for a minute.';
COMMENT ON COLUMN sign_in_failures.session_id IS 'The session in which its user was to prove that they are there; null for a sign-in.';
ALTER TABLE ONLY sign_in_failures
    ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (id);
CREATE INDEX sign_in_failures_old ON sign_in_failures USING btree (created_at);
CREATE INDEX sign_in_failures_recent ON sign_in_failures USING btree (email_hash, created_at);

CREATE TABLE sign_in_habits (
    user_id uuid NOT NULL,
    hours integer[] NOT NULL,
    countries text NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='80');
COMMENT ON TABLE sign_in_habits IS 'The newest sign-ins of each person, wherever they were, with which the next one is compared.';
COMMENT ON COLUMN sign_in_habits.hours IS 'In which hour since 1970 each of them was, the newest first.';
COMMENT ON COLUMN sign_in_habits.countries IS 'From which country each of them was, two letters each, or two spaces.';
COMMENT ON COLUMN sign_in_habits.expires_at IS 'When none of them counts any more, from the end of a month on, so that it is seldom another moment.';
ALTER TABLE ONLY sign_in_habits
    ADD CONSTRAINT sign_in_habits_pkey PRIMARY KEY (user_id);
CREATE INDEX sign_in_habits_old ON sign_in_habits USING btree (expires_at);

CREATE TABLE signing_keys (
    kid text NOT NULL,
    state text NOT NULL,
    public_pem text NOT NULL,
    private_pem_sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    published_until timestamp with time zone,
    CONSTRAINT signing_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'active'::text, 'retired'::text])))
);
COMMENT ON TABLE signing_keys IS 'The key pairs that sign tokens; the private halves are encrypted.';
ALTER TABLE ONLY signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (kid);
CREATE UNIQUE INDEX signing_keys_one_of_each ON signing_keys USING btree (state) WHERE (state <> 'retired'::text);

CREATE TABLE single_uses (
    id_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE single_uses IS 'Ids of proofs and assertions that were used, and of access tokens that were revoked.';
ALTER TABLE ONLY single_uses
    ADD CONSTRAINT single_uses_pkey PRIMARY KEY (id_hash);
CREATE INDEX single_uses_ended ON single_uses USING btree (expires_at);

CREATE TABLE subscription_changes (
    organization_id uuid NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    service_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    user_id uuid,
    kind text NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL,
    currency text NOT NULL,
    at timestamp with time zone NOT NULL,
    is_counted boolean DEFAULT false NOT NULL,
    CONSTRAINT subscription_changes_kind_check CHECK ((kind = ANY (ARRAY['begun'::text, 'ended'::text, 'moved_in'::text, 'moved_out'::text, 'late'::text, 'settled'::text, 'priced'::text])))
);
COMMENT ON TABLE subscription_changes IS 'Each change of a subscription that changes what is sold. Its ids have no reference: what was sold stays counted. It goes with the organization.';
COMMENT ON COLUMN subscription_changes.user_id IS 'Whose subscription it is; null where the price of a plan changed.';
COMMENT ON COLUMN subscription_changes.live IS 'By how much the number of paid and overdue subscriptions to the plan changed; late is that of the overdue ones.';
COMMENT ON COLUMN subscription_changes.cents IS 'By how much the price of all of them together changed.';
ALTER TABLE ONLY subscription_changes
    ADD CONSTRAINT subscription_changes_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX subscription_changes_by_kind ON subscription_changes USING btree (organization_id, kind, at DESC, id DESC);
CREATE INDEX subscription_changes_by_plan ON subscription_changes USING btree (organization_id, plan_id, at DESC, id DESC);
CREATE INDEX subscription_changes_by_service ON subscription_changes USING btree (organization_id, service_id, at DESC, id DESC);
CREATE INDEX subscription_changes_by_time ON subscription_changes USING btree (organization_id, at DESC, id DESC);
CREATE INDEX subscription_changes_not_counted ON subscription_changes USING btree (organization_id, id) WHERE (NOT is_counted);

CREATE TABLE subscription_days (
    organization_id uuid NOT NULL,
    day date NOT NULL,
    service_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    currency text NOT NULL,
    begun bigint NOT NULL,
    ended bigint NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL
);
COMMENT ON TABLE subscription_days IS 'The changes of a day (UTC) added up by plan. What is sold at the end of a day is the sum up to it.';
ALTER TABLE ONLY subscription_days
    ADD CONSTRAINT subscription_days_pkey PRIMARY KEY (organization_id, day, service_id, plan_id, currency);

CREATE TABLE subscription_totals (
    organization_id uuid NOT NULL,
    currency text NOT NULL,
    live bigint NOT NULL,
    late bigint NOT NULL,
    cents bigint NOT NULL
);
COMMENT ON TABLE subscription_totals IS 'All changes of an organization added up: what it sells now, but for what is not counted yet.';
ALTER TABLE ONLY subscription_totals
    ADD CONSTRAINT subscription_totals_pkey PRIMARY KEY (organization_id, currency);
CREATE INDEX subscription_totals_by_price ON subscription_totals USING btree (currency, cents DESC, organization_id);

CREATE TABLE subscriptions (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid NOT NULL,
    user_id uuid NOT NULL,
    plan_id uuid NOT NULL,
    status text NOT NULL,
    current_period_end timestamp with time zone,
    billing_subscription_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'cancelled'::text, 'expired'::text, 'past_due'::text])))
);
COMMENT ON TABLE subscriptions IS 'Who has which plan of a service. What billing knows of one is in billing_subscriptions.';
ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_billing_subscription_id_key UNIQUE (billing_subscription_id);
ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_pkey PRIMARY KEY (id);
CREATE INDEX subscriptions_of_organization ON subscriptions USING btree (organization_id, service_id);
CREATE INDEX subscriptions_of_plan ON subscriptions USING btree (plan_id, status);
CREATE INDEX subscriptions_of_service ON subscriptions USING btree (service_id, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_status ON subscriptions USING btree (service_id, status, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_user ON subscriptions USING btree (user_id, service_id, created_at DESC);
CREATE UNIQUE INDEX subscriptions_one_live ON subscriptions USING btree (service_id, user_id) WHERE (status = ANY (ARRAY['active'::text, 'past_due'::text]));
CREATE INDEX subscriptions_sold ON subscriptions USING btree (organization_id, created_at DESC, id DESC);
CREATE TRIGGER subscriptions_changed AFTER INSERT OR DELETE OR UPDATE OF status, plan_id ON subscriptions FOR EACH ROW EXECUTE FUNCTION subscriptions_changed();

CREATE TABLE tiers (
    id uuid NOT NULL,
    name text NOT NULL,
    display_name text NOT NULL,
    default_max_services integer,
    default_max_users integer,
    price_cents integer NOT NULL,
    CONSTRAINT tiers_default_max_services_check CHECK ((default_max_services >= 0)),
    CONSTRAINT tiers_default_max_users_check CHECK ((default_max_users >= 0)),
    CONSTRAINT tiers_price_cents_check CHECK ((price_cents >= 0))
);
COMMENT ON TABLE tiers IS 'What an organization may use; a null limit is no limit.';
ALTER TABLE ONLY tiers
    ADD CONSTRAINT tiers_name_key UNIQUE (name);
ALTER TABLE ONLY tiers
    ADD CONSTRAINT tiers_pkey PRIMARY KEY (id);

CREATE TABLE totp_secrets (
    user_id uuid NOT NULL,
    secret_sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    enabled_at timestamp with time zone,
    last_used_step bigint,
    is_of_limited_session boolean DEFAULT false NOT NULL
);
COMMENT ON TABLE totp_secrets IS 'The second factor of a person; a step of it is used once.';
ALTER TABLE ONLY totp_secrets
    ADD CONSTRAINT totp_secrets_pkey PRIMARY KEY (user_id);

CREATE TABLE trial_sign_ins (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    connection_id uuid NOT NULL,
    user_id uuid,
    session_id uuid,
    state_hash bytea NOT NULL,
    client_id text,
    tested_as bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    concluded_at timestamp with time zone,
    problem text,
    reason text DEFAULT ''::text NOT NULL,
    subject text,
    email text,
    claims jsonb DEFAULT '[]'::jsonb NOT NULL,
    visit_hash bytea,
    groups text,
    CONSTRAINT trial_sign_ins_begun_check CHECK ((((user_id IS NULL) = (session_id IS NULL)) AND ((session_id IS NULL) <> (visit_hash IS NULL))))
);
COMMENT ON TABLE trial_sign_ins IS 'Sign-ins by which administrators test connections. No other sign-in is ever found here, and none of these elsewhere.';
COMMENT ON COLUMN trial_sign_ins.user_id IS 'The administrator who has begun it; null for the holder of a setup link.';
COMMENT ON COLUMN trial_sign_ins.session_id IS 'The browser session in which it began, and in which alone it is concluded.';
COMMENT ON COLUMN trial_sign_ins.tested_as IS 'The SHA-256 of what of the connection leads to its provider, by which a later change is seen.';
COMMENT ON COLUMN trial_sign_ins.problem IS 'A word of core/sign_in/upstream/provider_problems.py; null for none, and before it is concluded.';
COMMENT ON COLUMN trial_sign_ins.reason IS 'The reason that the log has as well.';
COMMENT ON COLUMN trial_sign_ins.claims IS 'Pairs of a name and a text, cut to a limit: what the provider has said of the user.';
COMMENT ON COLUMN trial_sign_ins.visit_hash IS 'The SHA-256 of the cookie of a setup link with which it began; null for that of a member.';
COMMENT ON COLUMN trial_sign_ins.groups IS 'A word of core/sign_in/upstream/trials.py: what the answer says of groups; null where it is not known.';
ALTER TABLE ONLY trial_sign_ins
    ADD CONSTRAINT trial_sign_ins_pkey PRIMARY KEY (organization_id, id);
ALTER TABLE ONLY trial_sign_ins
    ADD CONSTRAINT trial_sign_ins_state_hash_key UNIQUE (state_hash);
CREATE INDEX trial_sign_ins_addresses ON trial_sign_ins USING btree (lower(email)) WHERE (email IS NOT NULL);
CREATE INDEX trial_sign_ins_ended ON trial_sign_ins USING btree (expires_at);
CREATE INDEX trial_sign_ins_of_connection ON trial_sign_ins USING btree (organization_id, connection_id, concluded_at DESC);
CREATE INDEX trial_sign_ins_of_user ON trial_sign_ins USING btree (user_id);

CREATE TABLE upstream_connections (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    type text NOT NULL,
    name text NOT NULL,
    issuer text,
    client_id text,
    client_secret_sealed bytea,
    scopes text[] NOT NULL,
    metadata_url text,
    metadata_xml text,
    attribute_mapping jsonb NOT NULL,
    joins_as text,
    trust_mfa boolean NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    made_by uuid,
    certificates text[],
    issuer_changed boolean DEFAULT false NOT NULL,
    metadata_valid_until timestamp with time zone,
    metadata_warned_of timestamp with time zone,
    signs_requests boolean DEFAULT false NOT NULL,
    checked_at timestamp with time zone,
    check_problem text,
    made_at timestamp with time zone,
    off_reason text,
    was_on boolean DEFAULT true NOT NULL,
    token_issuer text,
    is_vouched_for boolean DEFAULT false NOT NULL,
    takes_certificates boolean DEFAULT true NOT NULL,
    metadata_since timestamp with time zone,
    name_id_format text,
    signs_out_at_provider boolean DEFAULT false NOT NULL,
    setup_state text,
    made_through text,
    awaits_trial boolean DEFAULT false NOT NULL,
    CONSTRAINT upstream_connections_check CHECK (((type <> 'oidc'::text) OR ((issuer IS NOT NULL) AND (client_id IS NOT NULL) AND (client_secret_sealed IS NOT NULL)))),
    CONSTRAINT upstream_connections_check1 CHECK (((NOT enabled) OR (issuer IS NOT NULL))),
    CONSTRAINT upstream_connections_type_check CHECK ((type = ANY (ARRAY['oidc'::text, 'saml'::text])))
);
COMMENT ON TABLE upstream_connections IS 'Identity providers of organizations, by which their people sign in.';
COMMENT ON COLUMN upstream_connections.issuer IS 'The OpenID provider, or the entity id of the SAML identity provider.';
COMMENT ON COLUMN upstream_connections.made_by IS 'Who said last where the connection leads; null before Gatehouse recorded it.';
COMMENT ON COLUMN upstream_connections.certificates IS 'The SHA-256 of the certificates by which assertions are verified; null while they are not known.';
COMMENT ON COLUMN upstream_connections.issuer_changed IS 'Whether the issuer was changed before that took the client secret again, which was not entered since.';
COMMENT ON COLUMN upstream_connections.metadata_valid_until IS 'When the metadata of the identity provider end, as they say; null when they do not.';
COMMENT ON COLUMN upstream_connections.metadata_warned_of IS 'The end of metadata of which a mail has warned last.';
COMMENT ON COLUMN upstream_connections.signs_requests IS 'Whether the metadata of the identity provider want requests that are signed.';
COMMENT ON COLUMN upstream_connections.checked_at IS 'When its provider was last asked whether the connection works as it is stored; null before that.';
COMMENT ON COLUMN upstream_connections.check_problem IS 'What was found then, a word of core/sign_in/upstream/provider_problems.py; null for nothing. It means nothing without checked_at.';
COMMENT ON COLUMN upstream_connections.off_reason IS 'Why it was switched off by itself; null when it is on, or a person switched it off.';
COMMENT ON COLUMN upstream_connections.was_on IS 'Whether it was ever switched on. The holder of a setup link switches no other one on.';
COMMENT ON COLUMN upstream_connections.token_issuer IS 'Of a SAML connection, the issuer by whose keys tokens of its identity provider are verified; null where it sends none.';
COMMENT ON COLUMN upstream_connections.is_vouched_for IS 'Whether all who have said where it leads, and what leads to it, may give every role, so that it links accounts of the organization''s own at once.';
COMMENT ON COLUMN upstream_connections.takes_certificates IS 'Whether the address of its metadata was set by someone who may give every role, or before that was recorded, so that new certificates there end no link.';
COMMENT ON COLUMN upstream_connections.metadata_since IS 'Since when its metadata are read from their address; null without one.';
COMMENT ON COLUMN upstream_connections.name_id_format IS 'The format of names that requests by SAML ask for; null for whichever the identity provider chooses.';
COMMENT ON COLUMN upstream_connections.signs_out_at_provider IS 'Whether who signs out here is led on to the end_session_endpoint of the OpenID provider.';
COMMENT ON COLUMN upstream_connections.setup_state IS 'How far the vendor was told that a connection is which it made for a customer; null for one of an organization of its own.';
COMMENT ON COLUMN upstream_connections.made_through IS 'How a vendor has made it for a customer: by a member, by its program, or by a setup link; null for one of an organization of its own.';
COMMENT ON COLUMN upstream_connections.awaits_trial IS 'Whether the organization has adopted it, and it was not switched on after a trial sign-in since.';
ALTER TABLE ONLY upstream_connections
    ADD CONSTRAINT upstream_connections_organization_id_id_key UNIQUE (organization_id, id);
ALTER TABLE ONLY upstream_connections
    ADD CONSTRAINT upstream_connections_pkey PRIMARY KEY (id);
CREATE TRIGGER connections_of_customers_required AFTER UPDATE OF enabled ON upstream_connections FOR EACH ROW WHEN ((new.enabled AND (NOT old.enabled))) EXECUTE FUNCTION connections_of_customers_required();

CREATE TABLE upstream_failures (
    organization_id uuid NOT NULL,
    connection_id uuid NOT NULL,
    problem text NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    occurrences integer NOT NULL,
    last_request_id text NOT NULL
);
COMMENT ON TABLE upstream_failures IS 'Why sign-ins by connections failed lately: one row for each problem of a connection, whoever it has met.';
COMMENT ON COLUMN upstream_failures.problem IS 'A word of core/sign_in/upstream/provider_problems.py.';
COMMENT ON COLUMN upstream_failures.first_at IS 'The first time of an uninterrupted series, in which no day is without one.';
COMMENT ON COLUMN upstream_failures.last_request_id IS 'The request of the last one, by which the operator finds it in the log.';
ALTER TABLE ONLY upstream_failures
    ADD CONSTRAINT upstream_failures_pkey PRIMARY KEY (connection_id, problem);
CREATE INDEX upstream_failures_ended ON upstream_failures USING btree (last_at);
CREATE INDEX upstream_failures_of_connection ON upstream_failures USING btree (organization_id, connection_id);

CREATE TABLE upstream_sign_ins (
    id uuid NOT NULL,
    state_hash bytea NOT NULL,
    browser_hash bytea,
    provider text NOT NULL,
    connection_id uuid,
    organization_id uuid,
    service_id uuid,
    client_id text,
    user_id uuid,
    target text,
    return_to text NOT NULL,
    return_id text NOT NULL,
    proven_sealed bytea,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    ended_at timestamp with time zone,
    domain_id uuid,
    domain_browser_hash bytea,
    code_hash bytea,
    wrong_codes integer DEFAULT 0 NOT NULL
);
COMMENT ON TABLE upstream_sign_ins IS 'Browsers that have gone to another provider, or that have come back and sign in to link what they brought.';
COMMENT ON COLUMN upstream_sign_ins.user_id IS 'The account to which the identity is to be linked.';
COMMENT ON COLUMN upstream_sign_ins.proven_sealed IS 'The identity that the provider has confirmed.';
COMMENT ON COLUMN upstream_sign_ins.ended_at IS 'When its connection was switched off; it is not completed after that, also when the connection is on again.';
COMMENT ON COLUMN upstream_sign_ins.domain_id IS 'The custom domain at which the sign-in began, and ends; null for the base URL.';
COMMENT ON COLUMN upstream_sign_ins.domain_browser_hash IS 'The browser as that domain knows it, while it is under the base URL; browser_hash is that of the present host.';
COMMENT ON COLUMN upstream_sign_ins.code_hash IS 'Of the code that was mailed to the asserted address, under the key of the installation; null where none is asked for.';
ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_pkey PRIMARY KEY (id);
ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_state_hash_key UNIQUE (state_hash);
CREATE INDEX upstream_sign_ins_ended ON upstream_sign_ins USING btree (expires_at);
CREATE INDEX upstream_sign_ins_of_domain ON upstream_sign_ins USING btree (domain_id) WHERE (domain_id IS NOT NULL);
CREATE INDEX upstream_sign_ins_of_organization ON upstream_sign_ins USING btree (organization_id, service_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX upstream_sign_ins_of_user ON upstream_sign_ins USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE TABLE user_count_changes (
    active_users bigint NOT NULL,
    mfa_users bigint NOT NULL
);
COMMENT ON TABLE user_count_changes IS 'By how many the accounts in use changed, and those of them with a second factor, since they were counted.';

CREATE TABLE users (
    id uuid NOT NULL,
    email text NOT NULL,
    email_verified_at timestamp with time zone,
    password_hash text,
    is_platform_owner boolean DEFAULT false NOT NULL,
    mfa_enabled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deactivated_at timestamp with time zone,
    anonymized_at timestamp with time zone,
    passkey_challenges_ended bigint DEFAULT 0 NOT NULL,
    created_by_organization_id uuid,
    closed_at timestamp with time zone,
    deactivated_by_organization_id uuid,
    disowned_at timestamp with time zone,
    disowned_by_organization_id uuid,
    changed_by_service_at timestamp with time zone,
    name text,
    language text,
    is_platform_support boolean DEFAULT false NOT NULL,
    unproved_since timestamp with time zone,
    wrong_mailed_codes integer DEFAULT 0 NOT NULL,
    has_passkey_factor boolean DEFAULT false NOT NULL,
    locked_at timestamp with time zone,
    name_asked_at timestamp with time zone,
    email_changed_at timestamp with time zone,
    CONSTRAINT users_anonymized_for_good CHECK (((anonymized_at IS NULL) OR ((deactivated_at IS NOT NULL) AND (email_verified_at IS NULL) AND (password_hash IS NULL) AND (mfa_enabled_at IS NULL) AND (NOT is_platform_owner)))),
    CONSTRAINT users_email_check CHECK ((length(email) <= 254))
);
COMMENT ON TABLE users IS 'Accounts: one per address on the whole platform.';
COMMENT ON COLUMN users.anonymized_at IS 'When everything personal was removed for good; such an account never comes back.';
COMMENT ON COLUMN users.passkey_challenges_ended IS 'The account answers no passkey challenge with this number or a lower one.';
COMMENT ON COLUMN users.created_by_organization_id IS 'The organization that made the account by SCIM or with an API key; the account may be one of its own users.';
COMMENT ON COLUMN users.closed_at IS 'When its user closed the account; a sign-in within 14 days clears it, then the account is anonymized.';
COMMENT ON COLUMN users.deactivated_by_organization_id IS 'The organization that deactivated the account, which was its own, and may activate it again.';
COMMENT ON COLUMN users.disowned_at IS 'When the organization of its mail domain took the address back; the user has to choose another one.';
COMMENT ON COLUMN users.disowned_by_organization_id IS 'The organization that has verified the mail domain.';
COMMENT ON COLUMN users.changed_by_service_at IS 'When the token of a service first changed how the account signs in; then what is unconfirmed waits for a mailed proof.';
COMMENT ON COLUMN users.name IS 'What its user is called; null until the user has said it. Directories say it in scim_profiles.';
COMMENT ON COLUMN users.language IS 'The tag (BCP 47) of the language that its user has chosen or registered with; null when it is not known.';
COMMENT ON COLUMN users.is_platform_support IS 'Whether the account is appointed to the platform''s support. It gives power only while the address is verified and mfa_enabled_at is set; removing the second factor ends it.';
COMMENT ON COLUMN users.unproved_since IS 'When the account was registered by somebody who has not proved the address; null once that is proved or something else has come of the account, and for every account that was made in another way. Moved on while a link is valid.';
COMMENT ON COLUMN users.wrong_mailed_codes IS 'How many codes of its sign-in mails were wrong since the last sign-in, up to the limit after which its mails have links alone.';
COMMENT ON COLUMN users.has_passkey_factor IS 'Repeats whether a passkey of the account is a second factor, for every sign-in to see.';
COMMENT ON COLUMN users.locked_at IS 'Since when the account is locked, by its person, its organization or the platform; null while it is open.';
COMMENT ON COLUMN users.name_asked_at IS 'When its user was asked for a name and gave none; null until then, and while there is one.';
COMMENT ON COLUMN users.email_changed_at IS 'Since when the account has its present address: organizations that it left before do not know it.';
ALTER TABLE ONLY users
    ADD CONSTRAINT users_email_id_key UNIQUE (email, id);
ALTER TABLE ONLY users
    ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE ONLY users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX users_closed ON users USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX users_created_by_organization ON users USING btree (created_by_organization_id) WHERE (created_by_organization_id IS NOT NULL);
CREATE INDEX users_deactivated_by_organization ON users USING btree (deactivated_by_organization_id) WHERE (deactivated_by_organization_id IS NOT NULL);
CREATE INDEX users_disowned_by_organization ON users USING btree (disowned_by_organization_id) WHERE (disowned_by_organization_id IS NOT NULL);
CREATE INDEX users_email_prefix ON users USING btree (email text_pattern_ops);
CREATE INDEX users_letter_groups ON users USING gin (letter_groups(email));
CREATE INDEX users_newest ON users USING btree (created_at, id);
CREATE INDEX users_other_password_hashes ON users USING btree (password_decoy(password_hash)) WHERE (password_hash !~~ '$argon2id$v=19$m=19456,t=2,p=1$%'::text);
CREATE INDEX users_platform_owners ON users USING btree (id) WHERE is_platform_owner;
CREATE INDEX users_platform_support ON users USING btree (email) WHERE is_platform_support;
CREATE INDEX users_unproved ON users USING btree (unproved_since) WHERE (unproved_since IS NOT NULL);
CREATE INDEX users_with_mfa ON users USING btree (id) WHERE (mfa_enabled_at IS NOT NULL);
CREATE TRIGGER login_events_of_users_deleted AFTER DELETE ON users REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION login_events_of_users_deleted();
CREATE TRIGGER people_of_customers_changed AFTER UPDATE OF name, email_verified_at, deactivated_at ON users FOR EACH ROW WHEN (((old.name IS DISTINCT FROM new.name) OR ((old.email_verified_at IS NULL) <> (new.email_verified_at IS NULL)) OR ((old.deactivated_at IS NULL) <> (new.deactivated_at IS NULL)))) EXECUTE FUNCTION people_of_customers_changed();
CREATE TRIGGER users_added AFTER INSERT ON users REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION users_counted();
CREATE TRIGGER users_changed AFTER UPDATE OF deactivated_at, mfa_enabled_at ON users FOR EACH ROW WHEN ((((old.deactivated_at IS NULL) IS DISTINCT FROM (new.deactivated_at IS NULL)) OR ((old.mfa_enabled_at IS NULL) IS DISTINCT FROM (new.mfa_enabled_at IS NULL)))) EXECUTE FUNCTION user_recounted();
CREATE TRIGGER users_claimed BEFORE UPDATE OF email_verified_at ON users FOR EACH ROW WHEN (((new.email_verified_at IS NOT NULL) AND (old.unproved_since IS NOT NULL))) EXECUTE FUNCTION user_claimed();
CREATE TRIGGER users_removed AFTER DELETE ON users REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION users_counted();

CREATE TABLE webhook_attempts (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempted_at timestamp with time zone NOT NULL,
    duration_ms integer NOT NULL,
    request_headers jsonb NOT NULL,
    status_code integer,
    response_body text,
    error text
)
PARTITION BY RANGE (id);
COMMENT ON TABLE webhook_attempts IS 'An attempt to send a delivery; error is null where the receiver took it.';
ALTER TABLE ONLY webhook_attempts
    ADD CONSTRAINT webhook_attempts_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX webhook_attempts_failed ON ONLY webhook_attempts USING btree (organization_id, webhook_id, attempted_at DESC) WHERE (error IS NOT NULL);
CREATE INDEX webhook_attempts_newest ON ONLY webhook_attempts USING btree (organization_id, webhook_id, attempted_at DESC) INCLUDE (duration_ms);
CREATE INDEX webhook_attempts_of_delivery ON ONLY webhook_attempts USING btree (delivery_id, id);

CREATE TABLE webhook_deliveries (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    attempt_count integer DEFAULT 0 NOT NULL,
    next_retry_at timestamp with time zone,
    delivered boolean DEFAULT false NOT NULL,
    response_status_code integer,
    response_body text,
    delivery_error text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (id);
COMMENT ON TABLE webhook_deliveries IS 'One event for one webhook, with what the last attempt got; next_retry_at is null once it is over.';
COMMENT ON COLUMN webhook_deliveries.queued_at IS 'When the event happened, or when the delivery was last queued again.';
ALTER TABLE ONLY webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (organization_id, id);
CREATE INDEX webhook_deliveries_delivered ON ONLY webhook_deliveries USING btree (organization_id, webhook_id, created_at DESC, id DESC) WHERE delivered;
CREATE INDEX webhook_deliveries_due ON ONLY webhook_deliveries USING btree (webhook_id, next_retry_at, id) WHERE (next_retry_at IS NOT NULL);
CREATE INDEX webhook_deliveries_failed ON ONLY webhook_deliveries USING btree (organization_id, webhook_id, created_at DESC, id DESC) WHERE (NOT delivered);
CREATE INDEX webhook_deliveries_failed_of_type ON ONLY webhook_deliveries USING btree (organization_id, webhook_id, event_type, created_at DESC, id DESC) WHERE (NOT delivered);
CREATE INDEX webhook_deliveries_lost ON ONLY webhook_deliveries USING btree (organization_id, webhook_id, created_at DESC) WHERE ((NOT delivered) AND (next_retry_at IS NULL));
CREATE INDEX webhook_deliveries_newest ON ONLY webhook_deliveries USING btree (organization_id, webhook_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_event ON ONLY webhook_deliveries USING btree (event_id);
CREATE INDEX webhook_deliveries_of_type ON ONLY webhook_deliveries USING btree (organization_id, webhook_id, event_type, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_old ON ONLY webhook_deliveries USING btree (created_at);

CREATE TABLE webhook_queues (
    webhook_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    due_at timestamp with time zone,
    leased_until timestamp with time zone,
    lost_at timestamp with time zone
);
COMMENT ON TABLE webhook_queues IS 'When each webhook has the next delivery to make. A dispatcher leases a webhook, so that a flood for one delays no other.';
COMMENT ON COLUMN webhook_queues.lost_at IS 'When the last attempt of a delivery failed most recently.';
ALTER TABLE ONLY webhook_queues
    ADD CONSTRAINT webhook_queues_pkey PRIMARY KEY (webhook_id);
CREATE INDEX webhook_queues_due ON webhook_queues USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_queues_lost ON webhook_queues USING btree (lost_at) WHERE (lost_at IS NOT NULL);
CREATE INDEX webhook_queues_of_organization ON webhook_queues USING btree (organization_id, webhook_id);

CREATE TABLE webhooks (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    secret_sealed bytea NOT NULL,
    previous_secret_sealed bytea,
    previous_secret_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    made_by uuid,
    made_at timestamp with time zone,
    off_reason text,
    off_at timestamp with time zone,
    CONSTRAINT webhooks_events_check CHECK ((cardinality(events) > 0))
);
COMMENT ON TABLE webhooks IS 'Where an organization wants its events sent.';
COMMENT ON COLUMN webhooks.previous_secret_sealed IS 'After a rotation both secrets sign, until previous_secret_until.';
COMMENT ON COLUMN webhooks.made_by IS 'Who made the present secret, or set the URL last; null before Gatehouse recorded it.';
COMMENT ON COLUMN webhooks.off_reason IS 'Why it was switched off by itself; null when it is on, or a person switched it off.';
COMMENT ON COLUMN webhooks.off_at IS 'When it was switched off by itself; null when off_reason is null, or the time is not known.';
ALTER TABLE ONLY webhooks
    ADD CONSTRAINT webhooks_organization_id_id_key UNIQUE (organization_id, id);
ALTER TABLE ONLY webhooks
    ADD CONSTRAINT webhooks_organization_id_name_key UNIQUE (organization_id, name);
ALTER TABLE ONLY webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);
CREATE INDEX webhooks_gone ON webhooks USING btree (off_at) WHERE (off_reason = 'receiver_gone'::text);
CREATE TRIGGER webhooks_log_rows_deleted AFTER DELETE ON webhooks FOR EACH ROW EXECUTE FUNCTION log_rows_of_webhook_deleted();

CREATE TABLE workloads (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    service_id uuid,
    key_id uuid,
    name text NOT NULL,
    issuer text NOT NULL,
    jwks_uri text,
    jwks jsonb,
    audience text,
    match jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by uuid,
    has_second_factor boolean NOT NULL,
    last_used_at timestamp with time zone,
    refused_at timestamp with time zone,
    refused_reason text,
    refused_claims jsonb,
    is_phishing_resistant boolean,
    CONSTRAINT workloads_check CHECK (((service_id IS NULL) <> (key_id IS NULL))),
    CONSTRAINT workloads_check1 CHECK (((jwks_uri IS NULL) OR (jwks IS NULL))),
    CONSTRAINT workloads_check2 CHECK ((((refused_at IS NULL) = (refused_reason IS NULL)) AND ((refused_at IS NULL) = (refused_claims IS NULL))))
);
COMMENT ON TABLE workloads IS 'Rules by which programs authenticate as a service or as a key of an organization, without a secret.';
COMMENT ON COLUMN workloads.match IS 'Claims, or paths to nested ones, with the exact values that they must have.';
COMMENT ON COLUMN workloads.has_second_factor IS 'Whether the session in which the rule was made had a second factor.';
COMMENT ON COLUMN workloads.refused_at IS 'When the last token was refused, why, and what it had for the claims of the rule.';
COMMENT ON COLUMN workloads.is_phishing_resistant IS 'Whether that factor resists phishing, as organizations may require; null for a rule that does not say it.';
ALTER TABLE ONLY workloads
    ADD CONSTRAINT workloads_pkey PRIMARY KEY (id);
CREATE INDEX workloads_of_key ON workloads USING btree (key_id) WHERE (key_id IS NOT NULL);
CREATE INDEX workloads_of_maker ON workloads USING btree (created_by);
CREATE INDEX workloads_of_service ON workloads USING btree (organization_id, service_id);

CREATE FUNCTION delivery_payload(events, text) RETURNS json
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN json_build_object('id', ($1).id, 'event', $2, 'timestamp', to_char((($1).occurred_at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'::text), 'organization_id', NULLIF(($1).organization_id, '00000000-0000-0000-0000-000000000000'::uuid), 'actor_user_id', ($1).actor_user_id, 'actor_email', ($1).actor_email, 'data', CASE WHEN (($1).type = $2) THEN ($1).data ELSE (($1).data -> 'sample'::text) END);

COMMENT ON FUNCTION delivery_payload(events, text) IS 'What a receiver of a delivery of this type gets: the event, or the sample of a test that was sent as another type.';

CREATE FUNCTION event_payload(events) RETURNS json
    LANGUAGE sql STABLE STRICT PARALLEL SAFE
    RETURN json_build_object('id', ($1).id, 'event', ($1).type, 'timestamp', to_char((($1).occurred_at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'::text), 'organization_id', NULLIF(($1).organization_id, '00000000-0000-0000-0000-000000000000'::uuid), 'actor_user_id', ($1).actor_user_id, 'actor_email', ($1).actor_email, 'data', ($1).data);

COMMENT ON FUNCTION event_payload(events) IS 'What a receiver of an event gets, always in this order.';

CREATE VIEW log_partitions AS
 SELECT parent.relname AS log,
    part.relname AS name,
    ((regexp_match(pg_get_expr(part.relpartbound, part.oid), 'FROM \(''([-0-9a-f]+)''\) TO \('''::text))[1])::uuid AS first_id,
    ((regexp_match(pg_get_expr(part.relpartbound, part.oid), 'TO \(''([-0-9a-f]+)''\)'::text))[1])::uuid AS end_id,
    (pg_get_expr(part.relpartbound, part.oid) ~~ '%TO (MAXVALUE)'::text) AS is_last
   FROM ((pg_class parent
     JOIN pg_inherits i ON ((i.inhparent = parent.oid)))
     JOIN pg_class part ON ((part.oid = i.inhrelid)))
  WHERE ((parent.relkind = 'p'::"char") AND (part.relkind = 'r'::"char") AND (parent.relpersistence = 'p'::"char") AND (parent.relnamespace = ( SELECT pg_class.relnamespace
           FROM pg_class
          WHERE ((pg_class.oid = ('schema_migrations'::regclass)::oid) AND (pg_class.relpersistence = 'p'::"char")))));

COMMENT ON VIEW log_partitions IS 'The partitions of the logs: what was written before they were partitioned (no first id), the months, and what is after the last one.';

CREATE VIEW relations AS
 SELECT ('organization:'::text || memberships.organization_id) AS object,
    memberships.role AS relation,
    ('user:'::text || memberships.user_id) AS subject,
    memberships.organization_id,
    NULL::uuid AS service_id,
    memberships.user_id
   FROM memberships
  WHERE ((memberships.suspended_at IS NULL) AND (memberships.made_for IS NULL))
UNION ALL
 SELECT ('service:'::text || g.service_id) AS object,
    g.relation,
    ('user:'::text || g.user_id) AS subject,
    g.organization_id,
    g.service_id,
    g.user_id
   FROM (service_grants g
     JOIN memberships m ON (((m.organization_id = g.organization_id) AND (m.user_id = g.user_id))))
  WHERE (m.suspended_at IS NULL);

COMMENT ON VIEW relations IS 'The tuples that every check of access is decided from.';

ALTER TABLE ONLY active_days
    ADD CONSTRAINT active_days_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY active_user_changes
    ADD CONSTRAINT active_user_changes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY address_conflicts
    ADD CONSTRAINT address_conflicts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY audit_chains
    ADD CONSTRAINT audit_chains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY audit_milestones
    ADD CONSTRAINT audit_milestones_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY audit_totals
    ADD CONSTRAINT audit_totals_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY authorization_codes
    ADD CONSTRAINT authorization_codes_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY authorization_codes
    ADD CONSTRAINT authorization_codes_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY authorization_requests
    ADD CONSTRAINT authorization_requests_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY backup_codes
    ADD CONSTRAINT backup_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_checkouts
    ADD CONSTRAINT billing_checkouts_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_checkouts
    ADD CONSTRAINT billing_checkouts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_customers
    ADD CONSTRAINT billing_customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_customers
    ADD CONSTRAINT billing_customers_seller_fkey FOREIGN KEY (seller_organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_customers
    ADD CONSTRAINT billing_customers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_subscriptions
    ADD CONSTRAINT billing_subscriptions_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY billing_subscriptions
    ADD CONSTRAINT billing_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY branding_pictures
    ADD CONSTRAINT branding_pictures_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY branding_version_pictures
    ADD CONSTRAINT branding_version_pictures_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY branding_versions
    ADD CONSTRAINT branding_versions_made_by_fkey FOREIGN KEY (made_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY branding_versions
    ADD CONSTRAINT branding_versions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY branding_versions
    ADD CONSTRAINT branding_versions_organization_id_icon_fkey FOREIGN KEY (organization_id, icon) REFERENCES branding_version_pictures(organization_id, name);

ALTER TABLE ONLY branding_versions
    ADD CONSTRAINT branding_versions_organization_id_logo_fkey FOREIGN KEY (organization_id, logo) REFERENCES branding_version_pictures(organization_id, name);

ALTER TABLE ONLY brandings
    ADD CONSTRAINT brandings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY browser_sessions
    ADD CONSTRAINT browser_sessions_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES custom_domains(id) ON DELETE CASCADE;

ALTER TABLE ONLY browser_sessions
    ADD CONSTRAINT browser_sessions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY bulk_job_rows
    ADD CONSTRAINT bulk_job_rows_job_id_fkey FOREIGN KEY (job_id) REFERENCES bulk_jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY bulk_jobs
    ADD CONSTRAINT bulk_jobs_maker_id_fkey FOREIGN KEY (maker_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY bulk_jobs
    ADD CONSTRAINT bulk_jobs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY client_grants
    ADD CONSTRAINT client_grants_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY client_problems
    ADD CONSTRAINT client_problems_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY connection_keys
    ADD CONSTRAINT connection_keys_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY custom_domains
    ADD CONSTRAINT custom_domains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_active_people
    ADD CONSTRAINT customer_active_people_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES service_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_assignments
    ADD CONSTRAINT customer_assignments_customer_id_organization_id_fkey FOREIGN KEY (customer_id, organization_id) REFERENCES service_customers(id, organization_id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_assignments
    ADD CONSTRAINT customer_assignments_organization_id_custom_role_fkey FOREIGN KEY (organization_id, custom_role) REFERENCES organization_roles(organization_id, slug) ON DELETE CASCADE;

ALTER TABLE ONLY customer_assignments
    ADD CONSTRAINT customer_assignments_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_assignments
    ADD CONSTRAINT customer_assignments_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES memberships(organization_id, user_id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY customer_claims
    ADD CONSTRAINT customer_claims_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES service_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_claims
    ADD CONSTRAINT customer_claims_vendor_id_fkey FOREIGN KEY (vendor_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_group_rules
    ADD CONSTRAINT customer_group_rules_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES service_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_group_rules
    ADD CONSTRAINT customer_group_rules_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_group_rules
    ADD CONSTRAINT customer_group_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_group_rules
    ADD CONSTRAINT customer_group_rules_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_users
    ADD CONSTRAINT customer_users_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES service_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY customer_users
    ADD CONSTRAINT customer_users_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES memberships(organization_id, user_id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY customer_users_told
    ADD CONSTRAINT customer_users_told_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES service_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY departed_identities
    ADD CONSTRAINT departed_identities_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY departed_identities
    ADD CONSTRAINT departed_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY device_codes
    ADD CONSTRAINT device_codes_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY device_codes
    ADD CONSTRAINT device_codes_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY device_tokens
    ADD CONSTRAINT device_tokens_device_id_fkey FOREIGN KEY (device_id) REFERENCES devices(id) ON DELETE CASCADE;

ALTER TABLE ONLY devices
    ADD CONSTRAINT devices_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY directory_authorities
    ADD CONSTRAINT directory_authorities_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY directory_ends
    ADD CONSTRAINT directory_ends_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY directory_group_members
    ADD CONSTRAINT directory_group_members_authority_id_fkey FOREIGN KEY (authority_id) REFERENCES directory_authorities(id);

ALTER TABLE ONLY directory_group_members
    ADD CONSTRAINT directory_group_members_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY directory_group_members
    ADD CONSTRAINT directory_group_members_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY directory_groups
    ADD CONSTRAINT directory_groups_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY domain_routes
    ADD CONSTRAINT domain_routes_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY domain_routes
    ADD CONSTRAINT domain_routes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY group_rules
    ADD CONSTRAINT group_rules_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES upstream_connections(id) ON DELETE CASCADE;

ALTER TABLE ONLY group_rules
    ADD CONSTRAINT group_rules_made_by_fkey FOREIGN KEY (made_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY group_rules
    ADD CONSTRAINT group_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY group_rules
    ADD CONSTRAINT group_rules_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY identities
    ADD CONSTRAINT identities_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY identities
    ADD CONSTRAINT identities_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY identities
    ADD CONSTRAINT identities_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY invitations
    ADD CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY known_account_ids
    ADD CONSTRAINT known_account_ids_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY known_account_ids
    ADD CONSTRAINT known_account_ids_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY known_addresses
    ADD CONSTRAINT known_addresses_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY log_dues
    ADD CONSTRAINT log_dues_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY logout_notices
    ADD CONSTRAINT logout_notices_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY logout_queues
    ADD CONSTRAINT logout_queues_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY mail_servers
    ADD CONSTRAINT mail_servers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY memberships
    ADD CONSTRAINT memberships_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY memberships
    ADD CONSTRAINT memberships_user_id_email_fkey FOREIGN KEY (user_id, member_email) REFERENCES users(id, email) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY mfa_challenges
    ADD CONSTRAINT mfa_challenges_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES custom_domains(id) ON DELETE CASCADE;

ALTER TABLE ONLY mfa_challenges
    ADD CONSTRAINT mfa_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY mfa_events
    ADD CONSTRAINT mfa_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY oauth_credentials
    ADD CONSTRAINT oauth_credentials_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY one_time_tokens
    ADD CONSTRAINT one_time_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY open_registrations
    ADD CONSTRAINT open_registrations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY organization_keys
    ADD CONSTRAINT organization_keys_organization_id_created_by_fkey FOREIGN KEY (organization_id, created_by) REFERENCES memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY organization_keys
    ADD CONSTRAINT organization_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY organization_roles
    ADD CONSTRAINT organization_roles_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_approved_by_fkey FOREIGN KEY (approved_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_internal_of_fkey FOREIGN KEY (internal_of) REFERENCES service_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_tier_id_fkey FOREIGN KEY (tier_id) REFERENCES tiers(id);

ALTER TABLE ONLY passkey_challenges
    ADD CONSTRAINT passkey_challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES custom_domains(id) ON DELETE CASCADE;

ALTER TABLE ONLY passkeys
    ADD CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY plans
    ADD CONSTRAINT plans_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY provider_sessions
    ADD CONSTRAINT provider_sessions_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY provider_sessions
    ADD CONSTRAINT provider_sessions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY recent_acts
    ADD CONSTRAINT recent_acts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY refused_redirects
    ADD CONSTRAINT refused_redirects_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY request_sign_ins
    ADD CONSTRAINT request_sign_ins_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_certificates
    ADD CONSTRAINT saml_certificates_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_configurations
    ADD CONSTRAINT saml_configurations_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_logouts
    ADD CONSTRAINT saml_logouts_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_logouts
    ADD CONSTRAINT saml_logouts_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_requests
    ADD CONSTRAINT saml_requests_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_requests
    ADD CONSTRAINT saml_requests_ticket_session_id_fkey FOREIGN KEY (ticket_session_id) REFERENCES sessions(id) ON DELETE SET NULL;

ALTER TABLE ONLY saml_sessions
    ADD CONSTRAINT saml_sessions_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY saml_sessions
    ADD CONSTRAINT saml_sessions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY sandbox_customers
    ADD CONSTRAINT sandbox_customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY sandbox_deliveries
    ADD CONSTRAINT sandbox_deliveries_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sandbox_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY sandbox_sessions
    ADD CONSTRAINT sandbox_sessions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sandbox_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY sandbox_sessions
    ADD CONSTRAINT sandbox_sessions_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES sandbox_subscriptions(id) ON DELETE CASCADE;

ALTER TABLE ONLY sandbox_subscriptions
    ADD CONSTRAINT sandbox_subscriptions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES sandbox_customers(id) ON DELETE CASCADE;

ALTER TABLE ONLY scim_profiles
    ADD CONSTRAINT scim_profiles_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY scim_tokens
    ADD CONSTRAINT scim_tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY scim_tokens
    ADD CONSTRAINT scim_tokens_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_assignments
    ADD CONSTRAINT service_assignments_organization_id_custom_role_fkey FOREIGN KEY (organization_id, custom_role) REFERENCES organization_roles(organization_id, slug) ON DELETE CASCADE;

ALTER TABLE ONLY service_assignments
    ADD CONSTRAINT service_assignments_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY service_assignments
    ADD CONSTRAINT service_assignments_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY service_assignments
    ADD CONSTRAINT service_assignments_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES memberships(organization_id, user_id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY service_audiences
    ADD CONSTRAINT service_audiences_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY service_customers
    ADD CONSTRAINT service_customers_ended_organization_id_fkey FOREIGN KEY (ended_organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_customers
    ADD CONSTRAINT service_customers_offered_to_fkey FOREIGN KEY (offered_to) REFERENCES organizations(id) ON DELETE SET NULL;

ALTER TABLE ONLY service_customers
    ADD CONSTRAINT service_customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_customers
    ADD CONSTRAINT service_customers_vendor_id_service_id_fkey FOREIGN KEY (vendor_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY service_grants
    ADD CONSTRAINT service_grants_granted_by_fkey FOREIGN KEY (granted_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY service_grants
    ADD CONSTRAINT service_grants_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY service_grants
    ADD CONSTRAINT service_grants_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_user_metadata
    ADD CONSTRAINT service_user_metadata_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY service_user_metadata
    ADD CONSTRAINT service_user_metadata_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_user_milestones
    ADD CONSTRAINT service_user_milestones_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_users
    ADD CONSTRAINT service_users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_users
    ADD CONSTRAINT service_users_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id) ON DELETE CASCADE;

ALTER TABLE ONLY service_users
    ADD CONSTRAINT service_users_user_id_email_fkey FOREIGN KEY (user_id, email) REFERENCES users(id, email) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY services
    ADD CONSTRAINT services_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_device_id_fkey FOREIGN KEY (device_id) REFERENCES devices(id) ON DELETE SET NULL;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_impersonator_id_fkey FOREIGN KEY (impersonator_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_impersonator_session_id_fkey FOREIGN KEY (impersonator_session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES sessions(id) ON DELETE SET NULL;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id) ON DELETE CASCADE;

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_made_by_api_key_fkey FOREIGN KEY (made_by_api_key) REFERENCES api_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_made_by_key_fkey FOREIGN KEY (made_by_key) REFERENCES organization_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY setup_links
    ADD CONSTRAINT setup_links_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY setup_visits
    ADD CONSTRAINT setup_visits_organization_id_link_id_fkey FOREIGN KEY (organization_id, link_id) REFERENCES setup_links(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY shown_secrets
    ADD CONSTRAINT shown_secrets_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE;

ALTER TABLE ONLY shown_secrets
    ADD CONSTRAINT shown_secrets_setup_visit_hash_fkey FOREIGN KEY (setup_visit_hash) REFERENCES setup_visits(secret_hash) ON DELETE CASCADE;

ALTER TABLE ONLY siem_streams
    ADD CONSTRAINT siem_streams_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY sign_in_counts
    ADD CONSTRAINT sign_in_counts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY sign_in_habits
    ADD CONSTRAINT sign_in_habits_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_service_id_plan_id_fkey FOREIGN KEY (service_id, plan_id) REFERENCES plans(service_id, id);

ALTER TABLE ONLY subscriptions
    ADD CONSTRAINT subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY totp_secrets
    ADD CONSTRAINT totp_secrets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY trial_sign_ins
    ADD CONSTRAINT trial_sign_ins_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY trial_sign_ins
    ADD CONSTRAINT trial_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_connections
    ADD CONSTRAINT upstream_connections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_failures
    ADD CONSTRAINT upstream_failures_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES custom_domains(id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_organization_id_connection_id_fkey FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY upstream_sign_ins
    ADD CONSTRAINT upstream_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;

ALTER TABLE ONLY users
    ADD CONSTRAINT users_created_by_organization_id_fkey FOREIGN KEY (created_by_organization_id) REFERENCES organizations(id) ON DELETE SET NULL;

ALTER TABLE ONLY users
    ADD CONSTRAINT users_deactivated_by_organization_id_fkey FOREIGN KEY (deactivated_by_organization_id) REFERENCES organizations(id) ON DELETE SET NULL;

ALTER TABLE ONLY users
    ADD CONSTRAINT users_disowned_by_organization_id_fkey FOREIGN KEY (disowned_by_organization_id) REFERENCES organizations(id) ON DELETE SET NULL;

ALTER TABLE ONLY webhook_queues
    ADD CONSTRAINT webhook_queues_organization_id_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY webhooks
    ADD CONSTRAINT webhooks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY workloads
    ADD CONSTRAINT workloads_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY workloads
    ADD CONSTRAINT workloads_key_id_fkey FOREIGN KEY (key_id) REFERENCES organization_keys(id) ON DELETE CASCADE;

ALTER TABLE ONLY workloads
    ADD CONSTRAINT workloads_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY workloads
    ADD CONSTRAINT workloads_organization_id_service_id_fkey FOREIGN KEY (organization_id, service_id) REFERENCES services(organization_id, id) ON DELETE CASCADE;
