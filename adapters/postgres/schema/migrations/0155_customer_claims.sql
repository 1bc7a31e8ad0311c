-- gatehouse: compatible from 0079
-- A mailed link makes its reader the owner of an organization that a vendor has made for a customer.
CREATE TABLE customer_claims (
    customer_id uuid        PRIMARY KEY REFERENCES service_customers (id) ON DELETE CASCADE,
    vendor_id   uuid        NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    email       text        NOT NULL CHECK (length(email) <= 254),
    token_hash  bytea       NOT NULL UNIQUE,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    claimed_at  timestamptz
);
COMMENT ON TABLE customer_claims IS 'Whom a vendor has asked to own the organization that it made for a customer, the last time.';
COMMENT ON COLUMN customer_claims.claimed_at IS 'When the person became the owner; null for an open link.';
CREATE INDEX customer_claims_over ON customer_claims (expires_at);
CREATE INDEX customer_claims_email ON customer_claims (email);
CREATE INDEX customer_claims_of_vendor ON customer_claims (vendor_id);

ALTER TABLE organizations ADD COLUMN claimed_at timestamptz;
COMMENT ON COLUMN organizations.claimed_at IS 'When a person became the owner of one that a vendor has made; null for all others.';

ALTER TABLE service_customers ADD COLUMN made_name text;
COMMENT ON COLUMN service_customers.made_name IS 'What the vendor called the organization that it made, before its owner chose a name.';

-- One that no person owns ends without being deleted, because it can be restored.
CREATE OR REPLACE FUNCTION service_customers_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.accepted_at IS NOT NULL THEN
            PERFORM recheck_customer(OLD.service_id, OLD.id, 'ended');
        END IF;
    ELSIF NEW.accepted_at IS NOT NULL THEN
        IF TG_OP = 'INSERT' OR OLD.accepted_at IS NULL THEN
            -- Its people are individuals no longer.
            PERFORM recheck_customer(NEW.service_id, NULL, 'begun');
        ELSIF (OLD.vendor_paused_at, OLD.customer_paused_at, OLD.access)
              IS DISTINCT FROM (NEW.vendor_paused_at, NEW.customer_paused_at, NEW.access) THEN
            PERFORM recheck_customer(NEW.service_id, NEW.id, 'changed');
        END IF;
    ELSIF TG_OP = 'UPDATE' AND OLD.accepted_at IS NOT NULL THEN
        PERFORM recheck_customer(NEW.service_id, NEW.id, 'ended');
    END IF;
    RETURN NULL;
END
$$;
