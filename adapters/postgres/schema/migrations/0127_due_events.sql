-- gatehouse: compatible from 0079
-- Events are found by the marks of their organizations. What was looked for in the log itself by time is not any more, and the
-- writers of events lock their organizations by mark_due. So the trigger goes, which also gave the id of zeros to events of
-- processes of version 0.1.0; those cannot run beside this schema.
DROP TRIGGER events_inserted ON events;
DROP FUNCTION event_inserted();
DROP INDEX events_waiting_longest;

ALTER TABLE log_dues ADD COLUMN events_at timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN log_dues.events_at IS 'Since when events may wait.';

CREATE OR REPLACE FUNCTION mark_due(of_organization_id uuid) RETURNS void
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
        SET    events = true, entries = true, events_at = CASE WHEN events THEN events_at ELSE now() END
        WHERE  organization_id = (SELECT organization_id
                                  FROM   log_dues
                                  WHERE  organization_id = of_organization_id
                                  FOR    NO KEY UPDATE SKIP LOCKED);
    END IF;
END
$$;

-- A function, so that the statement that asks what is due contains no log. On a cluster another node would execute a part of
-- it, and that one knows neither the processes nor their notifications. Its plan is made for these values each time.
CREATE FUNCTION platform_event_waits(since timestamptz, first_id uuid) RETURNS timestamptz
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    found timestamptz;
BEGIN
    EXECUTE $statement$
        SELECT   occurred_at
        FROM     events
        WHERE    organization_id = '00000000-0000-0000-0000-000000000000' AND position = 0
        AND      occurred_at > $1 AND id >= $2
        ORDER BY occurred_at, id
        LIMIT    1
    $statement$ INTO found USING since, first_id;
    RETURN found;
END
$$;
COMMENT ON FUNCTION platform_event_waits(timestamptz, uuid) IS 'Since when an event of the platform itself waits for its position; null when none does.';

-- When each webhook has lost a delivery last, so that those that lose some are found without their deliveries.
ALTER TABLE webhook_queues ADD COLUMN lost_at timestamptz;
COMMENT ON COLUMN webhook_queues.lost_at IS 'When the last attempt of a delivery failed most recently.';
WITH RECURSIVE losing AS (
    (SELECT   organization_id, webhook_id, updated_at
     FROM     webhook_deliveries
     WHERE    NOT delivered AND next_retry_at IS NULL
     ORDER BY organization_id, webhook_id, created_at DESC
     LIMIT    1)
    UNION ALL
    SELECT following.*
    FROM   losing l
    CROSS  JOIN LATERAL (SELECT   organization_id, webhook_id, updated_at
                         FROM     webhook_deliveries
                         WHERE    NOT delivered AND next_retry_at IS NULL
                         AND      (organization_id, webhook_id) > (l.organization_id, l.webhook_id)
                         ORDER BY organization_id, webhook_id, created_at DESC
                         LIMIT    1) AS following)
UPDATE webhook_queues
SET    lost_at = losing.updated_at
FROM   losing
WHERE  webhook_queues.organization_id = losing.organization_id AND webhook_queues.webhook_id = losing.webhook_id;
CREATE INDEX webhook_queues_lost ON webhook_queues (lost_at) WHERE lost_at IS NOT NULL;
