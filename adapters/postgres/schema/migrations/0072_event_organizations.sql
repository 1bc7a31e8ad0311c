-- gatehouse: compatible from 0025
-- Every event has an organization: those of the platform itself get the id of zeros, which is no organization. So a trigger
-- does what the foreign key did. And the last position of each organization has a row of its own, so that organizations do not
-- wait for each other; the positions that were given for all of them together go on from where they are.

CREATE TABLE event_positions (
    organization_id uuid PRIMARY KEY,
    last_position   bigint NOT NULL
);
COMMENT ON TABLE event_positions
    IS 'The last position given to an event of each organization; the transaction that locks a row gives the next ones. It has a row from the first event on that was given its position here.';

CREATE FUNCTION event_inserted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.organization_id IS NULL THEN
        -- Needed until no process of version 0.1.0 runs any more, which leaves it out for events of the platform.
        NEW.organization_id := '00000000-0000-0000-0000-000000000000';
    ELSIF NEW.organization_id <> '00000000-0000-0000-0000-000000000000' THEN
        -- The lock that a foreign key takes: a deletion of the organization waits, or is waited for.
        PERFORM FROM organizations WHERE id = NEW.organization_id FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE foreign_key_violation
                USING MESSAGE = 'an event refers to an organization that does not exist', TABLE = 'events';
        END IF;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION event_inserted() IS 'Refuses events of organizations that do not exist, and gives the id of zeros to those of the platform.';

CREATE FUNCTION events_of_organization_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events WHERE organization_id = OLD.id;
    DELETE FROM event_positions WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION events_of_organization_deleted() IS 'Deletes the events of an organization with it.';

LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE;
LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
CREATE TRIGGER organizations_events_deleted AFTER DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION events_of_organization_deleted();
CREATE TRIGGER events_inserted BEFORE INSERT ON events
    FOR EACH ROW EXECUTE FUNCTION event_inserted();
ALTER TABLE events DROP CONSTRAINT events_organization_id_fkey;
