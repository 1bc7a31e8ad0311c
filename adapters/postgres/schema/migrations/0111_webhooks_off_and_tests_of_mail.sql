-- gatehouse: compatible from 0025
-- When a webhook was switched off by itself. Where an earlier version has switched it off, the time is unknown.
ALTER TABLE webhooks ADD COLUMN off_at timestamptz;
COMMENT ON COLUMN webhooks.off_at IS 'When it was switched off by itself; null when off_reason is null, or the time is not known.';

-- What the last test of a mail server found.
ALTER TABLE mail_servers
    ADD COLUMN last_tested_at timestamptz,
    ADD COLUMN last_test_accepted boolean,
    ADD COLUMN last_test_answer text;
COMMENT ON COLUMN mail_servers.last_tested_at IS 'When these settings were tested last; null when they were not.';
