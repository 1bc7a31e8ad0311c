-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Why sign-ins were refused, through whose connection or domain they came, and the index that lists those of one user.

ALTER TABLE login_events
    ADD COLUMN IF NOT EXISTS reason                  text,
    ADD COLUMN IF NOT EXISTS connection_id           uuid,
    ADD COLUMN IF NOT EXISTS through_organization_id uuid,
    ADD COLUMN IF NOT EXISTS request_id              text;

COMMENT ON COLUMN login_events.reason IS 'Why it was refused, or what it waits for; null for a success, and for what was refused before reasons were kept.';
COMMENT ON COLUMN login_events.connection_id IS 'No reference, like the device: the connection by which its user came.';
COMMENT ON COLUMN login_events.through_organization_id IS 'The organization whose connection or domain was used, where the sign-in names none; no reference.';

CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_of_organization_user ON login_events (organization_id, user_id, created_at DESC, id DESC) WHERE organization_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_through_organization ON login_events (through_organization_id, user_id, created_at DESC, id DESC) WHERE through_organization_id IS NOT NULL;
