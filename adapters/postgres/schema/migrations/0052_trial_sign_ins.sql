-- gatehouse: compatible from 0025
-- Trial sign-ins: real sign-ins at the provider of a connection that sign nobody in, and what the last one has brought.

CREATE TABLE trial_sign_ins (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    connection_id   uuid NOT NULL,
    user_id         uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    session_id      uuid NOT NULL,
    state_hash      bytea NOT NULL UNIQUE,
    client_id       text,
    tested_as       bytea NOT NULL,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,
    concluded_at    timestamptz,
    problem         text,
    reason          text NOT NULL DEFAULT '',
    subject         text,
    email           text,
    claims          jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE trial_sign_ins IS 'Sign-ins by which administrators test connections. No other sign-in is ever found here, and none of these elsewhere.';
COMMENT ON COLUMN trial_sign_ins.user_id IS 'The administrator who has begun it.';
COMMENT ON COLUMN trial_sign_ins.session_id IS 'The browser session in which it began, and in which alone it is concluded.';
COMMENT ON COLUMN trial_sign_ins.tested_as IS 'The SHA-256 of what of the connection leads to its provider, by which a later change is seen.';
COMMENT ON COLUMN trial_sign_ins.problem IS 'A word of core/sign_in/upstream/provider_problems.py; null for none, and before it is concluded.';
COMMENT ON COLUMN trial_sign_ins.reason IS 'The reason that the log has as well.';
COMMENT ON COLUMN trial_sign_ins.claims IS 'Pairs of a name and a text, cut to a limit: what the provider has said of the user.';
CREATE INDEX trial_sign_ins_of_connection ON trial_sign_ins (organization_id, connection_id, concluded_at DESC);
CREATE INDEX trial_sign_ins_of_user ON trial_sign_ins (user_id);
CREATE INDEX trial_sign_ins_addresses ON trial_sign_ins (lower(email)) WHERE email IS NOT NULL;
CREATE INDEX trial_sign_ins_ended ON trial_sign_ins (expires_at);
