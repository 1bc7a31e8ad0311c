-- gatehouse: compatible from 0025
-- Keys of organizations for their management interface. No statement here reads or rewrites a table.

CREATE TABLE organization_keys (
    id                uuid PRIMARY KEY,
    organization_id   uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    created_by        uuid NOT NULL,
    name              text NOT NULL,
    prefix            text NOT NULL,
    key_hash          bytea NOT NULL,
    permissions       text[] NOT NULL CHECK (cardinality(permissions) > 0),
    has_second_factor boolean NOT NULL,
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz,
    last_used_at      timestamptz,
    FOREIGN KEY (organization_id, created_by) REFERENCES memberships (organization_id, user_id) ON DELETE CASCADE
);
COMMENT ON TABLE organization_keys IS 'Keys with which programs call the management interface of an organization; stored as hashes.';
COMMENT ON COLUMN organization_keys.created_by IS 'The member for whom the key acts; it ends with the membership.';
COMMENT ON COLUMN organization_keys.has_second_factor IS 'Whether the session in which the key was made had a second factor.';
CREATE INDEX organization_keys_prefix ON organization_keys (prefix);
CREATE INDEX organization_keys_of_organization ON organization_keys (organization_id, created_at DESC, id DESC);
CREATE INDEX organization_keys_of_maker ON organization_keys (created_by, organization_id);
CREATE INDEX organization_keys_expiry ON organization_keys (expires_at) WHERE expires_at IS NOT NULL;
