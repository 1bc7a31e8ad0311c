-- gatehouse: compatible from 0079
-- What a connection says of people who have an account before it has linked them, and whose certificates it takes over.

-- Few rows: at most 50 for an organization.
ALTER TABLE upstream_connections
    ADD COLUMN is_vouched_for boolean NOT NULL DEFAULT false,
    ADD COLUMN takes_certificates boolean NOT NULL DEFAULT true,
    ADD COLUMN metadata_since timestamptz;
COMMENT ON COLUMN upstream_connections.is_vouched_for IS 'Whether all who have said where it leads, and what leads to it, may give every role, so that it links accounts of the organization''s own at once.';
COMMENT ON COLUMN upstream_connections.takes_certificates IS 'Whether the address of its metadata was set by someone who may give every role, or before that was recorded, so that new certificates there end no link.';
COMMENT ON COLUMN upstream_connections.metadata_since IS 'Since when its metadata are read from their address; null without one.';
UPDATE upstream_connections SET metadata_since = updated_at WHERE metadata_url IS NOT NULL;
