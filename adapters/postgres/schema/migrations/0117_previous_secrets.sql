-- gatehouse: compatible from 0025
-- The client secret before the present one, which is taken for some hours after a rotation.
ALTER TABLE services
    ADD COLUMN previous_secret_hash bytea,
    ADD COLUMN previous_secret_expires_at timestamptz;
COMMENT ON COLUMN services.previous_secret_expires_at IS 'Until when the secret before the present one is taken; null where none was kept.';
