-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The next migration makes the events a log with months. Here is what takes long. An event waits for its position with the
-- position 0 from then on, and no longer without one, so that processes of version 0.1.0 find none that waits.

UPDATE events SET organization_id = '00000000-0000-0000-0000-000000000000' WHERE organization_id IS NULL;
ALTER TABLE events
    DROP CONSTRAINT IF EXISTS events_organization,
    ADD CONSTRAINT events_organization CHECK (organization_id IS NOT NULL) NOT VALID;
ALTER TABLE events VALIDATE CONSTRAINT events_organization;
-- It needs not read the rows, because the constraint is valid.
ALTER TABLE events ALTER COLUMN organization_id SET NOT NULL;
ALTER TABLE events DROP CONSTRAINT IF EXISTS events_organization;

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS events_key ON events (organization_id, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_waiting ON events (organization_id, occurred_at, id) WHERE position = 0;
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_waiting_longest ON events (occurred_at, id) WHERE position = 0;
-- These are of the first partition alone, and end with it. Processes of version 0.1.0 look for events by their ids.
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_before_without_position ON events (id) WHERE position IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_before_by_id ON events (id);
SELECT bound_log('events');
ALTER TABLE events VALIDATE CONSTRAINT events_before;
