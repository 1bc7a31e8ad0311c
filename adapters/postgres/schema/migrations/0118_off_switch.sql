-- gatehouse: compatible from 0025
-- The issuer of the tokens by which the identity provider of a SAML connection ends what a person holds here.
ALTER TABLE upstream_connections ADD COLUMN token_issuer text;
COMMENT ON COLUMN upstream_connections.token_issuer IS 'Of a SAML connection, the issuer by whose keys tokens of its identity provider are verified; null where it sends none.';
-- A lock refuses every way in, until its person has proved the address and chosen a new password.
ALTER TABLE users ADD COLUMN locked_at timestamptz;
COMMENT ON COLUMN users.locked_at IS 'Since when the account is locked, by its person, its organization or the platform; null while it is open.';
