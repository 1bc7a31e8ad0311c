-- gatehouse: compatible from 0079
-- What has to be looked for over all organizations stands beside the logs, in one row for each organization, so that the
-- logs themselves are read, locked and written for one organization at a time.
CREATE TABLE log_dues (
    organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
    events boolean NOT NULL DEFAULT true,
    entries boolean NOT NULL DEFAULT true
);
COMMENT ON TABLE log_dues IS 'Which organizations may have something in their logs that waits. It has a row from the first event or audit entry on.';
COMMENT ON COLUMN log_dues.events IS 'Events may wait for their positions; what the platform itself has is looked for always.';
COMMENT ON COLUMN log_dues.entries IS 'Audit entries may wait to be sealed.';
CREATE INDEX log_dues_events ON log_dues (organization_id) WHERE events;
CREATE INDEX log_dues_entries ON log_dues (organization_id) WHERE entries;
-- For all organizations that have any now, so that nothing that waits is overlooked.
INSERT INTO log_dues (organization_id) SELECT id FROM organizations;

-- Each transaction that writes to the logs of an organization calls it once. The lock is the one that a foreign key takes: a
-- deletion of the organization waits, or is waited for, and the marks are not removed before the transaction ends.
CREATE FUNCTION mark_due(of_organization_id uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    is_marked boolean;
BEGIN
    LOOP
        SELECT events AND entries INTO is_marked FROM log_dues WHERE organization_id = of_organization_id FOR KEY SHARE;
        EXIT WHEN FOUND;
        PERFORM FROM organizations WHERE id = of_organization_id FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE foreign_key_violation
                USING MESSAGE = 'a log refers to an organization that does not exist', TABLE = 'log_dues';
        END IF;
        INSERT INTO log_dues (organization_id) VALUES (of_organization_id) ON CONFLICT DO NOTHING;
    END LOOP;
    -- A mark that another transaction is setting at this moment is not waited for.
    IF NOT is_marked THEN
        UPDATE log_dues
        SET    events = true, entries = true
        WHERE  organization_id = (SELECT organization_id
                                  FROM   log_dues
                                  WHERE  organization_id = of_organization_id
                                  FOR    NO KEY UPDATE SKIP LOCKED);
    END IF;
END
$$;
