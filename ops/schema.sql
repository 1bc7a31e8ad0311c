-- The schema after all migrations, written by ops/dump-schema. To change it, add a migration and run that.

CREATE TABLE audit_entries (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    actor_user_id uuid,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    ip_address text,
    user_agent text,
    success boolean NOT NULL,
    details jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE audit_entries IS 'The audit log of each organization; kept indefinitely.';
ALTER TABLE ONLY audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (id);
CREATE INDEX audit_entries_newest ON audit_entries USING btree (organization_id, id DESC);

CREATE TABLE events (
    id uuid NOT NULL,
    type text NOT NULL,
    organization_id uuid,
    actor_user_id uuid,
    actor_email text,
    data jsonb NOT NULL,
    occurred_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE events IS 'Everything that happened, written in the transaction of the change.';
ALTER TABLE ONLY events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);
CREATE INDEX events_of_organization ON events USING btree (organization_id, id);

CREATE TABLE mails (
    id uuid NOT NULL,
    organization_id uuid,
    recipient text NOT NULL,
    template text NOT NULL,
    values_sealed bytea,
    state text NOT NULL,
    attempts integer NOT NULL,
    due_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    last_error text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT mails_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'kept'::text, 'failed'::text])))
);
COMMENT ON TABLE mails IS 'The outbox. What a letter says is encrypted, and erased once it is sent.';
ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
CREATE INDEX mails_due ON mails USING btree (due_at) WHERE (state = 'queued'::text);
CREATE INDEX mails_newest ON mails USING btree (created_at DESC, id DESC);

CREATE TABLE organizations (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    status text NOT NULL,
    tier_id uuid NOT NULL,
    max_services integer,
    max_users integer,
    mfa_required boolean DEFAULT false NOT NULL,
    device_trust_days integer DEFAULT 30 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    approved_at timestamp with time zone,
    approved_by uuid,
    rejected_at timestamp with time zone,
    rejection_reason text,
    suspended_at timestamp with time zone,
    suspension_reason text,
    CONSTRAINT organizations_device_trust_days_check CHECK ((device_trust_days >= 0)),
    CONSTRAINT organizations_max_services_check CHECK ((max_services >= 0)),
    CONSTRAINT organizations_max_users_check CHECK ((max_users >= 0)),
    CONSTRAINT organizations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'suspended'::text, 'rejected'::text])))
);
COMMENT ON TABLE organizations IS 'The customers of the product; every tenant row names one.';
ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_slug_key UNIQUE (slug);

CREATE TABLE schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    seconds double precision NOT NULL
);
COMMENT ON TABLE schema_migrations IS 'What was done to this database, and when.';
ALTER TABLE ONLY schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

CREATE TABLE signing_keys (
    kid text NOT NULL,
    state text NOT NULL,
    public_pem text NOT NULL,
    private_pem_sealed bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    published_until timestamp with time zone,
    CONSTRAINT signing_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'active'::text, 'retired'::text])))
);
COMMENT ON TABLE signing_keys IS 'The key pairs that sign tokens; the private halves are encrypted.';
ALTER TABLE ONLY signing_keys
    ADD CONSTRAINT signing_keys_pkey PRIMARY KEY (kid);
CREATE UNIQUE INDEX signing_keys_one_of_each ON signing_keys USING btree (state) WHERE (state <> 'retired'::text);

CREATE TABLE tiers (
    id uuid NOT NULL,
    name text NOT NULL,
    display_name text NOT NULL,
    default_max_services integer,
    default_max_users integer,
    price_cents integer NOT NULL,
    CONSTRAINT tiers_default_max_services_check CHECK ((default_max_services >= 0)),
    CONSTRAINT tiers_default_max_users_check CHECK ((default_max_users >= 0)),
    CONSTRAINT tiers_price_cents_check CHECK ((price_cents >= 0))
);
COMMENT ON TABLE tiers IS 'What an organization may use; a null limit is no limit (decisions 5.3).';
ALTER TABLE ONLY tiers
    ADD CONSTRAINT tiers_name_key UNIQUE (name);
ALTER TABLE ONLY tiers
    ADD CONSTRAINT tiers_pkey PRIMARY KEY (id);

CREATE TABLE users (
    id uuid NOT NULL,
    email text NOT NULL,
    email_verified_at timestamp with time zone,
    password_hash text,
    is_platform_owner boolean DEFAULT false NOT NULL,
    mfa_enabled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deactivated_at timestamp with time zone,
    CONSTRAINT users_email_check CHECK ((length(email) <= 254))
);
COMMENT ON TABLE users IS 'Accounts: one per address on the whole platform.';
ALTER TABLE ONLY users
    ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE ONLY users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX users_platform_owners ON users USING btree (id) WHERE is_platform_owner;

ALTER TABLE ONLY audit_entries
    ADD CONSTRAINT audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY events
    ADD CONSTRAINT events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY mails
    ADD CONSTRAINT mails_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_approved_by_fkey FOREIGN KEY (approved_by) REFERENCES users(id) ON DELETE SET NULL;

ALTER TABLE ONLY organizations
    ADD CONSTRAINT organizations_tier_id_fkey FOREIGN KEY (tier_id) REFERENCES tiers(id);
