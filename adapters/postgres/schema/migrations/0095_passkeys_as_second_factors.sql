-- gatehouse: compatible from 0025
-- Passkeys that are asked for after another factor, and what an organization accepts as a second factor.

ALTER TABLE passkeys ADD COLUMN second_factor_at timestamptz;
COMMENT ON COLUMN passkeys.second_factor_at IS 'Since when its owner has it as a second factor; null for one that is none.';

ALTER TABLE users ADD COLUMN has_passkey_factor boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN users.has_passkey_factor IS 'Repeats whether a passkey of the account is a second factor, for every sign-in to see.';

ALTER TABLE mfa_challenges
    ADD COLUMN passkey_challenge bytea,
    ADD COLUMN passkey_expires_at timestamptz;
COMMENT ON COLUMN mfa_challenges.passkey_challenge IS 'What a passkey signs to finish this sign-in; null while none was asked for, or once it was answered.';

ALTER TABLE organizations ADD COLUMN mfa_methods text NOT NULL DEFAULT 'any';
ALTER TABLE organizations
    ADD CONSTRAINT organizations_mfa_methods_check CHECK (mfa_methods IN ('any', 'phishing_resistant')) NOT VALID;
ALTER TABLE organizations VALIDATE CONSTRAINT organizations_mfa_methods_check;
COMMENT ON COLUMN organizations.mfa_methods IS 'Which second factors count where the organization requires one.';
