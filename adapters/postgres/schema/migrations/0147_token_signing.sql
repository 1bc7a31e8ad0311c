-- gatehouse: compatible from 0079
-- With which algorithm the tokens of a service are signed. The services that exist, and those of an older process, go on
-- with RSA keys. A constant default rewrites no row.
ALTER TABLE services ADD COLUMN token_signing text NOT NULL DEFAULT 'RS256'
    CHECK (token_signing IN ('RS256', 'ES256'));
COMMENT ON COLUMN services.token_signing IS 'The algorithm that signs its tokens where it has no security profile.';
