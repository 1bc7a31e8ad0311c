-- gatehouse: no transaction
-- The sessions by an upstream connection, which end with it. The table may hold many millions of sessions.

CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_of_connection ON sessions (connection_id) WHERE connection_id IS NOT NULL;
