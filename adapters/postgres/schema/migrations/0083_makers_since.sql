-- gatehouse: compatible from 0025
-- When a credential got its present maker, and why it was switched off. Where an earlier version has written the row,
-- both are NULL, and the last change of the row counts as the time. No row is read or rewritten.
ALTER TABLE webhooks ADD COLUMN made_at timestamptz, ADD COLUMN off_reason text;
ALTER TABLE siem_streams ADD COLUMN made_at timestamptz, ADD COLUMN off_reason text;
ALTER TABLE upstream_connections ADD COLUMN made_at timestamptz, ADD COLUMN off_reason text;
ALTER TABLE services ADD COLUMN client_secret_made_at timestamptz;

COMMENT ON COLUMN webhooks.off_reason IS 'Why it was switched off by itself; null when it is on, or a person switched it off.';
COMMENT ON COLUMN siem_streams.off_reason IS 'Why it was switched off by itself; null when it is on, or a person switched it off.';
COMMENT ON COLUMN upstream_connections.off_reason IS 'Why it was switched off by itself; null when it is on, or a person switched it off.';
