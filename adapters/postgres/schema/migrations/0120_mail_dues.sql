-- gatehouse: compatible from 0079
-- Which organizations have mails that wait, so that mails are looked for, locked and written for one organization at a time.
CREATE TABLE mail_dues (
    organization_id uuid PRIMARY KEY,
    queued_at timestamptz,
    routed_at timestamptz
);
COMMENT ON TABLE mail_dues IS 'When each organization may have a mail to send; zeros for the platform itself. It has a row from the first mail on.';
COMMENT ON COLUMN mail_dues.queued_at IS 'Of the mails for the mail server of the platform; null when none waits.';
COMMENT ON COLUMN mail_dues.routed_at IS 'Of the mails for the mail server of the organization; null when none waits.';
CREATE INDEX mail_dues_queued ON mail_dues (queued_at) WHERE queued_at IS NOT NULL;
CREATE INDEX mail_dues_routed ON mail_dues (routed_at) WHERE routed_at IS NOT NULL;
INSERT INTO mail_dues (organization_id, queued_at, routed_at)
SELECT organization_id, min(due_at), min(due_at) FROM mails WHERE state IN ('queued', 'routed') GROUP BY organization_id;
CREATE INDEX mails_queued ON mails (organization_id, due_at) WHERE state = 'queued';

-- Each transaction that makes mails due calls it. The lock is the one that a foreign key takes: a deletion of the organization
-- waits, or is waited for, and the times are not put off before the transaction ends.
CREATE FUNCTION mark_mails_due(of_organization_id uuid, at timestamptz) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    marked_at timestamptz;
BEGIN
    LOOP
        SELECT greatest(coalesce(queued_at, 'infinity'), coalesce(routed_at, 'infinity'))
        INTO   marked_at
        FROM   mail_dues
        WHERE  organization_id = of_organization_id
        FOR    KEY SHARE;
        EXIT WHEN FOUND;
        PERFORM FROM organizations WHERE id = of_organization_id FOR KEY SHARE;
        IF NOT FOUND AND of_organization_id <> '00000000-0000-0000-0000-000000000000' THEN
            RAISE foreign_key_violation
                USING MESSAGE = 'a mail refers to an organization that does not exist', TABLE = 'mails';
        END IF;
        INSERT INTO mail_dues (organization_id, queued_at, routed_at) VALUES (of_organization_id, at, at) ON CONFLICT DO NOTHING;
    END LOOP;
    -- A time that another transaction is setting at this moment is not waited for.
    IF marked_at > at THEN
        UPDATE mail_dues
        SET    queued_at = least(queued_at, at), routed_at = least(routed_at, at)
        WHERE  organization_id = (SELECT organization_id
                                  FROM   mail_dues
                                  WHERE  organization_id = of_organization_id
                                  FOR    NO KEY UPDATE SKIP LOCKED);
    END IF;
END
$$;
CREATE OR REPLACE FUNCTION mails_of_organization_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- First: it waits for transactions that write mails.
    DELETE FROM mail_dues WHERE organization_id = OLD.id;
    DELETE FROM mails WHERE organization_id = OLD.id;
    RETURN NULL;
END
$$;
-- It was needed for version 0.1.0, which left the organization of the platform's mails out; its lock is that of the mark now.
DROP TRIGGER mails_inserted ON mails;
DROP FUNCTION mail_inserted;
