-- Accounts that their users have closed (decisions 12.6).

ALTER TABLE users ADD COLUMN closed_at timestamptz;
COMMENT ON COLUMN users.closed_at IS 'When its user closed the account; a sign-in within 14 days clears it, then the account is anonymized.';
