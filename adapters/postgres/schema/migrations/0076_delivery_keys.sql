-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The next migrations make the deliveries of webhooks and their attempts logs with months. Here is what takes long.

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_key ON webhook_deliveries (organization_id, id);
SELECT bound_log('webhook_deliveries');
ALTER TABLE webhook_deliveries VALIDATE CONSTRAINT webhook_deliveries_before;

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS webhook_attempts_key ON webhook_attempts (organization_id, id);
-- Processes of version 0.1.0 look for attempts by their ids alone. The index ends with the first partition.
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_attempts_before_by_id ON webhook_attempts (id);
SELECT bound_log('webhook_attempts');
ALTER TABLE webhook_attempts VALIDATE CONSTRAINT webhook_attempts_before;
