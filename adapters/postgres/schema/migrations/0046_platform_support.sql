-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- People who help the users of the platform, and what they look for: mails that were not delivered.

ALTER TABLE users ADD COLUMN IF NOT EXISTS is_platform_support boolean DEFAULT false NOT NULL;
COMMENT ON COLUMN users.is_platform_support IS 'Whether the account is appointed to the platform''s support. It gives power only while the address is verified and mfa_enabled_at is set; removing the second factor ends it.';
COMMENT ON COLUMN mails.values_sealed IS 'What the mail says, encrypted; null once it is sent. Of one that has failed it is kept for a retry, as long as the mail.';
COMMENT ON TABLE platform_audit_entries IS 'What platform owners, the platform''s support and operators by command did. An organization that was deleted is still named here.';

CREATE INDEX CONCURRENTLY IF NOT EXISTS users_platform_support ON users (email) WHERE is_platform_support;
CREATE INDEX CONCURRENTLY IF NOT EXISTS mails_undelivered ON mails (state, created_at DESC, id DESC) WHERE state IN ('queued', 'routed', 'kept', 'failed');
