-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The events of each organization that wait for their positions, so that a flood of one organization delays no other.
-- The zeros stand for no organization. `events_without_position` stays for processes of the previous version.
CREATE INDEX CONCURRENTLY IF NOT EXISTS events_queues ON events
    ((coalesce(organization_id, '00000000-0000-0000-0000-000000000000')), occurred_at, id) WHERE position IS NULL;
