-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Which sessions a customer of a service has, and in which order those of a service are looked through.

CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_of_customer ON sessions (customer_id, id) WHERE customer_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_of_service_in_order ON sessions (service_id, id) WHERE service_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS sessions_of_service;
