-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The next migration makes the audit log of organizations a log with months. Here is what takes long: the index of its key,
-- which begins with the organization, and the reading of all ids.

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_key ON audit_entries (organization_id, id);
-- Entries are counted in the order of their ids, those of all organizations together.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_ids ON audit_entries (id);
-- The key has the newest entries of an organization.
DROP INDEX CONCURRENTLY IF EXISTS audit_entries_newest;
-- A unique index of a partitioned table contains the id. That no position is given twice is what the key of audit_seals
-- ensures, into which each position goes in the same statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_positions ON audit_entries (organization_id, position)
    WHERE position IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS audit_entries_chain;
SELECT bound_log('audit_entries');
ALTER TABLE audit_entries VALIDATE CONSTRAINT audit_entries_before;
