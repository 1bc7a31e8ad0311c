-- gatehouse: compatible from 0079
-- What a vendor makes for a customer is in an organization of its own, which no person sees and which ends with the
-- customer record. So it is never among the things of the customer's organization, of the vendor's, or of another
-- vendor's.
ALTER TABLE organizations ADD COLUMN internal_of uuid REFERENCES service_customers (id) ON DELETE CASCADE;
COMMENT ON COLUMN organizations.internal_of IS 'The customer record for which it has what the vendor made; null for all that people see.';
CREATE UNIQUE INDEX organizations_internal_of ON organizations (internal_of) WHERE internal_of IS NOT NULL;

-- An internal organization is active while its customer may use the service, and suspended otherwise.
CREATE FUNCTION follow_customer(of_customer uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- First locked, so that of two changes at once the later one sees what the other has changed.
    PERFORM FROM organizations WHERE internal_of = of_customer FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE organizations i
    SET    status = x.status, suspended_at = CASE WHEN x.status = 'suspended' THEN clock_timestamp() END
    FROM   (SELECT CASE WHEN c.accepted_at IS NOT NULL AND c.vendor_paused_at IS NULL AND c.customer_paused_at IS NULL
                         AND vo.status = 'active'
                         AND (co.status = 'active' OR (c.is_made AND co.status = 'pending'))
                        THEN 'active' ELSE 'suspended' END AS status
            FROM      service_customers c
            JOIN      organizations vo ON vo.id = c.vendor_id
            LEFT JOIN organizations co ON co.id = c.organization_id
            WHERE     c.id = of_customer) AS x
    WHERE  i.internal_of = of_customer AND i.status <> x.status;
END
$$;
COMMENT ON FUNCTION follow_customer IS 'Opens or closes what a vendor has made for a customer, as its record and both organizations are now.';

CREATE FUNCTION internal_organizations_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'service_customers' THEN
        PERFORM follow_customer(NEW.id);
    ELSE
        PERFORM follow_customer(c.id)
        FROM    service_customers c
        WHERE   (c.vendor_id = NEW.id OR c.organization_id = NEW.id)
          AND   EXISTS (SELECT FROM organizations i WHERE i.internal_of = c.id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal_organizations_follow() IS 'Keeps internal organizations open exactly while their customers are.';
CREATE TRIGGER internal_organizations_follow
    AFTER UPDATE OF accepted_at, vendor_paused_at, customer_paused_at ON service_customers
    FOR EACH ROW EXECUTE FUNCTION internal_organizations_follow();
CREATE TRIGGER internal_organizations_follow
    AFTER UPDATE OF status ON organizations
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.internal_of IS NULL)
    EXECUTE FUNCTION internal_organizations_follow();
