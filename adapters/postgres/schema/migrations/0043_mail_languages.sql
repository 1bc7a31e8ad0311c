-- gatehouse: compatible from 0025
-- The language of a mail, which is decided when the mail is queued, so that a retry says the same.
ALTER TABLE mails ADD COLUMN language text;

COMMENT ON COLUMN mails.language IS 'The tag (BCP 47) of the language in which its recipient reads; null for English, also in mails that an earlier version has queued.';
