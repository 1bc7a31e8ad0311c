-- gatehouse: compatible from 0025
-- A sign-in to no organization belongs to its person: the key of the log will begin with the organization, or else with
-- the person in its place. So the column is no reference any more; what is deleted with an organization is deleted by a
-- trigger.

CREATE FUNCTION login_event_of_person() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.organization_id := NEW.user_id;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION login_event_of_person() IS 'Fills in the person where a server of version 0.1.0 names no organization; of no use once none of them runs beside this schema.';

CREATE FUNCTION login_events_of_organization_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM login_events WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION login_events_of_organization_deleted() IS 'Deletes the sign-ins to an organization that is deleted.';

CREATE PROCEDURE fill_organizations_of_login_events()
LANGUAGE plpgsql AS $$
DECLARE
    last_id uuid := '00000000-0000-0000-0000-000000000000';
    ids     uuid[];
BEGIN
    LOOP
        ids := ARRAY(SELECT id FROM login_events WHERE id > last_id ORDER BY id LIMIT 10000);
        EXIT WHEN cardinality(ids) = 0;
        UPDATE login_events SET organization_id = user_id WHERE id = ANY (ids) AND organization_id IS NULL;
        last_id := ids[cardinality(ids)];
        -- No sign-in waits longer than for one batch.
        COMMIT;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fill_organizations_of_login_events() IS 'Fills in the person in sign-ins to no organization, batch by batch; the migration after the next one drops it.';

LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE;
ALTER TABLE login_events DROP CONSTRAINT login_events_organization_id_fkey;
CREATE TRIGGER login_event_of_person BEFORE INSERT ON login_events
    FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION login_event_of_person();
CREATE TRIGGER login_events_of_organization_deleted AFTER DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION login_events_of_organization_deleted();
COMMENT ON COLUMN login_events.organization_id IS 'The organization that was signed in to, or the person, where it was none; no reference.';
