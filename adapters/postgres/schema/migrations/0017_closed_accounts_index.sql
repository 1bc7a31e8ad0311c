-- gatehouse: no transaction
-- For the housekeeper, which anonymizes the accounts that were closed first.

CREATE INDEX CONCURRENTLY IF NOT EXISTS users_closed ON users (closed_at) WHERE closed_at IS NOT NULL;
