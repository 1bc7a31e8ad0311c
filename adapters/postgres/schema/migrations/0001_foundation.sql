-- What every capability stands on: accounts and organizations as such, events, the audit log, mail and signing keys.

CREATE TABLE tiers (
    id                   uuid PRIMARY KEY,
    name                 text NOT NULL UNIQUE,
    display_name         text NOT NULL,
    default_max_services integer CHECK (default_max_services >= 0),
    default_max_users    integer CHECK (default_max_users >= 0),
    price_cents          integer NOT NULL CHECK (price_cents >= 0)
);
COMMENT ON TABLE tiers IS 'What an organization may use; a null limit is no limit (decisions 5.3).';

INSERT INTO tiers (id, name, display_name, default_max_services, default_max_users, price_cents)
VALUES ('00000000-0000-7000-8000-000000000001', 'free', 'Free', 3, 100, 0),
       ('00000000-0000-7000-8000-000000000002', 'professional', 'Professional', 10, 1000, 4900),
       ('00000000-0000-7000-8000-000000000003', 'enterprise', 'Enterprise', NULL, NULL, 0);

CREATE TABLE users (
    id                uuid PRIMARY KEY,
    email             text NOT NULL UNIQUE CHECK (length(email) <= 254),
    email_verified_at timestamptz,
    password_hash     text,
    is_platform_owner boolean NOT NULL DEFAULT false,
    mfa_enabled_at    timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    deactivated_at    timestamptz
);
COMMENT ON TABLE users IS 'Accounts: one per address on the whole platform.';
CREATE INDEX users_platform_owners ON users (id) WHERE is_platform_owner;

CREATE TABLE organizations (
    id                uuid PRIMARY KEY,
    slug              text NOT NULL UNIQUE,
    name              text NOT NULL,
    status            text NOT NULL CHECK (status IN ('pending', 'active', 'suspended', 'rejected')),
    tier_id           uuid NOT NULL REFERENCES tiers,
    max_services      integer CHECK (max_services >= 0),
    max_users         integer CHECK (max_users >= 0),
    mfa_required      boolean NOT NULL DEFAULT false,
    device_trust_days integer NOT NULL DEFAULT 30 CHECK (device_trust_days >= 0),
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    approved_at       timestamptz,
    approved_by       uuid REFERENCES users ON DELETE SET NULL,
    rejected_at       timestamptz,
    rejection_reason  text,
    suspended_at      timestamptz,
    suspension_reason text
);
COMMENT ON TABLE organizations IS 'The customers of the product; every tenant row names one.';

CREATE TABLE events (
    id              uuid PRIMARY KEY,
    type            text NOT NULL,
    organization_id uuid REFERENCES organizations ON DELETE CASCADE,
    actor_user_id   uuid,
    actor_email     text,
    data            jsonb NOT NULL,
    occurred_at     timestamptz NOT NULL
);
COMMENT ON TABLE events IS 'Everything that happened, written in the transaction of the change.';
CREATE INDEX events_of_organization ON events (organization_id, id);

CREATE TABLE audit_entries (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    actor_user_id   uuid,
    action          text NOT NULL,
    target_type     text NOT NULL,
    target_id       text NOT NULL,
    ip_address      text,
    user_agent      text,
    success         boolean NOT NULL,
    details         jsonb NOT NULL,
    created_at      timestamptz NOT NULL
);
COMMENT ON TABLE audit_entries IS 'The audit log of each organization; kept indefinitely.';
CREATE INDEX audit_entries_newest ON audit_entries (organization_id, id DESC);

CREATE TABLE mails (
    id              uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations ON DELETE CASCADE,
    recipient       text NOT NULL,
    template        text NOT NULL,
    values_sealed   bytea,
    state           text NOT NULL CHECK (state IN ('queued', 'sent', 'kept', 'failed')),
    attempts        integer NOT NULL,
    due_at          timestamptz NOT NULL,
    leased_until    timestamptz,
    last_error      text,
    created_at      timestamptz NOT NULL
);
COMMENT ON TABLE mails IS 'The outbox. What a letter says is encrypted, and erased once it is sent.';
CREATE INDEX mails_due ON mails (due_at) WHERE state = 'queued';
CREATE INDEX mails_newest ON mails (created_at DESC, id DESC);

CREATE TABLE signing_keys (
    kid                text PRIMARY KEY,
    state              text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
    public_pem         text NOT NULL,
    private_pem_sealed bytea NOT NULL,
    created_at         timestamptz NOT NULL,
    published_until    timestamptz
);
COMMENT ON TABLE signing_keys IS 'The key pairs that sign tokens; the private halves are encrypted.';
CREATE UNIQUE INDEX signing_keys_one_of_each ON signing_keys (state) WHERE state <> 'retired';
