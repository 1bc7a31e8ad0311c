-- gatehouse: compatible from 0025
-- The log of provisioning is partitioned by month. What was written until now is the first partition; no row is read.

SELECT begin_log_months('scim_log_entries');
-- The constraint of the first partition becomes a part of that of the log: no row is checked, and the lock lasts a moment.
LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE;
ALTER TABLE scim_log_entries
    ADD CONSTRAINT scim_log_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE;
