-- gatehouse: compatible from 0025
-- What the last check of a connection found, and why sign-ins by it failed.

-- Few rows: at most 50 for an organization.
ALTER TABLE upstream_connections
    ADD COLUMN checked_at    timestamptz,
    ADD COLUMN check_problem text;
COMMENT ON COLUMN upstream_connections.checked_at IS 'When its provider was last asked whether the connection works as it is stored; null before that.';
COMMENT ON COLUMN upstream_connections.check_problem IS 'What was found then, a word of core/sign_in/upstream/provider_problems.py; null for nothing. It means nothing without checked_at.';

CREATE TABLE upstream_failures (
    organization_id  uuid NOT NULL,
    connection_id    uuid NOT NULL,
    problem          text NOT NULL,
    first_at         timestamptz NOT NULL,
    last_at          timestamptz NOT NULL,
    occurrences      integer NOT NULL,
    last_request_id  text NOT NULL,
    PRIMARY KEY (connection_id, problem),
    FOREIGN KEY (organization_id, connection_id) REFERENCES upstream_connections (organization_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE upstream_failures IS 'Why sign-ins by connections failed lately: one row for each problem of a connection, whoever it has met.';
COMMENT ON COLUMN upstream_failures.problem IS 'A word of core/sign_in/upstream/provider_problems.py.';
COMMENT ON COLUMN upstream_failures.first_at IS 'The first time of an uninterrupted series, in which no day is without one.';
COMMENT ON COLUMN upstream_failures.last_request_id IS 'The request of the last one, by which the operator finds it in the log.';
CREATE INDEX upstream_failures_of_connection ON upstream_failures (organization_id, connection_id);
CREATE INDEX upstream_failures_ended ON upstream_failures (last_at);
