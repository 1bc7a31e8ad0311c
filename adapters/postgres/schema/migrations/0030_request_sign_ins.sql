-- gatehouse: compatible from 0025
-- For which request of an OpenID client or a SAML service provider a browser has signed in (decisions 10.7).

ALTER TABLE browser_returns ADD COLUMN request_key bytea;
COMMENT ON COLUMN browser_returns.request_key IS 'The request that the path answers, if it answers one.';

CREATE TABLE request_sign_ins (
    session_id      uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    request_key     bytea NOT NULL,
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (session_id, request_key)
);
COMMENT ON TABLE request_sign_ins
    IS 'The browser sessions that a form has begun or continued which belonged to a request; no other request counts them.';
CREATE INDEX request_sign_ins_ended ON request_sign_ins (expires_at);

-- Guesses by somebody who holds a session have limits of their own.
ALTER TABLE sign_in_failures ADD COLUMN session_id uuid;
COMMENT ON COLUMN sign_in_failures.session_id IS 'The session in which its user was to prove that they are there; null for a sign-in.';
