-- gatehouse: compatible from 0079
-- What the list of an inviter has called a person. Invitations of before have none.
ALTER TABLE invitations ADD COLUMN name text;
COMMENT ON COLUMN invitations.name IS 'As the inviter has called the person, who finds it filled in where they accept; no mail and no log has it.';
