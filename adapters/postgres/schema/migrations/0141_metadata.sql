-- gatehouse: compatible from 0079
-- What organizations note about themselves, about the users of their services and about their customers. An older process
-- leaves all of it as it is. Constant defaults rewrite no row.
ALTER TABLE organizations ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN organizations.metadata IS 'What the organization notes about itself, by name.';

ALTER TABLE service_customers ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN service_customers.metadata IS 'What the vendor notes about the customer, by name.';

-- Beside the links: a person may use a service by a link and for customers, and has one for all of it.
CREATE TABLE service_user_metadata (
    service_id      uuid  NOT NULL,
    organization_id uuid  NOT NULL,
    user_id         uuid  NOT NULL REFERENCES users ON DELETE CASCADE,
    metadata        jsonb NOT NULL,
    PRIMARY KEY (service_id, user_id),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX service_user_metadata_of_service ON service_user_metadata (organization_id, service_id);
CREATE INDEX service_user_metadata_of_user ON service_user_metadata (user_id);
COMMENT ON TABLE service_user_metadata IS 'What a service notes about its users, by name; gone with the last link.';

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
                           JOIN   service_customers c ON c.id = own.customer_id AND c.organization_id = m.organization_id
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
                           JOIN   service_customers c ON c.id = own.customer_id AND c.organization_id = m.organization_id
                           WHERE  m.user_id = OLD.user_id AND c.service_id = of_service_id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION service_user_metadata_moved() IS 'Moves what a service notes about a user along with the link to another account.';

CREATE TRIGGER service_users_metadata_ended AFTER DELETE ON service_users
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION service_user_metadata_ended();
CREATE TRIGGER service_users_metadata_moved AFTER UPDATE OF user_id ON service_users FOR EACH ROW
    WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION service_user_metadata_moved();
CREATE TRIGGER customer_users_metadata_ended AFTER DELETE ON customer_users
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION service_user_metadata_ended();
CREATE TRIGGER customer_users_metadata_moved AFTER UPDATE OF user_id ON customer_users FOR EACH ROW
    WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION service_user_metadata_moved();

-- What finds the addresses of a person who is forgotten.
CREATE INDEX organizations_metadata_addresses ON organizations USING gin (addresses_in(metadata))
    WHERE metadata::text LIKE '%@%';
CREATE INDEX service_customers_metadata_addresses ON service_customers USING gin (addresses_in(metadata))
    WHERE metadata::text LIKE '%@%';
CREATE INDEX service_user_metadata_addresses ON service_user_metadata USING gin (addresses_in(metadata))
    WHERE metadata::text LIKE '%@%';
