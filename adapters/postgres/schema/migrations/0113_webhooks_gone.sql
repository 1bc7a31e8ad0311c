-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The overview of the platform names the webhooks that were switched off lately because their receiver is gone (410).

CREATE INDEX CONCURRENTLY IF NOT EXISTS webhooks_gone ON webhooks (off_at) WHERE off_reason = 'receiver_gone';
