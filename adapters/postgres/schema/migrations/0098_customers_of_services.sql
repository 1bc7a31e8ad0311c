-- gatehouse: compatible from 0025
-- Organizations that use the service of another one: its customers (decisions 15).

ALTER TABLE services
    ADD COLUMN customers          text  NOT NULL DEFAULT 'none' CHECK (customers IN ('none', 'listed', 'any')),
    ADD COLUMN individuals        text  NOT NULL DEFAULT 'all'  CHECK (individuals IN ('none', 'others', 'all')),
    ADD COLUMN roles              jsonb NOT NULL DEFAULT '[]',
    ADD COLUMN role_ids           jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN initiate_login_uri text;
COMMENT ON COLUMN services.customers IS 'Which organizations may use it: none, those that it lists, or any.';
COMMENT ON COLUMN services.individuals IS 'Who may use it without a customer: nobody, people of no customer, or everybody.';
COMMENT ON COLUMN services.roles IS 'Its own roles: a list of name, title and description.';
COMMENT ON COLUMN services.role_ids IS 'The id of each role by its name; a role of the same name that is made later has another one.';

CREATE TABLE service_customers (
    id                 uuid        PRIMARY KEY,
    vendor_id          uuid        NOT NULL,
    service_id         uuid        NOT NULL,
    offered_slug       text,
    offered_to         uuid        REFERENCES organizations (id) ON DELETE SET NULL,
    offer_expires_at   timestamptz,
    organization_id    uuid        REFERENCES organizations (id) ON DELETE CASCADE,
    accepted_at        timestamptz,
    vendor_paused_at   timestamptz,
    customer_paused_at timestamptz,
    external_id        text,
    access             text        NOT NULL DEFAULT 'members' CHECK (access IN ('members', 'assigned')),
    shares_directory   boolean     NOT NULL DEFAULT false,
    groups             uuid[]      NOT NULL DEFAULT '{}',
    hidden             boolean     NOT NULL DEFAULT false,
    last_sign_in_at    timestamptz,
    created_at         timestamptz NOT NULL,
    FOREIGN KEY (vendor_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE,
    UNIQUE (id, organization_id),
    CHECK ((organization_id IS NULL) = (accepted_at IS NULL)),
    CHECK (organization_id <> vendor_id),
    CHECK ((offered_slug IS NULL) = (offer_expires_at IS NULL)),
    CHECK (offered_slug IS NOT NULL OR organization_id IS NOT NULL)
);
CREATE UNIQUE INDEX service_customers_active ON service_customers (service_id, organization_id) WHERE accepted_at IS NOT NULL;
CREATE UNIQUE INDEX service_customers_external ON service_customers (service_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX service_customers_offered ON service_customers (service_id, offered_slug) WHERE accepted_at IS NULL;
CREATE INDEX service_customers_in_order ON service_customers (service_id, created_at, id);
CREATE INDEX service_customers_of_vendor ON service_customers (vendor_id, service_id);
CREATE INDEX service_customers_of_organization ON service_customers (organization_id) WHERE organization_id IS NOT NULL;
CREATE INDEX service_customers_offered_to ON service_customers (offered_to) WHERE offered_to IS NOT NULL;
CREATE INDEX service_customers_offers_over ON service_customers (offer_expires_at) WHERE accepted_at IS NULL;
COMMENT ON TABLE service_customers IS 'Organizations that use the service of another one, and offers to become one.';
COMMENT ON COLUMN service_customers.vendor_id IS 'The organization of the service.';
COMMENT ON COLUMN service_customers.offered_slug IS 'The slug that the vendor has offered it to, as typed; null where the customer began by itself.';
COMMENT ON COLUMN service_customers.offered_to IS 'The organization that had that slug at the offer, if there was one.';
COMMENT ON COLUMN service_customers.organization_id IS 'The customer; null while it is only offered.';
COMMENT ON COLUMN service_customers.access IS 'Whether every member may use it, or those alone whom an assignment fits.';
COMMENT ON COLUMN service_customers.groups IS 'The groups of the customer that the vendor learns of.';
COMMENT ON COLUMN service_customers.hidden IS 'Whether no address of a mail domain of the customer shows that it is one.';
COMMENT ON COLUMN service_customers.last_sign_in_at IS 'The last sign-in for the customer, exact to the hour.';

CREATE TABLE customer_assignments (
    customer_id     uuid    NOT NULL,
    organization_id uuid    NOT NULL,
    position        integer NOT NULL,
    subject         text    NOT NULL CHECK (subject IN ('everyone', 'role', 'group', 'user')),
    role            text,
    custom_role     text,
    group_id        uuid,
    user_id         uuid,
    role_ids        uuid[]  NOT NULL DEFAULT '{}',
    PRIMARY KEY (customer_id, position),
    FOREIGN KEY (customer_id, organization_id) REFERENCES service_customers (id, organization_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, custom_role) REFERENCES organization_roles (organization_id, slug) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id)
        ON UPDATE CASCADE ON DELETE CASCADE,
    CHECK ((subject = 'role') = (role IS NOT NULL)),
    CHECK (custom_role = role),
    CHECK ((subject = 'group') = (group_id IS NOT NULL)),
    CHECK ((subject = 'user') = (user_id IS NOT NULL))
);
CREATE INDEX customer_assignments_of_role ON customer_assignments (organization_id, custom_role);
CREATE INDEX customer_assignments_of_group ON customer_assignments (organization_id, group_id);
CREATE INDEX customer_assignments_of_user ON customer_assignments (organization_id, user_id);
COMMENT ON TABLE customer_assignments IS 'Whom a customer assigns to a service that it uses, and with which of its roles.';
COMMENT ON COLUMN customer_assignments.role_ids IS 'The roles of the service, by their ids; one that the service no longer has gives nothing.';

CREATE TABLE customer_users (
    customer_id      uuid        NOT NULL,
    organization_id  uuid        NOT NULL,
    user_id          uuid        NOT NULL,
    first_sign_in_at timestamptz NOT NULL,
    last_sign_in_at  timestamptz NOT NULL,
    own_role_ids     uuid[]      NOT NULL DEFAULT '{}',
    PRIMARY KEY (customer_id, user_id),
    FOREIGN KEY (customer_id, organization_id) REFERENCES service_customers (id, organization_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id)
        ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX customer_users_of_member ON customer_users (organization_id, user_id);
COMMENT ON TABLE customer_users IS 'Who has signed in to a service for a customer of it.';
COMMENT ON COLUMN customer_users.own_role_ids IS 'The roles that the vendor gives the user in this context, besides those of assignments.';

CREATE TABLE customer_slugs (
    slug text PRIMARY KEY
);
COMMENT ON TABLE customer_slugs IS 'Slugs that customers have or had, which no other organization gets.';

CREATE TABLE customer_rechecks (
    id              uuid        PRIMARY KEY,
    service_id      uuid        NOT NULL,
    customer_id     uuid,
    reason          text        NOT NULL,
    after_session   uuid,
    created_at      timestamptz NOT NULL
);
CREATE INDEX customer_rechecks_in_order ON customer_rechecks (created_at, id);
COMMENT ON TABLE customer_rechecks IS 'Changes that may have ended sessions of many people: those of a customer, or of the individuals of a service.';
COMMENT ON COLUMN customer_rechecks.customer_id IS 'The customer, which may be gone; null for the individuals.';
COMMENT ON COLUMN customer_rechecks.after_session IS 'Up to which session it was checked; null at the beginning.';

ALTER TABLE sessions ADD COLUMN customer_id uuid, ADD COLUMN lacks_connection boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN sessions.lacks_connection IS 'Whether it is limited only for lack of the sign-in that an organization requires of its user.';
COMMENT ON COLUMN sessions.customer_id IS 'The customer of the service for which its user acts in it; it never changes.';
ALTER TABLE login_events ADD COLUMN customer_id uuid;
COMMENT ON COLUMN login_events.customer_id IS 'The customer of the service for which the user signed in; no reference.';
COMMENT ON COLUMN login_events.through_organization_id IS 'The organization whose connection or domain was used, where the sign-in names none, or for which the user signed in to the service of another one; no reference.';

-- What may end sessions of many people leaves a row here, whichever statement causes it; deletions that follow from
-- foreign keys included. Access itself ends with the row that changes.
CREATE FUNCTION recheck_customer(of_service uuid, of_customer uuid, because text) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO customer_rechecks (id, service_id, customer_id, reason, created_at)
    SELECT gen_random_uuid(), of_service, of_customer, because, now()
    WHERE  NOT EXISTS (SELECT FROM customer_rechecks
                       WHERE  service_id = of_service AND customer_id IS NOT DISTINCT FROM of_customer
                         AND  after_session IS NULL);
END
$$;
COMMENT ON FUNCTION recheck_customer(uuid, uuid, text) IS 'Notes that sessions of a customer, or of a whole service, may be open no longer.';

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
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION service_customers_changed() IS 'Notes that a customer has begun, has changed or has ended.';
CREATE TRIGGER service_customers_changed
    AFTER INSERT OR DELETE OR UPDATE OF accepted_at, vendor_paused_at, customer_paused_at, access ON service_customers
    FOR EACH ROW EXECUTE FUNCTION service_customers_changed();

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
CREATE TRIGGER customer_assignments_removed AFTER DELETE ON customer_assignments
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION customer_assignments_removed();

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
CREATE TRIGGER organizations_of_customers_closed AFTER UPDATE OF status ON organizations
    FOR EACH ROW WHEN (OLD.status = 'active' AND NEW.status <> 'active')
    EXECUTE FUNCTION organizations_of_customers_closed();

CREATE FUNCTION services_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM recheck_customer(NEW.id, NULL, 'service');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION services_of_customers_changed() IS 'Notes that a service may be open to fewer people.';
CREATE TRIGGER services_of_customers_changed AFTER UPDATE ON services
    FOR EACH ROW
    WHEN (OLD.customers IS DISTINCT FROM NEW.customers OR OLD.individuals IS DISTINCT FROM NEW.individuals
          OR OLD.role_ids IS DISTINCT FROM NEW.role_ids)
    EXECUTE FUNCTION services_of_customers_changed();

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
CREATE TRIGGER domain_routes_of_customers AFTER UPDATE OF enforced, status ON domain_routes
    FOR EACH ROW
    WHEN (NEW.status = 'verified' AND (OLD.status <> 'verified' OR (NEW.enforced AND NOT OLD.enforced)))
    EXECUTE FUNCTION connections_of_customers_required();
CREATE TRIGGER connections_of_customers_required AFTER UPDATE OF enabled ON upstream_connections
    FOR EACH ROW WHEN (NEW.enabled AND NOT OLD.enabled)
    EXECUTE FUNCTION connections_of_customers_required();
