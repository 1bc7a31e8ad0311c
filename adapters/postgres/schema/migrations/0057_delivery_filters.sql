-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Lists of the deliveries of a webhook by their state: those that arrived among very many that did not, and those that
-- failed of one type. Before, the list read all deliveries of the webhook when few of them, or none, were in the state.

CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_delivered ON webhook_deliveries (organization_id, webhook_id, created_at DESC, id DESC) WHERE delivered;
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_failed_of_type ON webhook_deliveries (organization_id, webhook_id, event_type, created_at DESC, id DESC) WHERE NOT delivered;
