-- gatehouse: compatible from 0025
-- Secrets between the form that made them and the page that shows them once.

CREATE TABLE shown_secrets (
    id               uuid        PRIMARY KEY,
    session_id       uuid        REFERENCES sessions ON DELETE CASCADE,
    setup_visit_hash bytea       REFERENCES setup_visits ON DELETE CASCADE,
    page             text        NOT NULL,
    secrets_sealed   bytea       NOT NULL,
    expires_at       timestamptz NOT NULL,
    CONSTRAINT shown_secrets_one_holder CHECK (num_nonnulls(session_id, setup_visit_hash) = 1)
);
COMMENT ON TABLE shown_secrets IS 'Secrets that a form has made and that a page shows once, to the browser session, or the visit of a setup link, that made them.';
COMMENT ON COLUMN shown_secrets.page IS 'The path of the page, without the id.';
CREATE INDEX shown_secrets_of_session ON shown_secrets (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX shown_secrets_of_setup_visit ON shown_secrets (setup_visit_hash) WHERE setup_visit_hash IS NOT NULL;
CREATE INDEX shown_secrets_ended ON shown_secrets (expires_at);
