-- The SAML identity provider: configurations of services, certificates, and what is under way in browsers.

CREATE TABLE saml_configurations (
    service_id        uuid PRIMARY KEY,
    organization_id   uuid NOT NULL,
    enabled           boolean NOT NULL,
    entity_id         text,
    acs_url           text,
    slo_url           text,
    slo_binding       text NOT NULL,
    name_id_format    text,
    attribute_mapping jsonb,
    sign_assertions   boolean NOT NULL,
    sign_response     boolean NOT NULL,
    sp_certificate    text,
    members_only      boolean NOT NULL,
    updated_at        timestamptz NOT NULL,
    CHECK (NOT enabled OR (entity_id IS NOT NULL AND acs_url IS NOT NULL)),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX saml_configurations_of_service ON saml_configurations (organization_id, service_id);
COMMENT ON TABLE saml_configurations IS 'The service provider of a service, and what assertions for it say.';
COMMENT ON COLUMN saml_configurations.attribute_mapping IS 'From fields of a user to the names of attributes.';
COMMENT ON COLUMN saml_configurations.sp_certificate IS 'If set, signatures of requests are verified and required.';

CREATE TABLE saml_certificates (
    id                 uuid PRIMARY KEY,
    organization_id    uuid NOT NULL,
    service_id         uuid NOT NULL,
    public_key         text NOT NULL,
    private_key_sealed bytea NOT NULL,
    valid_from         timestamptz NOT NULL,
    valid_until        timestamptz NOT NULL,
    is_active          boolean NOT NULL,
    published_until    timestamptz,
    warned_at          timestamptz,
    created_at         timestamptz NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE saml_certificates IS 'Key pairs that sign for a service: the active one, and those before it.';
COMMENT ON COLUMN saml_certificates.published_until IS 'Until then metadata contain a certificate that was replaced.';
COMMENT ON COLUMN saml_certificates.warned_at IS 'When a mail said that the certificate ends soon.';
CREATE UNIQUE INDEX saml_certificates_one_active ON saml_certificates (service_id) WHERE is_active;
CREATE INDEX saml_certificates_of_service ON saml_certificates (organization_id, service_id, created_at);
CREATE INDEX saml_certificates_ending ON saml_certificates (valid_until) WHERE is_active;

CREATE TABLE saml_requests (
    id                uuid PRIMARY KEY,
    organization_id   uuid NOT NULL,
    service_id        uuid NOT NULL,
    message_id        text NOT NULL,
    state_hash        bytea NOT NULL UNIQUE,
    browser_hash      bytea NOT NULL,
    relay_state       text,
    terms             jsonb NOT NULL,
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL,
    answered_at       timestamptz,
    ticket_hash       bytea,
    ticket_session_id uuid REFERENCES sessions ON DELETE SET NULL,
    ticket_expires_at timestamptz,
    UNIQUE (service_id, message_id),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE saml_requests IS 'Messages that service providers have sent, so that each is answered once.';
COMMENT ON COLUMN saml_requests.state_hash IS 'The hash of saml_state.';
COMMENT ON COLUMN saml_requests.browser_hash IS 'The hash of the cookie of the browser that brought the message.';
COMMENT ON COLUMN saml_requests.ticket_session_id IS 'The session of a sign-in elsewhere that is to be answered with.';
CREATE INDEX saml_requests_of_service ON saml_requests (organization_id, service_id);
CREATE INDEX saml_requests_expiry ON saml_requests (expires_at);
CREATE INDEX saml_requests_of_ticket ON saml_requests (ticket_session_id) WHERE ticket_session_id IS NOT NULL;

CREATE TABLE saml_sessions (
    session_id      uuid PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    audience        text NOT NULL,
    name_id         text NOT NULL,
    name_id_format  text NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE saml_sessions IS 'The sessions that service providers know, and under which name they know the user.';
CREATE INDEX saml_sessions_of_name ON saml_sessions (organization_id, service_id, name_id);

CREATE TABLE saml_logouts (
    id              uuid PRIMARY KEY,
    state_hash      bytea NOT NULL UNIQUE,
    browser_hash    bytea NOT NULL,
    organization_id uuid,
    service_id      uuid,
    message_id      text,
    relay_state     text,
    is_signed       boolean NOT NULL,
    named           uuid[] NOT NULL,
    has_begun       boolean NOT NULL,
    to_tell         uuid[] NOT NULL,
    status          text[] NOT NULL,
    awaited_id      text,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    UNIQUE (service_id, message_id),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE saml_logouts IS 'Logouts that a browser carries from one service provider to the next.';
COMMENT ON COLUMN saml_logouts.message_id IS 'The request to answer at the end; null when the user has signed out here.';
COMMENT ON COLUMN saml_logouts.named IS 'The sessions that the request names.';
COMMENT ON COLUMN saml_logouts.to_tell IS 'Ended sessions whose service providers are still to be told; the first one next.';
COMMENT ON COLUMN saml_logouts.awaited_id IS 'The request to the first of them, whose answer comes next.';
CREATE INDEX saml_logouts_of_service ON saml_logouts (organization_id, service_id)
    WHERE organization_id IS NOT NULL;
CREATE INDEX saml_logouts_expiry ON saml_logouts (expires_at);
