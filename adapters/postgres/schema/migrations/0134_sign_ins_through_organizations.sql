-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- The stream of a customer reads the sign-ins of its people at products, and those by its connections, in the order of their ids.

CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_through_organization ON login_events (through_organization_id, id) WHERE through_organization_id IS NOT NULL;
