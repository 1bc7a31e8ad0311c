-- Sessions in browsers, their children, and where a browser goes after signing in.

CREATE TABLE browser_sessions (
    session_id      uuid PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    secret_hash     bytea NOT NULL UNIQUE,
    stays_signed_in boolean NOT NULL
);
COMMENT ON TABLE browser_sessions IS 'The secret in the cookie of a session; sessions.expires_at moves with its use.';

-- A child outlives its parent, which may be deleted long after it has expired.
ALTER TABLE sessions ADD COLUMN parent_id uuid REFERENCES sessions ON DELETE SET NULL;
COMMENT ON COLUMN sessions.parent_id IS 'The browser session from which this one began; it ends when a person ends that one.';

CREATE TABLE browser_returns (
    id_hash           bytea PRIMARY KEY,
    target            text NOT NULL,
    organization_slug text,
    service_slug      text,
    leaves_for        text,
    expires_at        timestamptz NOT NULL
);
COMMENT ON TABLE browser_returns IS 'The path and query that a browser opens after signing in, under an id that is valid once.';
COMMENT ON COLUMN browser_returns.leaves_for IS 'The origin or scheme outside Gatehouse to which the target finally leads.';
CREATE INDEX browser_returns_expiry ON browser_returns (expires_at);
