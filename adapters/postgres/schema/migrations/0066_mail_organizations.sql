-- gatehouse: compatible from 0025
-- Every mail has an organization: those of the platform itself get the id of zeros, which is no organization. So triggers do
-- what the foreign key did.

CREATE FUNCTION mail_inserted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.organization_id IS NULL THEN
        -- Needed until no process of version 0.1.0 runs any more, which leaves it out for mails of the platform.
        NEW.organization_id := '00000000-0000-0000-0000-000000000000';
    ELSIF NEW.organization_id <> '00000000-0000-0000-0000-000000000000' THEN
        -- The lock that a foreign key takes: a deletion of the organization waits, or is waited for.
        PERFORM FROM organizations WHERE id = NEW.organization_id FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE foreign_key_violation
                USING MESSAGE = 'a mail refers to an organization that does not exist', TABLE = 'mails';
        END IF;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION mail_inserted() IS 'Refuses mails of organizations that do not exist, and gives the id of zeros to those of the platform.';

CREATE FUNCTION mails_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM mails WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION mails_of_organization_deleted() IS 'Deletes the mails of an organization with it.';

LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE;
LOCK TABLE mails IN ACCESS EXCLUSIVE MODE;
CREATE TRIGGER organizations_mails_deleted AFTER DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION mails_of_organization_deleted();
CREATE TRIGGER mails_inserted BEFORE INSERT ON mails
    FOR EACH ROW EXECUTE FUNCTION mail_inserted();
ALTER TABLE mails DROP CONSTRAINT mails_organization_id_fkey;
