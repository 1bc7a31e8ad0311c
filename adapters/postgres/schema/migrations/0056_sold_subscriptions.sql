-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The subscriptions that an organization has sold, the newest first.

CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_sold ON subscriptions (organization_id, created_at DESC, id DESC);
