-- Events in the order in which they are handed on, and outbound webhooks with their deliveries.

-- An id is made before the commit, so a cursor over ids would skip an event that is committed late. An actor gives each
-- committed event the next position; receivers read positions only. The indexes are in the next file.
ALTER TABLE events ADD COLUMN position bigint;
COMMENT ON COLUMN events.position IS 'The order of the feed; null until the sequencer has handed the event on.';

CREATE TABLE known_addresses (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    email   text NOT NULL,
    PRIMARY KEY (user_id, email)
);
COMMENT ON TABLE known_addresses IS 'The addresses under which a user acted, from events that were deleted; an anonymization replaces them.';

CREATE TABLE event_sequencing (
    is_the_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_the_only_row),
    last_position   bigint NOT NULL,
    backlog_before  timestamptz NOT NULL
);
COMMENT ON TABLE event_sequencing IS 'The last position given; the transaction that locks the row gives the next ones.';
COMMENT ON COLUMN event_sequencing.backlog_before
    IS 'Events that happened earlier were stored before this table existed; they get positions beside the new ones.';
INSERT INTO event_sequencing (last_position, backlog_before) VALUES (0, now());

CREATE FUNCTION event_payload(events) RETURNS json
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN json_build_object(
    'id', $1.id,
    'event', $1.type,
    'timestamp', to_char($1.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'organization_id', $1.organization_id,
    'actor_user_id', $1.actor_user_id,
    'actor_email', $1.actor_email,
    'data', $1.data);
COMMENT ON FUNCTION event_payload IS 'What a receiver of an event gets (operations 2.7), always in this order.';

CREATE TABLE webhooks (
    id                     uuid PRIMARY KEY,
    organization_id        uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    name                   text NOT NULL,
    url                    text NOT NULL,
    events                 text[] NOT NULL CHECK (cardinality(events) > 0),
    is_active              boolean NOT NULL DEFAULT true,
    secret_sealed          bytea NOT NULL,
    previous_secret_sealed bytea,
    previous_secret_until  timestamptz,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    UNIQUE (organization_id, name),
    UNIQUE (organization_id, id)
);
COMMENT ON TABLE webhooks IS 'Where an organization wants its events sent.';
COMMENT ON COLUMN webhooks.previous_secret_sealed IS 'After a rotation both secrets sign, until previous_secret_until.';

CREATE TABLE webhook_deliveries (
    id                   uuid PRIMARY KEY,
    organization_id      uuid NOT NULL,
    webhook_id           uuid NOT NULL,
    event_id             uuid NOT NULL REFERENCES events ON DELETE CASCADE,
    event_type           text NOT NULL,
    queued_at            timestamptz NOT NULL,
    attempt_count        integer NOT NULL DEFAULT 0,
    next_retry_at        timestamptz,
    delivered            boolean NOT NULL DEFAULT false,
    response_status_code integer,
    response_body        text,
    delivery_error       text,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE webhook_deliveries
    IS 'One event for one webhook, with what the last attempt got; next_retry_at is null once it is over.';
COMMENT ON COLUMN webhook_deliveries.queued_at IS 'When the event happened, or when the delivery was last queued again.';
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_retry_at, id) WHERE next_retry_at IS NOT NULL;
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (organization_id, webhook_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_type
    ON webhook_deliveries (organization_id, webhook_id, event_type, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (organization_id, webhook_id, created_at DESC, id DESC)
    WHERE NOT delivered;
CREATE INDEX webhook_deliveries_old ON webhook_deliveries (created_at);

CREATE TABLE webhook_queues (
    webhook_id      uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    due_at          timestamptz,
    leased_until    timestamptz,
    FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE webhook_queues
    IS 'When each webhook has the next delivery to make. A dispatcher leases a webhook, so that a flood for one delays no other.';
CREATE INDEX webhook_queues_due ON webhook_queues (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_queues_of_organization ON webhook_queues (organization_id, webhook_id);
