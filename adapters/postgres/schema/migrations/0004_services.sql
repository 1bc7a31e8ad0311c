-- What an organization sells: plans of services and subscriptions to them; the API keys of services; and their users.

ALTER TABLE services ADD UNIQUE (organization_id, id);
CREATE INDEX services_newest ON services (organization_id, created_at, id);

ALTER TABLE users ADD COLUMN created_by_organization_id uuid REFERENCES organizations ON DELETE SET NULL;
COMMENT ON COLUMN users.created_by_organization_id
    IS 'The organization that made the account by SCIM or with an API key, of whose own users it may be (decisions 5.7).';
CREATE INDEX users_created_by_organization ON users (created_by_organization_id)
    WHERE created_by_organization_id IS NOT NULL;

CREATE TABLE plans (
    id               uuid PRIMARY KEY,
    organization_id  uuid NOT NULL,
    service_id       uuid NOT NULL,
    name             text NOT NULL,
    price_cents      bigint NOT NULL CHECK (price_cents >= 0),
    currency         text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
    features         text[] NOT NULL DEFAULT '{}',
    billing_price_id text UNIQUE,
    is_default       boolean NOT NULL DEFAULT false,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    UNIQUE (service_id, id),
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE plans IS 'What end users of a service subscribe to; the default plan holds for those without a subscription.';
CREATE UNIQUE INDEX plans_one_default ON plans (service_id) WHERE is_default;
CREATE INDEX plans_of_organization ON plans (organization_id, service_id, created_at, id);

INSERT INTO plans (id, organization_id, service_id, name, price_cents, currency, is_default, created_at, updated_at)
SELECT gen_random_uuid(), organization_id, id, 'Free', 0, 'usd', true, created_at, created_at
FROM   services;

CREATE TABLE subscriptions (
    id                      uuid PRIMARY KEY,
    organization_id         uuid NOT NULL,
    service_id              uuid NOT NULL,
    user_id                 uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    plan_id                 uuid NOT NULL,
    status                  text NOT NULL CHECK (status IN ('active', 'cancelled', 'expired', 'past_due')),
    current_period_end      timestamptz,
    billing_subscription_id text UNIQUE,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (service_id, plan_id) REFERENCES plans (service_id, id)
);
COMMENT ON TABLE subscriptions IS 'Who has which plan of a service. What billing knows of one is in billing_subscriptions.';
CREATE UNIQUE INDEX subscriptions_one_live ON subscriptions (service_id, user_id)
    WHERE status IN ('active', 'past_due');
CREATE INDEX subscriptions_of_service ON subscriptions (service_id, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_status ON subscriptions (service_id, status, created_at DESC, id DESC);
CREATE INDEX subscriptions_of_user ON subscriptions (user_id, service_id, created_at DESC);
CREATE INDEX subscriptions_of_plan ON subscriptions (plan_id, status);
CREATE INDEX subscriptions_of_organization ON subscriptions (organization_id);

CREATE TABLE api_keys (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    name            text NOT NULL,
    prefix          text NOT NULL,
    key_hash        bytea NOT NULL,
    permissions     text[] NOT NULL,
    last_used_at    timestamptz,
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL,
    created_by      uuid REFERENCES users ON DELETE SET NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE api_keys IS 'Keys with which the backend of a service calls /api/service; stored as hashes.';
CREATE INDEX api_keys_prefix ON api_keys (prefix);
CREATE INDEX api_keys_of_service ON api_keys (organization_id, service_id, created_at DESC, id DESC);
CREATE INDEX api_keys_created_by ON api_keys (created_by) WHERE created_by IS NOT NULL;

CREATE INDEX service_users_linked ON service_users (service_id, first_login_at);

CREATE OR REPLACE FUNCTION service_users_email() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- Locked, because the address may be changed or the account deleted at this moment.
    SELECT email INTO NEW.email FROM users WHERE id = NEW.user_id FOR KEY SHARE;
    -- Without an account the foreign key refuses the row, and not the column, so that the transaction is repeated.
    NEW.email := coalesce(NEW.email, '');
    RETURN NEW;
END
$$;

-- How many users each service has, counted in advance (ops/decisions/0017).

CREATE TABLE service_user_milestones (
    service_id uuid NOT NULL REFERENCES services ON DELETE CASCADE,
    user_id    uuid NOT NULL,
    users      bigint NOT NULL,
    PRIMARY KEY (service_id, user_id)
);
COMMENT ON TABLE service_user_milestones
    IS 'How many users of a service have an id up to this one; the highest possible id stands for all of them.';
CREATE INDEX service_user_milestones_before ON service_user_milestones (service_id, users, user_id);

CREATE TABLE service_user_changes (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    service_id uuid NOT NULL,
    user_id    uuid NOT NULL,
    change     smallint NOT NULL CHECK (change IN (-1, 1))
);
COMMENT ON TABLE service_user_changes IS 'Users that services got or lost, which the milestones do not count yet.';
CREATE INDEX service_user_changes_of_service ON service_user_changes (service_id, user_id) INCLUDE (change);

CREATE FUNCTION service_users_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO service_user_changes (service_id, user_id, change) VALUES (NEW.service_id, NEW.user_id, 1);
    ELSE
        INSERT INTO service_user_changes (service_id, user_id, change) VALUES (OLD.service_id, OLD.user_id, -1);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION service_users_changed() IS 'Records that a service got or lost a user, to be counted later.';
CREATE TRIGGER service_users_changed AFTER INSERT OR DELETE ON service_users
    FOR EACH ROW EXECUTE FUNCTION service_users_changed();

INSERT INTO service_user_milestones (service_id, user_id, users)
SELECT   service_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff', count(*)
FROM     service_users
GROUP BY service_id;
