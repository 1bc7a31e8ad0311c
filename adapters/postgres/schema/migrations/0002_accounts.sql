-- Accounts and sign-in: memberships and services (which a sign-in may name), sessions, devices, second factors, passkeys.

-- A discarded letter stands where a letter to somebody would have been, so that asking tells nobody who has an account.
ALTER TABLE mails
    DROP CONSTRAINT mails_state_check,
    ADD CONSTRAINT mails_state_check CHECK (state IN ('queued', 'sent', 'kept', 'failed', 'discarded'));

-- What is deleted is looked for in every table that refers to it, so every such column has an index that finds it.
CREATE INDEX mails_of_organization ON mails (organization_id) WHERE organization_id IS NOT NULL;
CREATE INDEX organizations_of_tier ON organizations (tier_id);
CREATE INDEX organizations_approved_by ON organizations (approved_by) WHERE approved_by IS NOT NULL;

CREATE TABLE organization_roles (
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    slug            text NOT NULL,
    name            text NOT NULL,
    description     text NOT NULL DEFAULT '',
    permissions     text[] NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, slug)
);
COMMENT ON TABLE organization_roles IS 'Custom roles; owner, admin and member are built in and have no row.';

CREATE TABLE memberships (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    role            text NOT NULL,
    created_at      timestamptz NOT NULL,
    UNIQUE (organization_id, user_id)
);
COMMENT ON TABLE memberships IS 'Who manages an organization, with which role.';
CREATE INDEX memberships_of_user ON memberships (user_id, organization_id);
CREATE INDEX memberships_newest ON memberships (organization_id, created_at, id);
CREATE UNIQUE INDEX memberships_one_owner ON memberships (organization_id) WHERE role = 'owner';

CREATE TABLE services (
    id                    uuid PRIMARY KEY,
    organization_id       uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    slug                  text NOT NULL,
    name                  text NOT NULL,
    service_type          text NOT NULL CHECK (service_type IN ('web', 'mobile', 'desktop', 'api')),
    client_id             uuid NOT NULL UNIQUE,
    client_secret_hash    bytea,
    codehost_scopes       text[],
    websuite_scopes       text[],
    officesuite_scopes    text[],
    redirect_uris         text[] NOT NULL DEFAULT '{}',
    device_activation_uri text,
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    UNIQUE (organization_id, slug)
);
COMMENT ON TABLE services IS 'The applications of an organization.';

CREATE TABLE service_users (
    service_id      uuid NOT NULL REFERENCES services ON DELETE CASCADE,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    first_login_at  timestamptz NOT NULL,
    last_login_at   timestamptz,
    PRIMARY KEY (service_id, user_id)
);
COMMENT ON TABLE service_users IS 'End users: who signs in with a service.';
CREATE INDEX service_users_of_user ON service_users (user_id, organization_id);
CREATE INDEX service_users_of_organization ON service_users (organization_id, user_id);

CREATE TABLE devices (
    id               uuid PRIMARY KEY,
    user_id          uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    name             text NOT NULL,
    device_type      text NOT NULL CHECK (device_type IN ('browser', 'mobile', 'desktop', 'cli')),
    browser          text,
    browser_version  text,
    os               text,
    os_version       text,
    user_agent       text,
    last_used_at     timestamptz NOT NULL,
    last_ip          text,
    last_city        text,
    last_country     text,
    risk_score       integer NOT NULL DEFAULT 0 CHECK (risk_score BETWEEN 0 AND 100),
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    revoked_at       timestamptz
);
COMMENT ON TABLE devices IS 'What a person signs in from.';
CREATE INDEX devices_of_user ON devices (user_id, last_used_at DESC);
CREATE INDEX devices_unused ON devices (last_used_at);

CREATE TABLE device_tokens (
    token_hash     bytea PRIMARY KEY,
    device_id      uuid NOT NULL REFERENCES devices ON DELETE CASCADE,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    mfa_trusted_at timestamptz
);
COMMENT ON TABLE device_tokens IS 'What a device shows to be recognized; the trust after a second factor belongs to the token.';
CREATE INDEX device_tokens_of_device ON device_tokens (device_id);
CREATE INDEX device_tokens_ended ON device_tokens (expires_at);

CREATE TABLE sessions (
    id               uuid PRIMARY KEY,
    user_id          uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    organization_id  uuid REFERENCES organizations ON DELETE CASCADE,
    service_id       uuid REFERENCES services ON DELETE CASCADE,
    device_id        uuid REFERENCES devices ON DELETE SET NULL,
    provider         text NOT NULL,
    amr              text[] NOT NULL,
    authenticated_at timestamptz NOT NULL,
    refresh_hash     bytea NOT NULL,
    refreshed_at     timestamptz NOT NULL,
    exchanged_at     timestamptz[] NOT NULL DEFAULT '{}',
    expires_at       timestamptz NOT NULL,
    ip_address       text,
    user_agent       text,
    impersonator_id  uuid REFERENCES users ON DELETE CASCADE,
    created_at       timestamptz NOT NULL,
    revoked_at       timestamptz
);
COMMENT ON TABLE sessions IS 'One sign-in, alive until revoked_at or expires_at; every request asks this row.';
COMMENT ON COLUMN sessions.expires_at IS 'The end of the absolute lifetime; the idle one counts from refreshed_at.';
COMMENT ON COLUMN sessions.exchanged_at IS 'When the last refresh tokens were exchanged, newest first; repeating is forgiven for a moment.';
CREATE INDEX sessions_of_user ON sessions (user_id, created_at DESC);
CREATE INDEX sessions_of_organization ON sessions (organization_id, user_id) WHERE organization_id IS NOT NULL;
CREATE INDEX sessions_of_device ON sessions (device_id);
CREATE INDEX sessions_of_service ON sessions (service_id) WHERE service_id IS NOT NULL;
CREATE INDEX sessions_of_impersonator ON sessions (impersonator_id) WHERE impersonator_id IS NOT NULL;
CREATE INDEX sessions_ended ON sessions (expires_at);

CREATE TABLE login_events (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    organization_id uuid REFERENCES organizations ON DELETE CASCADE,
    service_id      uuid REFERENCES services ON DELETE SET NULL,
    device_id       uuid,
    provider        text NOT NULL,
    success         boolean NOT NULL,
    ip_address      text,
    user_agent      text,
    risk_score      integer NOT NULL CHECK (risk_score BETWEEN 0 AND 100),
    risk_factors    text[] NOT NULL,
    geo_country     text,
    geo_city        text,
    created_at      timestamptz NOT NULL
);
COMMENT ON TABLE login_events IS 'Every attempt to sign in to a known account.';
COMMENT ON COLUMN login_events.device_id IS 'No reference: the log remembers a device that is gone, and needs no index to forget it.';
-- With `success` in the middle, because risk looks back at each kind by itself, and a guesser's failures, or a machine's
-- sign-ins, must not make the other kind dear to find.
CREATE INDEX login_events_of_user ON login_events (user_id, success, created_at DESC);
CREATE INDEX login_events_of_organization ON login_events (organization_id, created_at DESC)
    WHERE organization_id IS NOT NULL;
CREATE INDEX login_events_of_service ON login_events (service_id, created_at DESC) WHERE service_id IS NOT NULL;

CREATE TABLE sign_in_failures (
    id         uuid PRIMARY KEY,
    email_hash bytea NOT NULL,
    network    text NOT NULL,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE sign_in_failures IS 'Refused sign-ins of the last minutes by address, whether or not an account has it.';
CREATE INDEX sign_in_failures_recent ON sign_in_failures (email_hash, created_at);
CREATE INDEX sign_in_failures_old ON sign_in_failures (created_at);

CREATE TABLE one_time_tokens (
    token_hash bytea PRIMARY KEY,
    purpose    text NOT NULL,
    user_id    uuid REFERENCES users ON DELETE CASCADE,
    email      text NOT NULL,
    data       jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
COMMENT ON TABLE one_time_tokens IS 'What was mailed to people to prove an address or intent; stored as hashes, used once.';
CREATE INDEX one_time_tokens_of_user ON one_time_tokens (user_id, purpose);
CREATE INDEX one_time_tokens_of_address ON one_time_tokens (email, purpose);
CREATE INDEX one_time_tokens_ended ON one_time_tokens (expires_at);

CREATE TABLE totp_secrets (
    user_id        uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    secret_sealed  bytea NOT NULL,
    created_at     timestamptz NOT NULL,
    enabled_at     timestamptz,
    last_used_step bigint
);
COMMENT ON TABLE totp_secrets IS 'The second factor of a person; a step of it is used once.';

CREATE TABLE backup_codes (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    code_hash  bytea NOT NULL,
    created_at timestamptz NOT NULL,
    used_at    timestamptz,
    UNIQUE (user_id, code_hash)
);
COMMENT ON TABLE backup_codes IS 'Ten codes for when the second factor is lost; each is used once.';

CREATE TABLE mfa_challenges (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    context    jsonb NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
COMMENT ON TABLE mfa_challenges IS 'Sign-ins between password and second factor; the pre-auth token names one.';
CREATE INDEX mfa_challenges_of_user ON mfa_challenges (user_id);
CREATE INDEX mfa_challenges_ended ON mfa_challenges (expires_at);

CREATE TABLE mfa_events (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    event_type text NOT NULL,
    success    boolean NOT NULL,
    ip_address text,
    user_agent text,
    details    jsonb NOT NULL,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE mfa_events IS 'The separate log of everything about second factors (operations 6.3), and of security events.';
CREATE INDEX mfa_events_of_user ON mfa_events (user_id, created_at DESC);
CREATE INDEX mfa_events_of_type ON mfa_events (event_type, created_at DESC);

CREATE TABLE passkeys (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    credential_id   bytea NOT NULL UNIQUE,
    public_key      bytea NOT NULL,
    sign_count      bigint NOT NULL,
    name            text NOT NULL,
    aaguid          text NOT NULL,
    transports      text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz
);
COMMENT ON TABLE passkeys IS 'WebAuthn credentials.';
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

CREATE TABLE passkey_challenges (
    id         uuid PRIMARY KEY,
    purpose    text NOT NULL CHECK (purpose IN ('register', 'authenticate')),
    user_id    uuid REFERENCES users ON DELETE CASCADE,
    challenge  bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);
COMMENT ON TABLE passkey_challenges IS 'What a browser is asked to sign; five minutes, one use.';
CREATE INDEX passkey_challenges_of_user ON passkey_challenges (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX passkey_challenges_ended ON passkey_challenges (expires_at);

CREATE TABLE server_secrets (
    name         text PRIMARY KEY,
    value_sealed bytea NOT NULL,
    created_at   timestamptz NOT NULL
);
COMMENT ON TABLE server_secrets IS 'Secrets of the installation itself, such as the key of its keyed hashes.';
