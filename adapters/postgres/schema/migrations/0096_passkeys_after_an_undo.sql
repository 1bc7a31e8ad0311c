-- gatehouse: compatible from 0025
-- A passkey that an undone change of address leaves its account finishes sign-ins, and begins none.

ALTER TABLE passkeys ADD COLUMN begins_sign_ins boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN passkeys.begins_sign_ins IS 'Whether it signs in by itself; not one that stayed as a second factor when a change of address was undone.';
