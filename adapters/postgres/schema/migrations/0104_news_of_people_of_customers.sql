-- gatehouse: compatible from 0025
-- What the vendors of services have been told of the people of their customers, and whom to look at again.

CREATE TABLE customer_users_told (
    customer_id uuid NOT NULL REFERENCES service_customers (id) ON DELETE CASCADE,
    user_id     uuid NOT NULL,
    told        text NOT NULL,
    PRIMARY KEY (customer_id, user_id)
);
CREATE INDEX customer_users_told_of_user ON customer_users_told (user_id, customer_id);
COMMENT ON TABLE customer_users_told IS 'The people of customers whom the vendor knows of: who has signed in, and who may where the customer shares its directory.';
COMMENT ON COLUMN customer_users_told.user_id IS 'The account, which may be gone; no reference.';
COMMENT ON COLUMN customer_users_told.told IS 'A digest of what the vendor knows of the person.';

CREATE TABLE customer_user_checks (
    id          uuid        PRIMARY KEY,
    service_id  uuid,
    customer_id uuid,
    user_id     uuid,
    after       uuid,
    created_at  timestamptz NOT NULL,
    CHECK (num_nonnulls(service_id, customer_id, user_id) = 1)
);
CREATE INDEX customer_user_checks_in_order ON customer_user_checks (created_at, id);
CREATE INDEX customer_user_checks_of_customer ON customer_user_checks (customer_id) WHERE customer_id IS NOT NULL;
COMMENT ON TABLE customer_user_checks IS 'Changes of which vendors may have to be told: of a person, of a customer, or of all customers of a service.';
COMMENT ON COLUMN customer_user_checks.after IS 'Up to which person or customer it was checked; null at the beginning.';

-- A row for each person whom a statement changes, and one for a customer or a service, however many people it has.
CREATE FUNCTION check_customer_user(of_user uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO customer_user_checks (id, user_id, created_at) VALUES (gen_random_uuid(), of_user, clock_timestamp());
END
$$;
COMMENT ON FUNCTION check_customer_user(uuid) IS 'Notes that vendors may have to be told of a person.';

CREATE FUNCTION is_of_customer(organization uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    -- An organization that is being deleted is none any more.
    RETURN EXISTS (SELECT FROM service_customers c
                   JOIN   organizations o ON o.id = c.organization_id
                   WHERE  c.organization_id = organization);
END
$$;
COMMENT ON FUNCTION is_of_customer(uuid) IS 'Whether an organization uses a service of another one.';

CREATE FUNCTION members_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND is_of_customer(OLD.organization_id) THEN
        PERFORM check_customer_user(OLD.user_id);
    END IF;
    IF TG_OP <> 'DELETE' AND (TG_OP = 'INSERT' OR NEW.user_id <> OLD.user_id) AND is_of_customer(NEW.organization_id) THEN
        PERFORM check_customer_user(NEW.user_id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION members_of_customers_changed() IS 'Notes that a person has become a member of a customer, has changed there, or is none any more.';
CREATE TRIGGER members_of_customers_changed
    AFTER INSERT OR DELETE OR UPDATE OF user_id, role, confirmed_at, suspended_at, member_email ON memberships
    FOR EACH ROW EXECUTE FUNCTION members_of_customers_changed();
CREATE TRIGGER names_of_customers_changed
    AFTER INSERT OR UPDATE OF display_name, formatted_name, given_name, family_name ON scim_profiles
    FOR EACH ROW EXECUTE FUNCTION members_of_customers_changed();

CREATE FUNCTION people_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF EXISTS (SELECT FROM memberships m
               JOIN   service_customers c ON c.organization_id = m.organization_id
               WHERE  m.user_id = NEW.id) THEN
        PERFORM check_customer_user(NEW.id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION people_of_customers_changed() IS 'Notes that a person has another name, or an account that is closed or opened.';
CREATE TRIGGER people_of_customers_changed AFTER UPDATE OF name, email_verified_at, deactivated_at ON users
    FOR EACH ROW
    WHEN (OLD.name IS DISTINCT FROM NEW.name
          OR (OLD.email_verified_at IS NULL) <> (NEW.email_verified_at IS NULL)
          OR (OLD.deactivated_at IS NULL) <> (NEW.deactivated_at IS NULL))
    EXECUTE FUNCTION people_of_customers_changed();

CREATE FUNCTION groups_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer_user(x.user_id)
    FROM    (SELECT DISTINCT changed.user_id
             FROM   changed
             JOIN   customer_assignments a ON a.organization_id = changed.organization_id
                                          AND a.group_id = changed.group_id) AS x;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION groups_of_customers_changed() IS 'Notes that people came to a group that a customer assigns, or left it.';
CREATE TRIGGER groups_of_customers_joined AFTER INSERT ON directory_group_members
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_of_customers_changed();
CREATE TRIGGER groups_of_customers_left AFTER DELETE ON directory_group_members
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_of_customers_changed();

CREATE FUNCTION check_customer(of_customer uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Another transaction may be at the row of a customer that it has noted, so only one of this transaction counts.
    INSERT INTO customer_user_checks (id, customer_id, created_at)
    SELECT gen_random_uuid(), of_customer, clock_timestamp()
    WHERE  NOT EXISTS (SELECT FROM customer_user_checks
                       WHERE  customer_id = of_customer AND xmin = pg_current_xact_id()::xid);
END
$$;
COMMENT ON FUNCTION check_customer(uuid) IS 'Notes that the vendor of a customer may have to be told of many of its people.';

CREATE FUNCTION customers_let_in_others() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer(c.id) FROM service_customers c WHERE c.id IN (SELECT customer_id FROM changed);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION customers_let_in_others() IS 'Notes that customers assign a service otherwise.';
CREATE TRIGGER customers_assign_more AFTER INSERT ON customer_assignments
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_let_in_others();
CREATE TRIGGER customers_assign_less AFTER DELETE ON customer_assignments
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION customers_let_in_others();

CREATE FUNCTION customers_show_others() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM check_customer(NEW.id);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION customers_show_others() IS 'Notes that a customer lets in others, or shares its directory or not.';
CREATE TRIGGER customers_show_others AFTER UPDATE OF access, shares_directory ON service_customers
    FOR EACH ROW
    WHEN ((OLD.access, OLD.shares_directory) IS DISTINCT FROM (NEW.access, NEW.shares_directory))
    EXECUTE FUNCTION customers_show_others();

CREATE FUNCTION roles_of_customers_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO customer_user_checks (id, service_id, created_at) VALUES (gen_random_uuid(), NEW.id, clock_timestamp());
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION roles_of_customers_changed() IS 'Notes that a service with customers has other roles.';
CREATE TRIGGER roles_of_customers_changed AFTER UPDATE OF role_ids ON services
    FOR EACH ROW WHEN (OLD.customers <> 'none' AND OLD.role_ids IS DISTINCT FROM NEW.role_ids)
    EXECUTE FUNCTION roles_of_customers_changed();
