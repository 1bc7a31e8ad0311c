-- gatehouse: compatible from 0025
-- The audit log of organizations is partitioned by month, and no month of it is ever dropped. What was written until now is
-- the first partition; no row is read.

SELECT begin_log_months('audit_entries');
LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE;
ALTER TABLE audit_entries
    ADD CONSTRAINT audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE;
