-- gatehouse: compatible from 0079
-- A directory may change an address and keep its proof. Null where the address has not changed since this migration.
ALTER TABLE users ADD COLUMN email_changed_at timestamptz;
COMMENT ON COLUMN users.email_changed_at IS 'Since when the account has its present address: organizations that it left before do not know it.';
