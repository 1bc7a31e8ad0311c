-- gatehouse: compatible from 0025
-- Whether a sign-in by mail used the link or the code. Of earlier ones it is not known.
ALTER TABLE login_events ADD COLUMN mailed_proof text;
COMMENT ON COLUMN login_events.mailed_proof IS 'Of a sign-in by mail, link or code; null where it is not known, and of other ways.';
