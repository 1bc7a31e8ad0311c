-- gatehouse: compatible from 0025
-- Changes of people of customers name the organization that made them, so that organizations take turns.

DROP INDEX customer_user_checks_in_order;
DROP INDEX customer_user_checks_of_customer;
ALTER TABLE customer_user_checks ADD COLUMN organization_id uuid;
COMMENT ON COLUMN customer_user_checks.organization_id IS 'The organization whose turn it takes: the customer, or the vendor where its roles have changed; no reference.';
UPDATE customer_user_checks w
SET    organization_id = (SELECT organization_id FROM service_customers c WHERE c.id = w.customer_id)
WHERE  w.customer_id IS NOT NULL;
UPDATE customer_user_checks w
SET    organization_id = (SELECT organization_id FROM services s WHERE s.id = w.service_id)
WHERE  w.service_id IS NOT NULL;
INSERT INTO customer_user_checks (id, organization_id, user_id, created_at)
SELECT gen_random_uuid(), found.organization_id, found.user_id, clock_timestamp()
FROM   (SELECT m.organization_id, w.user_id
        FROM   customer_user_checks w
        JOIN   memberships m ON m.user_id = w.user_id
        WHERE  w.organization_id IS NULL
        UNION
        SELECT c.organization_id, w.user_id
        FROM   customer_user_checks w
        JOIN   customer_users_told t ON t.user_id = w.user_id
        JOIN   service_customers c ON c.id = t.customer_id
        WHERE  w.organization_id IS NULL) AS found;
DELETE FROM customer_user_checks WHERE organization_id IS NULL;
ALTER TABLE customer_user_checks ALTER COLUMN organization_id SET NOT NULL;
CREATE INDEX customer_user_checks_in_turn ON customer_user_checks (organization_id, created_at, id);

DROP FUNCTION check_customer_user(uuid);
CREATE FUNCTION check_customer_user(of_organization uuid, of_user uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- A transaction that changes a person several times, as provisioning does, notes that once.
    INSERT INTO customer_user_checks (id, organization_id, user_id, created_at)
    VALUES (md5(concat_ws(' ', of_organization, of_user, pg_current_xact_id()))::uuid, of_organization, of_user,
            clock_timestamp())
    ON CONFLICT (id) DO NOTHING;
END
$$;
COMMENT ON FUNCTION check_customer_user(uuid, uuid) IS 'Notes that vendors may have to be told of a person of a customer.';

CREATE OR REPLACE FUNCTION members_of_customers_changed() RETURNS trigger
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

CREATE OR REPLACE FUNCTION people_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Vendors see people who have confirmed that they are members, so that nobody else adds to what is noted here.
    PERFORM check_customer_user(m.organization_id, m.user_id)
    FROM    memberships m
    WHERE   m.user_id = NEW.id AND m.confirmed_at IS NOT NULL AND is_of_customer(m.organization_id);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION groups_of_customers_changed() RETURNS trigger
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

DROP FUNCTION check_customer(uuid);
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
COMMENT ON FUNCTION check_customer(uuid, uuid) IS 'Notes that the vendor of a customer may have to be told of many of its people.';

CREATE OR REPLACE FUNCTION customers_let_in_others() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer(c.organization_id, c.id)
    FROM    service_customers c
    WHERE   c.id IN (SELECT customer_id FROM changed) AND c.accepted_at IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION customers_show_others() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.organization_id IS NOT NULL THEN
        PERFORM check_customer(NEW.organization_id, NEW.id);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION roles_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO customer_user_checks (id, organization_id, service_id, created_at)
    VALUES (gen_random_uuid(), NEW.organization_id, NEW.id, clock_timestamp());
    RETURN NULL;
END
$$;
