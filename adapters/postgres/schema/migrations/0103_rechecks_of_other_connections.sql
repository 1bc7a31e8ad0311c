-- gatehouse: compatible from 0025
-- Who signs in by another connection than the enforced one has no access for the customer, also when the connection of
-- the route has changed.

DROP TRIGGER domain_routes_of_customers ON domain_routes;
CREATE TRIGGER domain_routes_of_customers AFTER UPDATE OF enforced, status, connection_id ON domain_routes
    FOR EACH ROW
    WHEN (NEW.status = 'verified'
          AND (OLD.status <> 'verified' OR (NEW.enforced AND NOT OLD.enforced)
               OR (NEW.enforced AND NEW.connection_id <> OLD.connection_id)))
    EXECUTE FUNCTION connections_of_customers_required();
