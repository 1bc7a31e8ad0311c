-- gatehouse: no transaction
-- The indexes of the last file. The mails that wait for the mail server of their organization.

ALTER TABLE mails VALIDATE CONSTRAINT mails_state_check;
CREATE INDEX CONCURRENTLY IF NOT EXISTS mails_routed ON mails (organization_id, due_at) WHERE state = 'routed';
-- What was made under a custom domain, which ends with it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS browser_sessions_of_domain ON browser_sessions (domain_id) WHERE domain_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS passkeys_of_domain ON passkeys (domain_id) WHERE domain_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS mfa_challenges_of_domain ON mfa_challenges (domain_id) WHERE domain_id IS NOT NULL;
