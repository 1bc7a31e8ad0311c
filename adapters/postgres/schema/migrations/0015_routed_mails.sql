-- gatehouse: no transaction
-- The mails that wait for the mail server of their organization.

ALTER TABLE mails VALIDATE CONSTRAINT mails_state_check;
CREATE INDEX CONCURRENTLY IF NOT EXISTS mails_routed ON mails (organization_id, due_at) WHERE state = 'routed';
