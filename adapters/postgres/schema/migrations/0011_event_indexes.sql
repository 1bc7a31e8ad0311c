-- gatehouse: no transaction
-- The indexes of the feed. The table may hold many millions of events, which are written meanwhile.

CREATE INDEX CONCURRENTLY IF NOT EXISTS events_without_position ON events (occurred_at, id) WHERE position IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_feed ON events (organization_id, position) WHERE position IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_oldest ON events (occurred_at);
