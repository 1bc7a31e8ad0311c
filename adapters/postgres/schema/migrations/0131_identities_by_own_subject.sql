-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- The provider of a connection names the person whose sessions it ends by its own id.

CREATE INDEX CONCURRENTLY IF NOT EXISTS identities_of_own_subject ON identities (organization_id, connection_id, own_subject) WHERE own_subject IS NOT NULL;
