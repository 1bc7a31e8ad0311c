-- gatehouse: compatible from 0025
-- Pushed requests are opened before they are used up; codes and grants keep the claims that a service has asked for by
-- name; the pages of a sign-in keep the language that a service has asked for, and which request they can cancel.

ALTER TABLE authorization_requests ADD COLUMN opened_at timestamptz;
ALTER TABLE authorization_codes    ADD COLUMN requested_claims jsonb;
ALTER TABLE client_grants          ADD COLUMN requested_claims jsonb;
ALTER TABLE browser_returns        ADD COLUMN language text;
ALTER TABLE browser_returns        ADD COLUMN request_target text;

COMMENT ON COLUMN authorization_requests.opened_at IS 'When a browser first brought the reference of a pushed request; from then on it lives as the sign-in does.';
COMMENT ON COLUMN authorization_codes.requested_claims IS 'What the parameter claims has asked for (OpenID Connect Core, 5.5); null for nothing.';
COMMENT ON COLUMN client_grants.requested_claims IS 'The same, for the ID tokens and the user information of the session.';
COMMENT ON COLUMN browser_returns.request_target IS 'The path on which the request of an application goes on at last, where the target is a step before it; null where it is the target.';
COMMENT ON COLUMN browser_returns.language IS 'The language that a service has asked for its pages; null for that of the browser.';
