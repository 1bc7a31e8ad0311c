-- What an organization sets for itself: its mail server and its branding.

CREATE TABLE mail_servers (
    organization_id uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
    host            text NOT NULL,
    port            integer NOT NULL CHECK (port BETWEEN 1 AND 65535),
    tls             text NOT NULL CHECK (tls IN ('starttls', 'tls', 'none')),
    username        text,
    password_sealed bytea,
    from_name       text NOT NULL,
    from_email      text NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    failures        integer NOT NULL DEFAULT 0,
    failing_since   timestamptz,
    next_attempt_at timestamptz,
    last_error      text,
    last_success_at timestamptz,
    leased_until    timestamptz,
    CHECK ((username IS NULL) = (password_sealed IS NULL))
);
COMMENT ON TABLE mail_servers IS 'The mail servers of organizations, and how each has worked lately.';
COMMENT ON COLUMN mail_servers.failures IS 'Failures in a row; until next_attempt_at no mail is tried.';

-- A mail is `routed` while it waits for the mail server of its organization. The check is validated in the next file.
ALTER TABLE mails
    DROP CONSTRAINT mails_state_check,
    ADD CONSTRAINT mails_state_check
        CHECK (state IN ('queued', 'routed', 'sent', 'kept', 'failed', 'discarded')) NOT VALID;

CREATE TABLE brandings (
    organization_id  uuid PRIMARY KEY REFERENCES organizations ON DELETE CASCADE,
    primary_color    text CHECK (primary_color ~ '^#[0-9a-f]{6}$'),
    background_color text CHECK (background_color ~ '^#[0-9a-f]{6}$'),
    support_email    text,
    terms_url        text,
    privacy_url      text,
    updated_at       timestamptz NOT NULL
);
COMMENT ON TABLE brandings IS 'How pages and mails of an organization look.';

CREATE TABLE branding_pictures (
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    kind            text NOT NULL CHECK (kind IN ('logo', 'icon')),
    name            text NOT NULL,
    media_type      text NOT NULL CHECK (media_type IN ('image/png', 'image/svg+xml')),
    content         bytea NOT NULL,
    PRIMARY KEY (organization_id, kind)
);
COMMENT ON TABLE branding_pictures IS 'The pictures of a branding, rebuilt from what was uploaded; the name is a hash of the content.';

CREATE TABLE custom_domains (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL UNIQUE REFERENCES organizations ON DELETE CASCADE,
    domain          text NOT NULL,
    value           text NOT NULL,
    status          text NOT NULL CHECK (status IN ('pending', 'verified', 'failing')),
    verified_at     timestamptz,
    proved_at       timestamptz,
    failing_since   timestamptz,
    checked_at      timestamptz,
    next_check_at   timestamptz,
    CHECK ((status = 'pending') = (verified_at IS NULL)),
    CHECK ((status = 'failing') = (failing_since IS NOT NULL))
);
COMMENT ON TABLE custom_domains IS 'The domains under which hosted pages of organizations work; claims to one domain, at most one of them verified.';
CREATE UNIQUE INDEX custom_domains_verified ON custom_domains (domain) WHERE verified_at IS NOT NULL;
CREATE INDEX custom_domains_to_check ON custom_domains (next_check_at) WHERE verified_at IS NOT NULL;

-- Sessions and passkeys that were made under a custom domain work there alone, and end with it.
ALTER TABLE browser_sessions ADD COLUMN domain_id uuid REFERENCES custom_domains ON DELETE CASCADE;
COMMENT ON COLUMN browser_sessions.domain_id IS 'The custom domain that the session belongs to; null for the base URL.';
ALTER TABLE passkeys ADD COLUMN domain_id uuid REFERENCES custom_domains ON DELETE CASCADE;
COMMENT ON COLUMN passkeys.domain_id IS 'The custom domain that the passkey belongs to; null for the base URL.';
ALTER TABLE mfa_challenges ADD COLUMN domain_id uuid REFERENCES custom_domains ON DELETE CASCADE;
COMMENT ON COLUMN mfa_challenges.domain_id IS 'The custom domain at which the sign-in began; null for the base URL.';

CREATE TABLE setup_links (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    parts           text[] NOT NULL CHECK (cardinality(parts) > 0),
    service_id      uuid,
    secret_hash     bytea NOT NULL UNIQUE,
    created_by      uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    last_used_at    timestamptz,
    UNIQUE (organization_id, id),
    CHECK (('saml' = ANY (parts)) = (service_id IS NOT NULL)),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE setup_links IS 'Links with which people without an account fill in settings of an organization.';
CREATE INDEX setup_links_of_maker ON setup_links (created_by);
CREATE INDEX setup_links_expiry ON setup_links (expires_at);
CREATE INDEX setup_links_of_service ON setup_links (organization_id, service_id) WHERE service_id IS NOT NULL;

-- What the staff of an application need who set it up: whether it has asked, and why it was refused.
ALTER TABLE saml_configurations
    ADD COLUMN last_request_at timestamptz,
    ADD COLUMN last_error text,
    ADD COLUMN last_error_at timestamptz;
COMMENT ON COLUMN saml_configurations.last_request_at IS 'When a message of the service provider was last accepted, to the minute.';

CREATE TABLE setup_visits (
    secret_hash     bytea PRIMARY KEY,
    organization_id uuid NOT NULL,
    link_id         uuid NOT NULL,
    FOREIGN KEY (organization_id, link_id) REFERENCES setup_links (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE setup_visits IS 'The cookies for which the secrets of setup links were exchanged; they end with the link.';
CREATE INDEX setup_visits_of_link ON setup_visits (organization_id, link_id);
