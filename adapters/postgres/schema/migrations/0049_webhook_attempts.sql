-- gatehouse: compatible from 0025
-- Each attempt of a delivery, with what was sent, what came back and how long it took; before, a delivery kept what the
-- last attempt got. Attempts end with their delivery.

CREATE TABLE webhook_attempts (
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
CREATE INDEX webhook_attempts_of_delivery ON webhook_attempts (delivery_id, id);
CREATE INDEX webhook_attempts_newest ON webhook_attempts (organization_id, webhook_id, attempted_at DESC) INCLUDE (duration_ms);
CREATE INDEX webhook_attempts_failed ON webhook_attempts (organization_id, webhook_id, attempted_at DESC) WHERE error IS NOT NULL;

CREATE FUNCTION delivery_payload(events, text) RETURNS json
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN CASE WHEN $1.type = $2 THEN event_payload($1) ELSE json_build_object(
    'id', $1.id,
    'event', $2,
    'timestamp', to_char($1.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'organization_id', $1.organization_id,
    'actor_user_id', $1.actor_user_id,
    'actor_email', $1.actor_email,
    'data', $1.data -> 'sample') END;
COMMENT ON FUNCTION delivery_payload IS 'What a receiver of a delivery of this type gets: the event, or the sample of a test that was sent as another type.';
