-- gatehouse: compatible from 0025
-- Keys of SAML connections, and what their identity providers say besides: when metadata and sessions end (decisions 9.1
-- and 10.9). The largest table comes last, so that nothing waits for it longer than a column takes that has no value.

CREATE TABLE connection_keys (
    id                 uuid PRIMARY KEY,
    organization_id    uuid NOT NULL,
    connection_id      uuid NOT NULL,
    public_key         text NOT NULL,
    private_key_sealed bytea NOT NULL,
    valid_from         timestamptz NOT NULL,
    valid_until        timestamptz NOT NULL,
    is_active          boolean NOT NULL,
    published_until    timestamptz,
    warned_at          timestamptz,
    created_at         timestamptz NOT NULL,
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE connection_keys IS 'Key pairs that sign requests and open assertions of SAML connections: the active one, and those before it.';
COMMENT ON COLUMN connection_keys.published_until IS 'Until then metadata contain a certificate that was replaced, and its key opens assertions.';
COMMENT ON COLUMN connection_keys.warned_at IS 'When a mail said that the certificate ends soon.';
CREATE INDEX connection_keys_of_connection ON connection_keys (organization_id, connection_id, created_at);
CREATE INDEX connection_keys_ending ON connection_keys (valid_until) WHERE is_active;
CREATE UNIQUE INDEX connection_keys_one_active ON connection_keys (connection_id) WHERE is_active;

ALTER TABLE upstream_connections
    ADD COLUMN metadata_valid_until  timestamptz,
    ADD COLUMN metadata_warned_of    timestamptz,
    ADD COLUMN signs_requests        boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN upstream_connections.metadata_valid_until IS 'When the metadata of the identity provider end, as they say; null when they do not.';
COMMENT ON COLUMN upstream_connections.metadata_warned_of IS 'The end of metadata of which a mail has warned last.';
COMMENT ON COLUMN upstream_connections.signs_requests IS 'Whether the metadata of the identity provider want requests that are signed.';

ALTER TABLE sessions ADD COLUMN bounded_until timestamptz;
COMMENT ON COLUMN sessions.bounded_until IS 'Until when the identity provider that signed its user in lets the session last; null without such an end.';
