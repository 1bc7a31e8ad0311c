-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The lists of members have the addresses in their indexes, and each organization an index of the parts of its own.

CALL fill_addresses_of_memberships();
ALTER TABLE memberships DROP CONSTRAINT IF EXISTS memberships_with_email;
ALTER TABLE memberships ADD CONSTRAINT memberships_with_email CHECK (member_email IS NOT NULL) NOT VALID;
ALTER TABLE memberships VALIDATE CONSTRAINT memberships_with_email;
-- The constraint proves it, so that no row is read under the lock.
ALTER TABLE memberships ALTER COLUMN member_email SET NOT NULL;
ALTER TABLE memberships DROP CONSTRAINT IF EXISTS memberships_with_email;
ALTER TABLE memberships VALIDATE CONSTRAINT memberships_user_id_email_fkey;
ALTER TABLE memberships DROP CONSTRAINT IF EXISTS memberships_user_id_fkey;
CREATE INDEX CONCURRENTLY IF NOT EXISTS memberships_in_order ON memberships (organization_id, created_at, id) INCLUDE (user_id, role, confirmed_at, member_email);
CREATE INDEX CONCURRENTLY IF NOT EXISTS memberships_in_order_of_role ON memberships (organization_id, role, created_at, id) INCLUDE (user_id, confirmed_at, member_email);
CREATE INDEX CONCURRENTLY IF NOT EXISTS memberships_letter_groups ON memberships USING gin (groups_of_organization(organization_id, letter_groups(member_email)));
DROP INDEX CONCURRENTLY IF EXISTS memberships_newest;
DROP INDEX CONCURRENTLY IF EXISTS memberships_of_role;
-- Who was active is looked up by day as well, of one organization at a time. What is only added to is otherwise seldom
-- vacuumed, and until then the rows themselves are read.
CREATE INDEX CONCURRENTLY IF NOT EXISTS active_days_of_scope ON active_days (day, scope, user_id);
DROP INDEX CONCURRENTLY IF EXISTS active_days_by_day;
ALTER TABLE active_days SET (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_scale_factor = 0.02);
-- Sign-ins from an address of a network, the newest first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_of_address ON login_events (ip_address, id DESC, organization_id) WHERE ip_address IS NOT NULL;
-- A list and a search read the indexes alone once the rows that were rewritten are known to be visible.
VACUUM (ANALYZE) memberships;
VACUUM (ANALYZE) active_days;
