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
