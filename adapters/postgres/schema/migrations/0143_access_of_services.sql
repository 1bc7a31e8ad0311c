-- gatehouse: compatible from 0079
-- Who of an organization's own people may sign in to its services, and with which roles of these. An older process judges
-- by neither, and leaves both as they are. A constant default rewrites no row.
ALTER TABLE services ADD COLUMN access text NOT NULL DEFAULT 'everyone' CHECK (access IN ('everyone', 'members', 'assigned'));
COMMENT ON COLUMN services.access IS 'Who may use it without a customer: everyone, members of the organization, or those whom it assigns.';

-- Services refer to their organization by both, as the assignments do.
CREATE TABLE service_assignments (
    service_id      uuid    NOT NULL,
    organization_id uuid    NOT NULL,
    position        integer NOT NULL,
    subject         text    NOT NULL CHECK (subject IN ('everyone', 'role', 'group', 'user')),
    role            text,
    custom_role     text,
    group_id        uuid,
    user_id         uuid,
    role_ids        uuid[]  NOT NULL DEFAULT '{}',
    PRIMARY KEY (service_id, organization_id, position),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, custom_role) REFERENCES organization_roles (organization_id, slug) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, group_id) REFERENCES directory_groups (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES memberships (organization_id, user_id)
        ON UPDATE CASCADE ON DELETE CASCADE,
    CHECK ((subject = 'role') = (role IS NOT NULL)),
    CHECK (custom_role = role),
    CHECK ((subject = 'group') = (group_id IS NOT NULL)),
    CHECK ((subject = 'user') = (user_id IS NOT NULL))
);
CREATE INDEX service_assignments_of_role ON service_assignments (organization_id, custom_role);
CREATE INDEX service_assignments_of_group ON service_assignments (organization_id, group_id);
CREATE INDEX service_assignments_of_user ON service_assignments (organization_id, user_id);
COMMENT ON TABLE service_assignments IS 'Whom an organization assigns to a service of its own, and with which of its roles.';
COMMENT ON COLUMN service_assignments.role_ids IS 'The roles of the service, by their ids; one that the service no longer has gives nothing.';

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
CREATE TRIGGER service_assignments_removed AFTER DELETE ON service_assignments
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION service_assignments_removed();

CREATE TRIGGER services_closed AFTER UPDATE ON services
    FOR EACH ROW WHEN (OLD.access IS DISTINCT FROM NEW.access AND NEW.access <> 'everyone')
    EXECUTE FUNCTION services_of_customers_changed();
