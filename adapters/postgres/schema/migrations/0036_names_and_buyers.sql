-- gatehouse: compatible from 0025
-- The names of accounts; one that belongs to a registration waits with it until the address is proved.
ALTER TABLE users ADD COLUMN name text;
ALTER TABLE open_registrations ADD COLUMN name text;

COMMENT ON COLUMN users.name IS 'What its user is called; null until the user has said it. Directories say it in scim_profiles.';
COMMENT ON COLUMN open_registrations.name IS 'The name that becomes the account''s with the link of this registration.';
