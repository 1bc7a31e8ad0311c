-- gatehouse: compatible from 0025
-- The security profile of a service, and the keys that sign for such services. Processes of the previous version read all
-- of `signing_keys` and know RSA keys alone, so the elliptic ones are in a table of their own.

ALTER TABLE services ADD COLUMN security_profile text
    CONSTRAINT services_security_profile_check CHECK (security_profile IN ('fapi2'));
COMMENT ON COLUMN services.security_profile IS 'Which stricter rules of OAuth hold for the service; null for none beyond the usual ones.';

CREATE TABLE elliptic_signing_keys (
    kid                text PRIMARY KEY,
    state              text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
    public_pem         text NOT NULL,
    private_pem_sealed bytea NOT NULL,
    created_at         timestamptz NOT NULL,
    published_until    timestamptz
);
COMMENT ON TABLE elliptic_signing_keys IS 'The key pairs that sign by ES256, for services with a security profile; the private halves are encrypted.';
CREATE UNIQUE INDEX elliptic_signing_keys_one_of_each ON elliptic_signing_keys (state) WHERE state <> 'retired';
