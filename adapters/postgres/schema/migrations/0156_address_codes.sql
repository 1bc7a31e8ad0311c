-- gatehouse: compatible from 0079
-- At the first sign-in by a connection that a vendor has made for a customer, its person types a mailed code.
ALTER TABLE upstream_sign_ins
    ADD COLUMN code_hash bytea,
    ADD COLUMN wrong_codes integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN upstream_sign_ins.code_hash IS 'Of the code that was mailed to the asserted address, under the key of the installation; null where none is asked for.';
