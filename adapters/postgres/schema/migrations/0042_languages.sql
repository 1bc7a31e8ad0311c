-- gatehouse: compatible from 0025
-- The languages of people: that of an account, in which its pages and mails are.
--
-- No constraint lists the languages: which ones are offered is decided by files, not by the database.
ALTER TABLE users ADD COLUMN language text;

COMMENT ON COLUMN users.language IS 'The tag (BCP 47) of the language that its user has chosen or registered with; null when it is not known.';
