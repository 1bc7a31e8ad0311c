-- gatehouse: compatible from 0025
-- A sign-in on the way to which the session of the browser does not go on, whatever it may open (decisions 15.4).

ALTER TABLE browser_returns ADD COLUMN not_in_session uuid;
COMMENT ON COLUMN browser_returns.not_in_session IS 'The session of the browser that does not go there: its user signs in anew; no reference.';
