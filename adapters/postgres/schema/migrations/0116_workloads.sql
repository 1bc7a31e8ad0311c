-- gatehouse: compatible from 0025
-- Programs that authenticate by tokens of other issuers, and keys of organizations without a secret.

CREATE TABLE workloads (
    id                uuid PRIMARY KEY,
    organization_id   uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    service_id        uuid,
    key_id            uuid REFERENCES organization_keys (id) ON DELETE CASCADE,
    name              text NOT NULL,
    issuer            text NOT NULL,
    jwks_uri          text,
    jwks              jsonb,
    audience          text,
    match             jsonb NOT NULL,
    created_at        timestamptz NOT NULL,
    created_by        uuid REFERENCES users (id) ON DELETE SET NULL,
    has_second_factor boolean NOT NULL,
    last_used_at      timestamptz,
    refused_at        timestamptz,
    refused_reason    text,
    refused_claims    jsonb,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE,
    CHECK ((service_id IS NULL) <> (key_id IS NULL)),
    CHECK (jwks_uri IS NULL OR jwks IS NULL),
    CHECK ((refused_at IS NULL) = (refused_reason IS NULL) AND (refused_at IS NULL) = (refused_claims IS NULL))
);
COMMENT ON TABLE workloads IS 'Rules by which programs authenticate as a service or as a key of an organization, without a secret.';
COMMENT ON COLUMN workloads.match IS 'Claims, or paths to nested ones, with the exact values that they must have.';
COMMENT ON COLUMN workloads.has_second_factor IS 'Whether the session in which the rule was made had a second factor.';
COMMENT ON COLUMN workloads.refused_at IS 'When the last token was refused, why, and what it had for the claims of the rule.';
CREATE INDEX workloads_of_service ON workloads (organization_id, service_id);
CREATE INDEX workloads_of_key ON workloads (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX workloads_of_maker ON workloads (created_by);

ALTER TABLE organization_keys
    ALTER COLUMN prefix DROP NOT NULL,
    ALTER COLUMN key_hash DROP NOT NULL;
COMMENT ON COLUMN organization_keys.prefix IS 'Null for a key without a secret, which only workloads use.';
