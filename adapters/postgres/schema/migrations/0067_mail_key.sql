-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The next migration makes the outbox a log with months. Here is what takes long.

UPDATE mails SET organization_id = '00000000-0000-0000-0000-000000000000' WHERE organization_id IS NULL;
ALTER TABLE mails
    DROP CONSTRAINT IF EXISTS mails_organization,
    ADD CONSTRAINT mails_organization CHECK (organization_id IS NOT NULL) NOT VALID;
ALTER TABLE mails VALIDATE CONSTRAINT mails_organization;
-- It needs not read the rows, because the constraint is valid.
ALTER TABLE mails ALTER COLUMN organization_id SET NOT NULL;
ALTER TABLE mails DROP CONSTRAINT IF EXISTS mails_organization;

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS mails_key ON mails (organization_id, id);
-- An operator names a mail by its id alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS mails_ids ON mails (id);
-- The key does what it did.
DROP INDEX CONCURRENTLY IF EXISTS mails_of_organization;
SELECT bound_log('mails');
ALTER TABLE mails VALIDATE CONSTRAINT mails_before;
