-- gatehouse: compatible from 0025
-- What an invitation gives besides the membership, and what its sender says.
ALTER TABLE invitations
    ADD COLUMN service_ids uuid[] NOT NULL DEFAULT '{}',
    ADD COLUMN message text;
COMMENT ON COLUMN invitations.service_ids IS 'Services to which the person is linked with the acceptance; one that is gone is left out.';
COMMENT ON COLUMN invitations.message IS 'From the inviter to the person, who sees it after a proof of the address; no mail and no log has it.';
