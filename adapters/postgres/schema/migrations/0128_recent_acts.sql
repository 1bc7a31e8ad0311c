-- gatehouse: compatible from 0079
-- What young credentials did that no log names one by one. The undo of a takeover takes it back (decisions 3.13): a credential
-- that was made in a takeover is at most eight days old then, one day from the wish to the change of the address and seven
-- in which that can be undone. Nothing is known of the time before; processes of an older version write nothing here.

CREATE SEQUENCE recent_act_numbers;
CREATE TABLE recent_acts (
    number bigint DEFAULT nextval('recent_act_numbers') PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    credential_id uuid NOT NULL,
    act text NOT NULL CHECK (act IN ('put_in', 'raised', 'taken_out', 'linked')),
    object_id uuid NOT NULL,
    user_id uuid NOT NULL,
    authority_id uuid,
    gives_products boolean,
    done_at timestamptz NOT NULL
);
COMMENT ON TABLE recent_acts IS 'What SCIM tokens and API keys did in their first eight days that no log names one by one.';
COMMENT ON COLUMN recent_acts.credential_id IS 'The token or key, which may be deleted since.';
COMMENT ON COLUMN recent_acts.object_id IS 'The group into which a member was put or out of which they were taken, or the service to which a user was linked.';
COMMENT ON COLUMN recent_acts.authority_id IS 'By whose word somebody was in the group before, whose place was raised or who was taken out.';
COMMENT ON COLUMN recent_acts.gives_products IS 'Whether the place in the group gave products before.';
CREATE INDEX recent_acts_of_credential ON recent_acts (organization_id, credential_id, object_id, user_id, number);
CREATE INDEX recent_acts_of_place ON recent_acts (organization_id, object_id, user_id);
CREATE INDEX recent_acts_by_time ON recent_acts (done_at);
