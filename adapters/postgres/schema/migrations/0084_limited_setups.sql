-- gatehouse: compatible from 0025
-- Who made the secret of an authenticator app in a session of a service, or in one that is confined, knows it. A constant
-- default rewrites no row.

ALTER TABLE totp_secrets ADD COLUMN is_of_limited_session boolean NOT NULL DEFAULT false;
