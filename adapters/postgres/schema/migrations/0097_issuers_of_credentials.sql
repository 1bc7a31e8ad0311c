-- gatehouse: compatible from 0025
-- For which issuer an organization has given credentials, where the operator has added its provider.

ALTER TABLE oauth_credentials ADD COLUMN issuer text;
COMMENT ON COLUMN oauth_credentials.issuer IS 'The issuer of an added provider, to which alone the secret is sent; null at the documented ones.';
