-- gatehouse: compatible from 0079
-- A membership of an internal organization is an admission: it lets a person in to the service of one customer record,
-- and is a membership of nothing. A mail domain of an internal organization routes sign-ins there, and proves nothing.
-- Both name the record, so that what reads by person or by domain leaves them out without reading another table.
ALTER TABLE memberships ADD COLUMN made_for uuid;
COMMENT ON COLUMN memberships.made_for IS 'The customer record at whose service it admits the person; null for a membership. A trigger fills it in.';

CREATE OR REPLACE FUNCTION memberships_email() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Locked, because the address may be changed or the account deleted at this moment.
    SELECT email INTO NEW.member_email FROM users WHERE id = NEW.user_id FOR KEY SHARE;
    -- Without an account the foreign key refuses the row, and not the column, so that the transaction is repeated.
    NEW.member_email := coalesce(NEW.member_email, '');
    NEW.made_for := (SELECT internal_of FROM organizations WHERE id = NEW.organization_id);
    RETURN NEW;
END
$$;

ALTER TABLE domain_routes ADD COLUMN made_for uuid;
COMMENT ON COLUMN domain_routes.made_for IS 'The customer record for which a vendor has it; null for one of an organization''s own. A trigger fills it in.';
DROP INDEX domain_routes_verified;
CREATE UNIQUE INDEX domain_routes_verified ON domain_routes (domain) WHERE verified_at IS NOT NULL AND made_for IS NULL;
CREATE INDEX domain_routes_made_for ON domain_routes (domain, made_for) WHERE made_for IS NOT NULL;

CREATE FUNCTION domain_routes_made_for() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.made_for := (SELECT internal_of FROM organizations WHERE id = NEW.organization_id);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION domain_routes_made_for() IS 'Finds the customer record for which a vendor has a mail domain.';
CREATE TRIGGER domain_routes_made_for BEFORE INSERT ON domain_routes
    FOR EACH ROW EXECUTE FUNCTION domain_routes_made_for();

-- Who has signed in for a customer is a member of its organization, or admitted by what the vendor has made for it: the
-- organization that is named is that of the membership.
LOCK TABLE service_customers IN ACCESS EXCLUSIVE MODE;
ALTER TABLE customer_users
    DROP CONSTRAINT customer_users_customer_id_organization_id_fkey,
    ADD CONSTRAINT customer_users_customer_id_fkey
        FOREIGN KEY (customer_id) REFERENCES service_customers (id) ON DELETE CASCADE;
COMMENT ON COLUMN customer_users.organization_id IS 'The customer, or the internal organization that admits the user.';

-- What changes for a person who is admitted is noted for the customer.
CREATE OR REPLACE FUNCTION check_customer_user(of_organization uuid, of_user uuid) RETURNS void LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE FUNCTION is_of_customer(organization uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
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
COMMENT ON FUNCTION is_of_customer(uuid) IS 'Whether an organization uses a service of another one, or admits people to it for one that does.';
CREATE OR REPLACE FUNCTION people_of_customers_changed() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION service_user_metadata_ended() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE OR REPLACE FUNCTION service_user_metadata_moved() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE VIEW relations AS
    SELECT 'organization:' || organization_id AS object, role AS relation, 'user:' || user_id AS subject,
           organization_id, NULL::uuid AS service_id, user_id
    FROM   memberships
    WHERE  suspended_at IS NULL AND made_for IS NULL
    UNION  ALL
    SELECT 'service:' || g.service_id, g.relation, 'user:' || g.user_id, g.organization_id, g.service_id, g.user_id
    FROM   service_grants g
    JOIN   memberships m ON m.organization_id = g.organization_id AND m.user_id = g.user_id
    WHERE  m.suspended_at IS NULL;
