-- Payment: the customers, subscriptions and events of the payment provider, and the embedded sandbox provider.

CREATE TABLE billing_customers (
    id                     text PRIMARY KEY,
    mode                   text NOT NULL CHECK (mode IN ('sandbox', 'test', 'live')),
    organization_id        uuid REFERENCES organizations ON DELETE CASCADE,
    name                   text,
    email                  text,
    profile_event_id       text,
    profile_at             timestamptz,
    default_payment_method text,
    deleted_at             timestamptz,
    leased_until           timestamptz,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL
);
COMMENT ON TABLE billing_customers
    IS 'Customers at the payment provider; organization_id is null until an event or a checkout names the organization.';
CREATE UNIQUE INDEX billing_customers_one ON billing_customers (organization_id, mode) WHERE deleted_at IS NULL;
CREATE INDEX billing_customers_of_organization ON billing_customers (organization_id) WHERE organization_id IS NOT NULL;
CREATE INDEX billing_customers_email ON billing_customers (email) WHERE email IS NOT NULL;

CREATE TABLE billing_checkouts (
    id              uuid PRIMARY KEY,
    mode            text NOT NULL CHECK (mode IN ('sandbox', 'test', 'live')),
    organization_id uuid NOT NULL,
    service_id      uuid NOT NULL,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    plan_id         uuid NOT NULL,
    price_id        text NOT NULL,
    success_url     text NOT NULL,
    cancel_url      text NOT NULL,
    session_id      text,
    created_at      timestamptz NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE billing_checkouts
    IS 'Checkouts that were started; one without a session is repeated under the same key after a crash.';
CREATE INDEX billing_checkouts_unfinished ON billing_checkouts (user_id, plan_id) WHERE session_id IS NULL;
CREATE INDEX billing_checkouts_of_user ON billing_checkouts (user_id);
CREATE INDEX billing_checkouts_of_service ON billing_checkouts (organization_id, service_id);
CREATE INDEX billing_checkouts_created ON billing_checkouts (created_at);

CREATE TABLE billing_subscriptions (
    id              text PRIMARY KEY,
    customer_id     text,
    mode            text CHECK (mode IN ('sandbox', 'test', 'live')),
    organization_id uuid,
    service_id      uuid,
    user_id         uuid REFERENCES users ON DELETE CASCADE,
    plan_id         uuid,
    outcome         text NOT NULL CHECK (outcome IN ('parked', 'applied', 'conflict')),
    read_facts      jsonb,
    read_as_of      timestamptz,
    check_at        timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    FOREIGN KEY (organization_id, service_id) REFERENCES services (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE billing_subscriptions
    IS 'What billing knows of a subscription; parked until an event tells to which organization, service and user it belongs.';
COMMENT ON COLUMN billing_subscriptions.plan_id IS 'The plan that was bought; it holds while no plan has the price.';
COMMENT ON COLUMN billing_subscriptions.read_facts
    IS 'The subscription as it was last read from the provider, at read_as_of by the clock of the provider.';
CREATE INDEX billing_subscriptions_of_customer ON billing_subscriptions (customer_id, check_at);
CREATE INDEX billing_subscriptions_of_service ON billing_subscriptions (organization_id, service_id);
CREATE INDEX billing_subscriptions_of_user ON billing_subscriptions (user_id, service_id);
CREATE INDEX billing_subscriptions_due ON billing_subscriptions (check_at) WHERE check_at IS NOT NULL;

CREATE TABLE billing_cancellations (
    id         text PRIMARY KEY,
    mode       text NOT NULL CHECK (mode IN ('sandbox', 'test', 'live')),
    due_at     timestamptz,
    created_at timestamptz NOT NULL
);
COMMENT ON TABLE billing_cancellations
    IS 'Subscriptions that the provider has to end, because what they were bought for is gone.';
COMMENT ON COLUMN billing_cancellations.due_at IS 'When the provider is asked; null once it has ended the subscription.';
CREATE INDEX billing_cancellations_due ON billing_cancellations (mode, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX billing_cancellations_created ON billing_cancellations (created_at);

CREATE FUNCTION billing_subscriptions_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO billing_cancellations (id, mode, due_at, created_at)
    VALUES (OLD.id, OLD.mode, '-infinity', now())
    ON CONFLICT (id) DO NOTHING;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION billing_subscriptions_deleted()
    IS 'Queues the end of a live subscription whose user, service or organization is deleted.';
-- A live subscription has a time at which it is checked, one that has ended has none.
CREATE TRIGGER billing_subscriptions_deleted AFTER DELETE ON billing_subscriptions
    FOR EACH ROW WHEN (OLD.check_at IS NOT NULL AND OLD.mode IS NOT NULL)
    EXECUTE FUNCTION billing_subscriptions_deleted();

CREATE TABLE billing_events (
    id                      text PRIMARY KEY,
    type                    text NOT NULL,
    effect                  text NOT NULL,
    billing_subscription_id text,
    billing_customer_id     text,
    facts                   jsonb NOT NULL,
    occurred_at             timestamptz NOT NULL,
    received_at             timestamptz NOT NULL,
    is_noticed              boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE billing_events
    IS 'Events of the payment provider, each stored once, with the facts that a subscription or customer is computed from.';
COMMENT ON COLUMN billing_events.is_noticed IS 'Whether the mail that this event causes was queued.';
CREATE INDEX billing_events_of_subscription ON billing_events (billing_subscription_id, occurred_at)
    WHERE billing_subscription_id IS NOT NULL;
CREATE INDEX billing_events_of_customer ON billing_events (billing_customer_id, occurred_at)
    WHERE billing_customer_id IS NOT NULL;

CREATE TABLE sandbox_customers (
    id                     text PRIMARY KEY,
    organization_id        uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
    idempotency_key        text NOT NULL UNIQUE,
    name                   text NOT NULL,
    default_payment_method text,
    created_at             timestamptz NOT NULL
);
COMMENT ON TABLE sandbox_customers IS 'Customers of the embedded sandbox provider, where no money moves.';
CREATE INDEX sandbox_customers_of_organization ON sandbox_customers (organization_id);

CREATE TABLE sandbox_subscriptions (
    id                   text PRIMARY KEY,
    customer_id          text NOT NULL REFERENCES sandbox_customers ON DELETE CASCADE,
    price_id             text NOT NULL,
    price_cents          bigint NOT NULL,
    currency             text NOT NULL,
    description          text NOT NULL,
    status               text NOT NULL,
    metadata             jsonb NOT NULL,
    current_period_start timestamptz NOT NULL,
    current_period_end   timestamptz NOT NULL,
    created_at           timestamptz NOT NULL
);
COMMENT ON TABLE sandbox_subscriptions IS 'Subscriptions of the embedded sandbox provider, where no money moves.';
CREATE INDEX sandbox_subscriptions_of_customer ON sandbox_subscriptions (customer_id, created_at);

CREATE TABLE sandbox_sessions (
    id              text PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('checkout', 'portal')),
    customer_id     text NOT NULL REFERENCES sandbox_customers ON DELETE CASCADE,
    idempotency_key text UNIQUE,
    price_id        text,
    price_cents     bigint,
    currency        text,
    service_name    text,
    plan_name       text,
    metadata        jsonb NOT NULL DEFAULT '{}',
    success_url     text,
    return_url      text NOT NULL,
    subscription_id text REFERENCES sandbox_subscriptions ON DELETE CASCADE,
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL
);
COMMENT ON TABLE sandbox_sessions
    IS 'Checkout and portal pages of the sandbox; the id is a capability that cannot be guessed.';
CREATE INDEX sandbox_sessions_of_customer ON sandbox_sessions (customer_id);
CREATE INDEX sandbox_sessions_subscription ON sandbox_sessions (subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX sandbox_sessions_expiry ON sandbox_sessions (expires_at);

CREATE TABLE sandbox_deliveries (
    id          uuid PRIMARY KEY,
    customer_id text NOT NULL REFERENCES sandbox_customers ON DELETE CASCADE,
    body        text NOT NULL,
    attempts    integer NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL,
    created_at  timestamptz NOT NULL
);
COMMENT ON TABLE sandbox_deliveries IS 'Events that the sandbox provider has yet to send to the receiver.';
CREATE INDEX sandbox_deliveries_due ON sandbox_deliveries (due_at, id);
CREATE INDEX sandbox_deliveries_of_customer ON sandbox_deliveries (customer_id);
