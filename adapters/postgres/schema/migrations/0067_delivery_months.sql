-- gatehouse: compatible from 0025
-- The deliveries of webhooks and their attempts are partitioned by month. What was written until now is the first partition of
-- each; no row is read. No foreign key leads from the attempts to the deliveries any more: a trigger deletes them together.

LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhook_attempts IN ACCESS EXCLUSIVE MODE;
ALTER TABLE webhook_attempts DROP CONSTRAINT webhook_attempts_delivery_id_fkey;
SELECT begin_log_months('webhook_deliveries');
SELECT begin_log_months('webhook_attempts');
-- The constraint of the first partition becomes a part of that of the log: no row is checked.
ALTER TABLE webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_organization_id_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id)
    REFERENCES webhooks (organization_id, id) ON DELETE CASCADE;

CREATE FUNCTION webhook_deliveries_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- An array, so that an index finds them whatever the planner estimates.
    DELETE FROM webhook_attempts WHERE delivery_id = ANY (ARRAY(SELECT id FROM deleted));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION webhook_deliveries_deleted() IS 'Deletes the attempts of deliveries with them.';
CREATE TRIGGER webhook_deliveries_deleted AFTER DELETE ON webhook_deliveries
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION webhook_deliveries_deleted();
