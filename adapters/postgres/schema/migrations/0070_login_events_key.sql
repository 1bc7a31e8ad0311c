-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The next migration makes the log of sign-ins a log with months. Here is what takes long. The ids are ordered by time, so
-- every list is read by an index that ends with the id: in that order the months follow each other.

CALL fill_organizations_of_login_events();
ALTER TABLE login_events DROP CONSTRAINT IF EXISTS login_events_organization;
ALTER TABLE login_events ADD CONSTRAINT login_events_organization CHECK (organization_id IS NOT NULL) NOT VALID;
ALTER TABLE login_events VALIDATE CONSTRAINT login_events_organization;
-- The constraint proves it, so that no row is read under the lock.
ALTER TABLE login_events ALTER COLUMN organization_id SET NOT NULL;
ALTER TABLE login_events DROP CONSTRAINT IF EXISTS login_events_organization;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS login_events_key ON login_events (organization_id, id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS login_events_ids ON login_events (id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_newest_of_user ON login_events (user_id, success, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_newest_of_organization ON login_events (organization_id, success, id DESC) INCLUDE (created_at, service_id, provider, user_id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_newest_of_service ON login_events (service_id, success, id DESC) WHERE service_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_newest_of_organization_user ON login_events (organization_id, user_id, id DESC) WHERE organization_id <> user_id;
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_newest_through_organization ON login_events (through_organization_id, user_id, id DESC) WHERE through_organization_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS login_events_of_user;
DROP INDEX CONCURRENTLY IF EXISTS login_events_of_organization;
DROP INDEX CONCURRENTLY IF EXISTS login_events_of_service;
DROP INDEX CONCURRENTLY IF EXISTS login_events_of_organization_user;
DROP INDEX CONCURRENTLY IF EXISTS login_events_through_organization;
SELECT bound_log('login_events');
ALTER TABLE login_events VALIDATE CONSTRAINT login_events_before;
