-- gatehouse: compatible from 0079
-- A vendor makes an organization for a customer, which has no owner until a person claims it.
ALTER TABLE organizations ADD COLUMN is_unclaimed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN organizations.is_unclaimed IS 'Whether a vendor has made it for a customer, and no person owns it yet.';

ALTER TABLE service_customers
    ADD COLUMN is_made boolean NOT NULL DEFAULT false,
    ADD COLUMN vendor_setup text[] NOT NULL DEFAULT '{}',
    ADD COLUMN ended_at timestamptz,
    ADD COLUMN ended_organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
    ADD COLUMN ended_external_id text,
    DROP CONSTRAINT service_customers_check3,
    ADD CONSTRAINT service_customers_check3
        CHECK (offered_slug IS NOT NULL OR organization_id IS NOT NULL OR ended_organization_id IS NOT NULL),
    ADD CONSTRAINT service_customers_ended_check
        CHECK ((ended_at IS NULL) = (ended_organization_id IS NULL) AND (ended_at IS NULL OR organization_id IS NULL));
COMMENT ON COLUMN service_customers.is_made IS 'Whether the vendor has made the organization for it.';
COMMENT ON COLUMN service_customers.vendor_setup IS 'Which parts the owner lets the vendor set up, once the organization has one.';
COMMENT ON COLUMN service_customers.ended_at IS 'Since when an unclaimed customer has ended, which can be restored; null for all others.';
COMMENT ON COLUMN service_customers.ended_organization_id IS 'The organization of an unclaimed customer that has ended.';
COMMENT ON COLUMN service_customers.ended_external_id IS 'The external id that it had, which another customer may have now.';
CREATE INDEX service_customers_made ON service_customers (vendor_id) WHERE is_made;
CREATE INDEX service_customers_ended_organization ON service_customers (ended_organization_id)
    WHERE ended_organization_id IS NOT NULL;
