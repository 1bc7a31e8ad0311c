-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- New accounts have random ids, so lists of all accounts go by when each was made.

CREATE INDEX CONCURRENTLY IF NOT EXISTS users_newest ON users (created_at, id);
