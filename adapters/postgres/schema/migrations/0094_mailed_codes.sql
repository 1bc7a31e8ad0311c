-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- A sign-in mail has a code beside its link; the token of the link is the token of both.

ALTER TABLE users ADD COLUMN IF NOT EXISTS wrong_mailed_codes integer DEFAULT 0 NOT NULL;
COMMENT ON COLUMN users.wrong_mailed_codes IS 'How many codes of its sign-in mails were wrong since the last sign-in, up to the limit after which its mails have links alone.';
ALTER TABLE one_time_tokens
    ADD COLUMN IF NOT EXISTS challenge_id uuid,
    ADD COLUMN IF NOT EXISTS code_hash bytea,
    ADD COLUMN IF NOT EXISTS wrong_codes integer DEFAULT 0 NOT NULL;
COMMENT ON COLUMN one_time_tokens.challenge_id IS 'What names the token to the client that asked for the mail, together with the code.';
COMMENT ON COLUMN one_time_tokens.code_hash IS 'The keyed hash of the code that the mail has beside the link, bound to the challenge; null when it has none.';
COMMENT ON TABLE mail_counts IS 'The mails that count towards a limit, and the wrong codes of mails; the key is a keyed hash of the limit and the address or network.';
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS one_time_tokens_of_challenge ON one_time_tokens (challenge_id)
    WHERE challenge_id IS NOT NULL;
