-- gatehouse: compatible from 0079
-- As 0121, for deliveries and their attempts: the deletion of a webhook deletes them, also that by an older process, and
-- that of an event or a delivery does so in its statements. An older process leaves the attempts of the deliveries that it
-- deletes: their months are dropped with them. What it leaves of deliveries is deleted when they are old.
LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE;
LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;

CREATE FUNCTION log_rows_of_webhook_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- The deletion of an organization deletes those of all its webhooks.
    IF EXISTS (SELECT FROM organizations WHERE id = OLD.organization_id) THEN
        DELETE FROM webhook_deliveries WHERE organization_id = OLD.organization_id AND webhook_id = OLD.id;
        DELETE FROM webhook_attempts WHERE organization_id = OLD.organization_id AND webhook_id = OLD.id;
        INSERT INTO ended_log_owners (organization_id, webhook_id) VALUES (OLD.organization_id, OLD.id)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION log_rows_of_webhook_deleted() IS 'Deletes the deliveries of a webhook that is deleted, with their attempts, and remembers it for what is being written.';
CREATE TRIGGER webhooks_log_rows_deleted AFTER DELETE ON webhooks
    FOR EACH ROW EXECUTE FUNCTION log_rows_of_webhook_deleted();

ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_organization_id_webhook_id_fkey;
DROP TRIGGER webhook_deliveries_deleted ON webhook_deliveries;
DROP FUNCTION webhook_deliveries_deleted();
DROP TRIGGER events_deleted ON events;
DROP FUNCTION events_deleted();
