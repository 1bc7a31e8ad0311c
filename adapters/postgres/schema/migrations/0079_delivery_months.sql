-- gatehouse: compatible from 0025
-- The deliveries of webhooks are partitioned by month. What was written until now is the first partition; no row is read.

LOCK TABLE webhooks IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER webhook_deliveries_deleted ON webhook_deliveries;
SELECT begin_log_months('webhook_deliveries');
-- The constraint of the first partition becomes a part of that of the log: no row is checked.
ALTER TABLE webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_organization_id_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id)
    REFERENCES webhooks (organization_id, id) ON DELETE CASCADE;
CREATE TRIGGER webhook_deliveries_deleted AFTER DELETE ON webhook_deliveries
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION webhook_deliveries_deleted();
