-- gatehouse: compatible from 0025
-- Whose registration it was (decisions 3.14): while nobody has proved an address, each registration of it has a password
-- of its own, and the link that is used makes that one the account's. Until now an account had the password of its first
-- registration, whoever opened the link.

CREATE TABLE open_registrations (
    id            uuid PRIMARY KEY,
    user_id       uuid NOT NULL,
    email         text NOT NULL,
    password_hash text NOT NULL,
    data          jsonb NOT NULL,
    ip_address    text,
    geo_country   text,
    geo_city      text,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz
);
COMMENT ON TABLE open_registrations IS 'Registrations of addresses that are not proved: the link that is used makes its password the account''s.';
COMMENT ON COLUMN open_registrations.data IS 'Where the registration leads, and the hash of the browser in which it was made.';
COMMENT ON COLUMN open_registrations.expires_at IS 'Null for the password of an imported account, and of one that is older than this table.';

-- Accounts of today whose address is not proved keep their password, without an end. There may be very many, imported
-- ones, so `users` is locked only afterwards, while the new table is compared with it.
INSERT INTO open_registrations (id, user_id, email, password_hash, data, created_at)
SELECT id, id, email, password_hash, '{}', created_at
FROM   users
WHERE  email_verified_at IS NULL AND password_hash IS NOT NULL;
CREATE INDEX open_registrations_of_user ON open_registrations (user_id);
CREATE INDEX open_registrations_ended ON open_registrations (expires_at);

LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM open_registrations r
WHERE  NOT EXISTS (SELECT
                   FROM   users u
                   WHERE  u.id = r.user_id AND u.email = r.email AND u.email_verified_at IS NULL
                     AND  u.password_hash = r.password_hash);
ALTER TABLE open_registrations
    ADD CONSTRAINT open_registrations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;

-- The link that was mailed at the registration goes on as its link. One that was requested later may have been requested
-- by another person than the one who knows the password, so it keeps none: its user chooses one.
DO $$
DECLARE
    kept   bigint;
    linked bigint;
BEGIN
    SELECT count(*) INTO kept FROM open_registrations;

    UPDATE one_time_tokens t
    SET    data = t.data || jsonb_build_object('registration_id', r.id)
    FROM   open_registrations r
    WHERE  t.user_id = r.user_id AND t.email = r.email AND t.created_at = r.created_at
      AND  t.purpose = 'verify_email' AND t.used_at IS NULL AND t.expires_at > now();
    GET DIAGNOSTICS linked = ROW_COUNT;

    RAISE NOTICE '% accounts with an unproved address keep their password as their only registration; % of them have an open link.',
        kept, linked;
END
$$;
