-- Streaming the audit log of an organization to its SIEM.

CREATE TABLE siem_streams (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL UNIQUE REFERENCES organizations ON DELETE CASCADE,
    provider        text NOT NULL CHECK (provider IN ('http', 'splunk', 'datadog', 'elastic')),
    endpoint        text NOT NULL,
    token_sealed    bytea,
    options         jsonb NOT NULL,
    event_filter    text[],
    enabled         boolean NOT NULL,
    starts_at       timestamptz,
    position        bigint NOT NULL CHECK (position >= 0),
    failures        integer NOT NULL DEFAULT 0,
    last_success_at timestamptz,
    last_error      text,
    attempted_at    timestamptz,
    due_at          timestamptz,
    leased_until    timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL
);
COMMENT ON TABLE siem_streams IS 'Where the audit log of an organization is sent, and how far it was received.';
COMMENT ON COLUMN siem_streams.position IS 'The position in the chain up to which everything was received.';
COMMENT ON COLUMN siem_streams.starts_at IS 'Earlier entries are passed over; null sends the log from its beginning.';
COMMENT ON COLUMN siem_streams.due_at IS 'When the next batch is sent; null when nothing is left to send.';
CREATE INDEX siem_streams_due ON siem_streams (due_at) WHERE enabled AND due_at IS NOT NULL;
