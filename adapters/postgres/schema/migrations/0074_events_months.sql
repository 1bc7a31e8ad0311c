-- gatehouse: compatible from 0025
-- The events are partitioned by month. What was written until now is the first partition; no row is read. No foreign key leads
-- to them any more: what depends on an event is deleted with it by a trigger.

CREATE FUNCTION events_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- An array, so that an index finds them whatever the planner estimates.
    DELETE FROM webhook_deliveries WHERE event_id = ANY (ARRAY(SELECT id FROM deleted));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION events_deleted() IS 'Deletes the deliveries of events with them.';

LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_event_id_fkey;
DROP FUNCTION event_payload(events);
DROP FUNCTION delivery_payload(events, text);
DROP TRIGGER events_inserted ON events;
-- The key and the indexes of what waits do what they did.
DROP INDEX events_of_organization;
DROP INDEX events_queues;
DROP INDEX events_without_position;
SELECT begin_log_months('events');
ALTER TABLE events ALTER COLUMN position SET DEFAULT 0;
COMMENT ON COLUMN events.organization_id IS 'Zeros for an event of the platform itself.';
COMMENT ON COLUMN events.position IS 'The order of the feed of an organization; 0 until the sequencer has handed the event on.';
COMMENT ON TABLE event_sequencing IS 'What was the last position for all organizations together, on which the positions of each go on.';

CREATE TRIGGER events_inserted BEFORE INSERT ON events
    FOR EACH ROW EXECUTE FUNCTION event_inserted();

CREATE TRIGGER events_deleted AFTER DELETE ON events
    REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION events_deleted();

CREATE FUNCTION event_payload(events) RETURNS json
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN json_build_object(
    'id', $1.id,
    'event', $1.type,
    'timestamp', to_char($1.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'organization_id', nullif($1.organization_id, '00000000-0000-0000-0000-000000000000'),
    'actor_user_id', $1.actor_user_id,
    'actor_email', $1.actor_email,
    'data', $1.data);
COMMENT ON FUNCTION event_payload IS 'What a receiver of an event gets (operations 2.7), always in this order.';

CREATE FUNCTION delivery_payload(events, text) RETURNS json
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN json_build_object(
    'id', $1.id,
    'event', $2,
    'timestamp', to_char($1.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'organization_id', nullif($1.organization_id, '00000000-0000-0000-0000-000000000000'),
    'actor_user_id', $1.actor_user_id,
    'actor_email', $1.actor_email,
    'data', CASE WHEN $1.type = $2 THEN $1.data ELSE $1.data -> 'sample' END);
COMMENT ON FUNCTION delivery_payload IS 'What a receiver of a delivery of this type gets: the event, or the sample of a test that was sent as another type.';
