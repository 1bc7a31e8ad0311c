-- gatehouse: compatible from 0025
-- A change is looked at again once all sign-ins have ended that began before it, because one that is committed after
-- the first look has a session that nothing else ends.

ALTER TABLE customer_rechecks ADD COLUMN due_at timestamptz;
COMMENT ON COLUMN customer_rechecks.due_at IS 'When sessions are looked at that have begun beside the change; null before they were looked at first.';
CREATE INDEX customer_rechecks_due ON customer_rechecks (due_at) WHERE due_at IS NOT NULL;
