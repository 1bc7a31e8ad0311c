-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The next migration makes the log of provisioning a log with months. Here is what takes long: the index of its key, which
-- begins with the organization, and the reading of all ids.

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS scim_log_entries_key ON scim_log_entries (organization_id, id);
SELECT bound_log('scim_log_entries');
ALTER TABLE scim_log_entries VALIDATE CONSTRAINT scim_log_entries_before;
