-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Each attempt of a delivery, with what was sent, what came back and how long it took; before, a delivery kept what the
-- last attempt got. Attempts end with their delivery. And how much a stream of the audit log has sent, and what the
-- directory of an organization failed to do, among everything that it did.

CREATE TABLE IF NOT EXISTS webhook_attempts (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    webhook_id      uuid NOT NULL,
    delivery_id     uuid NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
    attempted_at    timestamptz NOT NULL,
    duration_ms     integer NOT NULL,
    request_headers jsonb NOT NULL,
    status_code     integer,
    response_body   text,
    error           text
);
COMMENT ON TABLE webhook_attempts IS 'An attempt to send a delivery; error is null where the receiver took it.';
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_attempts_of_delivery ON webhook_attempts (delivery_id, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_attempts_newest ON webhook_attempts (organization_id, webhook_id, attempted_at DESC) INCLUDE (duration_ms);
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_attempts_failed ON webhook_attempts (organization_id, webhook_id, attempted_at DESC) WHERE error IS NOT NULL;

CREATE OR REPLACE FUNCTION delivery_payload(events, text) RETURNS json
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN json_build_object(
    'id', $1.id,
    'event', $2,
    'timestamp', to_char($1.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'organization_id', $1.organization_id,
    'actor_user_id', $1.actor_user_id,
    'actor_email', $1.actor_email,
    'data', CASE WHEN $1.type = $2 THEN $1.data ELSE $1.data -> 'sample' END);
COMMENT ON FUNCTION delivery_payload IS 'What a receiver of a delivery of this type gets: the event, or the sample of a test that was sent as another type.';

ALTER TABLE siem_streams ADD COLUMN IF NOT EXISTS sent_entries bigint NOT NULL DEFAULT 0;
ALTER TABLE siem_streams ADD COLUMN IF NOT EXISTS last_sent_entries integer;
COMMENT ON COLUMN siem_streams.sent_entries IS 'How many entries the receiver has taken since the stream was created, repeated ones included.';
COMMENT ON COLUMN siem_streams.last_sent_entries IS 'How many it took last, at last_success_at.';

CREATE INDEX CONCURRENTLY IF NOT EXISTS scim_log_entries_failed ON scim_log_entries (organization_id, id DESC) WHERE status >= 400;
