-- gatehouse: compatible from 0025
-- Organizations that their owners have deleted, and may restore for a while (decisions 5.1).

ALTER TABLE organizations
    ADD COLUMN deletes_at             timestamptz,
    ADD COLUMN status_before_deletion text,
    ADD COLUMN had_other_members      boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN organizations.deletes_at IS 'When it is deleted for good; null for one that its owner has not deleted.';
COMMENT ON COLUMN organizations.status_before_deletion IS 'The status that it gets back when it is restored.';
COMMENT ON COLUMN organizations.had_other_members IS 'Whether anybody but its founder was ever a member of it.';

-- Of the organizations before, it is known only that one which was never approved could invite nobody.
ALTER TABLE organizations ALTER COLUMN had_other_members SET DEFAULT false;
UPDATE organizations SET had_other_members = false WHERE status IN ('pending', 'rejected');

ALTER TABLE organizations
    DROP CONSTRAINT organizations_status_check,
    ADD CONSTRAINT organizations_status_check
        CHECK (status IN ('pending', 'active', 'suspended', 'rejected', 'deleting')) NOT VALID,
    ADD CONSTRAINT organizations_deletes_at_check
        CHECK ((status = 'deleting') = (deletes_at IS NOT NULL)) NOT VALID,
    ADD CONSTRAINT organizations_status_before_deletion_check
        CHECK ((deletes_at IS NULL) = (status_before_deletion IS NULL)
               AND status_before_deletion IN ('pending', 'active', 'rejected')) NOT VALID;
ALTER TABLE organizations
    VALIDATE CONSTRAINT organizations_status_check,
    VALIDATE CONSTRAINT organizations_deletes_at_check,
    VALIDATE CONSTRAINT organizations_status_before_deletion_check;
CREATE INDEX organizations_deleting ON organizations (deletes_at) WHERE deletes_at IS NOT NULL;

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
CREATE TRIGGER organizations_joined AFTER INSERT ON memberships REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION organizations_joined();
