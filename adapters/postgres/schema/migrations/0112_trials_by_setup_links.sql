-- gatehouse: compatible from 0025
-- The holder of a setup link tests a connection before it is switched on. Such a trial belongs to a visit of the link.
ALTER TABLE trial_sign_ins
    ALTER COLUMN user_id DROP NOT NULL,
    ALTER COLUMN session_id DROP NOT NULL,
    ADD COLUMN visit_hash bytea,
    ADD COLUMN groups     text,
    ADD CONSTRAINT trial_sign_ins_begun_check
        CHECK ((user_id IS NULL) = (session_id IS NULL) AND (session_id IS NULL) <> (visit_hash IS NULL)) NOT VALID;
ALTER TABLE trial_sign_ins VALIDATE CONSTRAINT trial_sign_ins_begun_check;
COMMENT ON COLUMN trial_sign_ins.user_id IS 'The administrator who has begun it; null for the holder of a setup link.';
COMMENT ON COLUMN trial_sign_ins.session_id IS 'The browser session in which it began, and in which alone it is concluded.';
COMMENT ON COLUMN trial_sign_ins.visit_hash IS 'The SHA-256 of the cookie of a setup link with which it began; null for that of a member.';
COMMENT ON COLUMN trial_sign_ins.groups IS 'A word of core/sign_in/upstream/trials.py: what the answer says of groups; null where it is not known.';

-- Of the connections before, it is known only that those without metadata were never switched on. An earlier version
-- that runs beside this one switches on what it makes.
ALTER TABLE upstream_connections ADD COLUMN was_on boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN upstream_connections.was_on IS 'Whether it was ever switched on. The holder of a setup link switches no other one on.';
UPDATE upstream_connections SET was_on = false WHERE issuer IS NULL AND NOT enabled;
