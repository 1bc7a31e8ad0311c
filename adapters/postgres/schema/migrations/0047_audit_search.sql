-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Audit entries are found by who did it, from which address and by which request; before, they were found by action and
-- target alone. The expression is that of an actor without an account, as `core/audit/audit_log.py` shows it.

ALTER TABLE audit_entries ADD COLUMN IF NOT EXISTS request_id text;
COMMENT ON COLUMN audit_entries.request_id IS 'The request that did it, as in the log of the service; null for background work and older entries. The chain does not cover it.';
ALTER TABLE platform_audit_entries ADD COLUMN IF NOT EXISTS request_id text;
COMMENT ON COLUMN platform_audit_entries.request_id IS 'The request that did it, as in the log of the service; null for commands and older entries.';

CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_who ON audit_entries (organization_id, actor_user_id, id DESC)
    WHERE actor_user_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_without_user ON audit_entries
    (organization_id, coalesce('setup_link:' || (details ->> 'setup_link_id'),
                               'api_key:' || (details ->> 'organization_key_id'), 'system'), id DESC)
    WHERE actor_user_id IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_ip_address ON audit_entries (organization_id, ip_address, id DESC)
    WHERE ip_address IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_request ON audit_entries (organization_id, request_id, id DESC)
    WHERE request_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS platform_audit_entries_who ON platform_audit_entries (actor_user_id, id DESC)
    WHERE actor_user_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS platform_audit_entries_actor;
CREATE INDEX CONCURRENTLY IF NOT EXISTS platform_audit_entries_without_user ON platform_audit_entries
    (coalesce('setup_link:' || (details ->> 'setup_link_id'),
              'api_key:' || (details ->> 'organization_key_id'), 'system'), id DESC)
    WHERE actor_user_id IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS platform_audit_entries_ip_address ON platform_audit_entries (ip_address, id DESC)
    WHERE ip_address IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS platform_audit_entries_request ON platform_audit_entries (request_id, id DESC)
    WHERE request_id IS NOT NULL;
