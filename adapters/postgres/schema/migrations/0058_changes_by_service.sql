-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Lists of what changed of one service, of which an organization may have many. Before, the list read all changes of the
-- organization when few of them, or none, were of the service.

CREATE INDEX CONCURRENTLY IF NOT EXISTS subscription_changes_by_service ON subscription_changes (organization_id, service_id, at DESC, id DESC);
