-- gatehouse: no transaction
-- Half-finished sign-ins end with the sessions of their account, impersonations with the session that began them; and
-- what a refused sign-in costs, counts, and says about a passkey.

CREATE SEQUENCE IF NOT EXISTS passkey_challenge_numbers;
ALTER TABLE passkey_challenges
    ADD COLUMN IF NOT EXISTS number bigint NOT NULL DEFAULT nextval('passkey_challenge_numbers');
ALTER TABLE users ADD COLUMN IF NOT EXISTS passkey_challenges_ended bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN users.passkey_challenges_ended IS 'The account answers no passkey challenge with this number or a lower one.';

ALTER TABLE sessions ADD COLUMN IF NOT EXISTS impersonator_session_id uuid REFERENCES sessions ON DELETE CASCADE;
COMMENT ON COLUMN sessions.impersonator_session_id IS 'The session of the platform owner; the impersonation ends with it.';
CREATE INDEX CONCURRENTLY IF NOT EXISTS sessions_of_impersonator_session ON sessions (impersonator_session_id)
    WHERE impersonator_session_id IS NOT NULL;
-- These do not know the session that began them, and would not end with it. They last an hour at most.
UPDATE sessions
SET    revoked_at = now()
WHERE  impersonator_id IS NOT NULL AND impersonator_session_id IS NULL AND revoked_at IS NULL;

ALTER TABLE passkeys ADD COLUMN IF NOT EXISTS verifies_user boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN passkeys.verifies_user IS 'Whether its authenticator has checked a PIN, a finger or a face: two factors.';

ALTER TABLE sign_in_failures ADD COLUMN IF NOT EXISTS has_failed boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN sign_in_failures.has_failed IS 'False while the comparison is not decided; such an attempt counts for a minute.';

CREATE OR REPLACE FUNCTION password_decoy(hash text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN hash ~ '[$]2[aby][$][0-9][0-9][$]' THEN left(hash, -53) || repeat('.', 53)
        WHEN hash LIKE 'scrypt$%' THEN
            'scrypt$' || split_part(hash, '$', 2) || '$' || repeat('A', 22) || '$' || split_part(hash, '$', 4) || '$'
            || split_part(hash, '$', 5) || '$' || regexp_replace(split_part(hash, '$', 6), '[^=]', 'A', 'g')
        ELSE
            substring(hash FROM '^(.*)[$][^$]*[$][^$]*$') || '$' || repeat('A', 22) || '$'
            || regexp_replace(substring(hash FROM '[^$]*$'), '[^=]', 'A', 'g')
    END;
COMMENT ON FUNCTION password_decoy(text) IS 'A hash that costs as much to compare and matches no password.';
-- The kinds of imported hashes that are left, for a refused sign-in to do the work of all of them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS users_other_password_hashes ON users (password_decoy(password_hash))
    WHERE password_hash NOT LIKE '$argon2id$v=19$m=19456,t=2,p=1$%';
