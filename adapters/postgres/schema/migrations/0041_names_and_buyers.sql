-- gatehouse: compatible from 0025
-- The names of accounts, and customers of end users who buy through a service.
--
-- A name that belongs to a registration waits with it until the address is proved.
ALTER TABLE users ADD COLUMN name text;
ALTER TABLE open_registrations ADD COLUMN name text;

COMMENT ON COLUMN users.name IS 'What its user is called; null until the user has said it. Directories say it in scim_profiles.';
COMMENT ON COLUMN open_registrations.name IS 'The name that becomes the account''s with the link of this registration.';

-- Not organization_id: processes of the previous version take that for the customer of the organization itself.
ALTER TABLE billing_customers
    ADD COLUMN seller_organization_id uuid,
    ADD COLUMN service_id             uuid,
    ADD COLUMN user_id                uuid,
    ADD CONSTRAINT billing_customers_of_user_check CHECK (
        num_nonnulls(seller_organization_id, service_id, user_id) = 0
        OR (num_nonnulls(seller_organization_id, service_id, user_id) = 3 AND organization_id IS NULL)),
    ADD CONSTRAINT billing_customers_seller_fkey FOREIGN KEY (seller_organization_id, service_id)
        REFERENCES services (organization_id, id) ON DELETE CASCADE,
    ADD CONSTRAINT billing_customers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
CREATE UNIQUE INDEX billing_customers_one_of_user ON billing_customers (user_id, service_id, mode)
    WHERE user_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX billing_customers_of_seller ON billing_customers (seller_organization_id, service_id)
    WHERE seller_organization_id IS NOT NULL;
CREATE INDEX billing_customers_of_user ON billing_customers (user_id) WHERE user_id IS NOT NULL;

COMMENT ON COLUMN billing_customers.seller_organization_id IS 'The organization whose service an end user buys; then the customer is the end user, and organization_id is null.';
COMMENT ON COLUMN billing_customers.user_id IS 'The end user who is this customer, for the one service.';

ALTER TABLE sandbox_customers
    ADD COLUMN service_id uuid,
    ADD COLUMN user_id    uuid;
