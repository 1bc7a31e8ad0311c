-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- What the console of the platform searches: organizations by a part of their name, slug or domain, a refused sign-in
-- by the id of its request, and the deliveries and streams that have failed.

CREATE INDEX CONCURRENTLY IF NOT EXISTS organizations_letter_groups ON organizations USING gin (letter_groups(lower(name) || ' ' || slug));
CREATE INDEX CONCURRENTLY IF NOT EXISTS custom_domains_letter_groups ON custom_domains USING gin (letter_groups(domain));
CREATE INDEX CONCURRENTLY IF NOT EXISTS domain_routes_letter_groups ON domain_routes USING gin (letter_groups(domain));
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_of_request ON login_events USING hash (request_id) WHERE NOT success AND request_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_lost ON webhook_deliveries (organization_id, webhook_id, created_at DESC) WHERE NOT delivered AND next_retry_at IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS siem_streams_failing ON siem_streams (organization_id) WHERE enabled AND failures > 0;
