-- gatehouse: no transaction
-- The children of a session, which end with it. The table may hold many millions of sessions.

CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_of_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
