-- How many mails of a kind were sent to one address, or for one organization: counted here, because all replicas share it.

CREATE TABLE mail_counts (
    key        bytea PRIMARY KEY,
    sent_at    timestamptz[] NOT NULL,
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE mail_counts IS 'The mails that count towards a limit; the key is a keyed hash of the limit and the address.';
COMMENT ON COLUMN mail_counts.sent_at IS 'The times of the last mails, the newest first, at most as many as the limit.';
CREATE INDEX mail_counts_ended ON mail_counts (expires_at);
