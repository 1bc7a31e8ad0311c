-- Signing in through other providers: identities, sign-ins under way, and what organizations set for themselves.

-- What a session by another party's identity is limited to. No foreign keys: a session must not become unlimited when
-- what it was limited to is deleted.
ALTER TABLE sessions
    ADD COLUMN confined_to         uuid,
    ADD COLUMN confined_to_service uuid,
    ADD COLUMN connection_id       uuid;
COMMENT ON COLUMN sessions.confined_to IS 'The organization beyond which this session signs in to nothing; null for none.';
COMMENT ON COLUMN sessions.confined_to_service IS 'The one service of it that the session may sign in to; null for all.';
COMMENT ON COLUMN sessions.connection_id IS 'The upstream connection by which its user has signed in.';

CREATE TABLE oauth_credentials (
    id                   uuid PRIMARY KEY,
    organization_id      uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    provider             text NOT NULL,
    client_id            text NOT NULL,
    client_secret_sealed bytea NOT NULL,
    updated_at           timestamptz NOT NULL,
    UNIQUE (organization_id, provider)
);
COMMENT ON TABLE oauth_credentials IS 'The credentials of organizations at the three external providers.';

CREATE TABLE upstream_connections (
    id                   uuid PRIMARY KEY,
    organization_id      uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    type                 text NOT NULL CHECK (type IN ('oidc', 'saml')),
    name                 text NOT NULL,
    issuer               text,
    client_id            text,
    client_secret_sealed bytea,
    scopes               text[] NOT NULL,
    metadata_url         text,
    metadata_xml         text,
    attribute_mapping    jsonb NOT NULL,
    joins_as             text,
    trust_mfa            boolean NOT NULL,
    enabled              boolean NOT NULL,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    UNIQUE (organization_id, id),
    CHECK (type <> 'oidc' OR (issuer IS NOT NULL AND client_id IS NOT NULL AND client_secret_sealed IS NOT NULL)),
    CHECK (NOT enabled OR issuer IS NOT NULL)
);
COMMENT ON COLUMN upstream_connections.issuer IS 'The OpenID provider, or the entity id of the SAML identity provider.';
COMMENT ON TABLE upstream_connections IS 'Identity providers of organizations, by which their people sign in.';

CREATE TABLE identities (
    id                    uuid PRIMARY KEY,
    user_id               uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    provider              text NOT NULL,
    subject               text NOT NULL,
    connection_id         uuid,
    organization_id       uuid REFERENCES organizations ON DELETE CASCADE,
    service_id            uuid,
    email                 text,
    linked_at             timestamptz NOT NULL,
    used_at               timestamptz NOT NULL,
    client_id             text,
    access_token_sealed   bytea,
    refresh_token_sealed  bytea,
    token_type            text,
    token_expires_at      timestamptz,
    scopes                text[] NOT NULL DEFAULT '{}',
    refresh_claim         uuid,
    refresh_claimed_until timestamptz,
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE,
    CHECK (organization_id IS NOT NULL OR (connection_id IS NULL AND service_id IS NULL))
);
COMMENT ON TABLE identities IS 'Accounts at other providers that sign a user in, each in one context only.';
COMMENT ON COLUMN identities.client_id IS 'The client to which the tokens were issued.';
COMMENT ON COLUMN identities.refresh_claim IS 'Names the request that refreshes the token at this moment.';
-- Null is a value of the context here; UNIQUE NULLS NOT DISTINCT exists only from PostgreSQL 15 on.
CREATE UNIQUE INDEX identities_of_subject ON identities
    (provider, subject, coalesce(connection_id, '00000000-0000-0000-0000-000000000000'::uuid),
     coalesce(organization_id, '00000000-0000-0000-0000-000000000000'::uuid),
     coalesce(service_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE UNIQUE INDEX identities_of_user ON identities
    (user_id, provider, coalesce(connection_id, '00000000-0000-0000-0000-000000000000'::uuid),
     coalesce(organization_id, '00000000-0000-0000-0000-000000000000'::uuid),
     coalesce(service_id, '00000000-0000-0000-0000-000000000000'::uuid));
CREATE INDEX identities_of_organization ON identities (organization_id, service_id) WHERE organization_id IS NOT NULL;
CREATE INDEX identities_of_connection ON identities (organization_id, connection_id) WHERE connection_id IS NOT NULL;

CREATE TABLE upstream_sign_ins (
    id              uuid PRIMARY KEY,
    state_hash      bytea NOT NULL UNIQUE,
    browser_hash    bytea,
    provider        text NOT NULL,
    connection_id   uuid,
    organization_id uuid REFERENCES organizations ON DELETE CASCADE,
    service_id      uuid,
    client_id       text,
    user_id         uuid REFERENCES users ON DELETE CASCADE,
    target          text,
    return_to       text NOT NULL,
    return_id       text NOT NULL,
    proven_sealed   bytea,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE upstream_sign_ins IS 'Browsers that have gone to another provider, or that have come back and sign in to link what they brought.';
COMMENT ON COLUMN upstream_sign_ins.user_id IS 'The account to which the identity is to be linked.';
COMMENT ON COLUMN upstream_sign_ins.proven_sealed IS 'The identity that the provider has confirmed.';
CREATE INDEX upstream_sign_ins_ended ON upstream_sign_ins (expires_at);
CREATE INDEX upstream_sign_ins_of_user ON upstream_sign_ins (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX upstream_sign_ins_of_organization ON upstream_sign_ins (organization_id, service_id)
    WHERE organization_id IS NOT NULL;

CREATE TABLE domain_routes (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    domain          text NOT NULL,
    connection_id   uuid NOT NULL,
    enforced        boolean NOT NULL,
    value           text NOT NULL,
    status          text NOT NULL CHECK (status IN ('pending', 'verified', 'failing')),
    verified_at     timestamptz,
    proved_at       timestamptz,
    failing_since   timestamptz,
    checked_at      timestamptz,
    next_check_at   timestamptz,
    UNIQUE (organization_id, domain),
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE,
    CHECK ((status = 'pending') = (verified_at IS NULL)),
    CHECK ((status = 'failing') = (failing_since IS NOT NULL))
);
COMMENT ON TABLE domain_routes IS 'Mail domains of organizations, and the connections by which their addresses sign in; at most one verified claim to each domain.';
CREATE UNIQUE INDEX domain_routes_verified ON domain_routes (domain) WHERE verified_at IS NOT NULL;
CREATE INDEX domain_routes_to_check ON domain_routes (next_check_at) WHERE verified_at IS NOT NULL;
CREATE INDEX domain_routes_of_connection ON domain_routes (organization_id, connection_id);
