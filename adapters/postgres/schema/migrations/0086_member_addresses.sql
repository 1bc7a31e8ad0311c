-- gatehouse: compatible from 0025
-- The members of an organization are searched by a part of their address, which therefore stands in their memberships, as
-- that of an end user stands in the links to services. Processes of an older version need not know it: a trigger fills it in,
-- and the foreign key keeps it what it is in the account. No other table has a column of this name, so that no statement of
-- theirs becomes ambiguous. No row is read or rewritten here; the next migration does so.

ALTER TABLE memberships ADD COLUMN member_email text;
COMMENT ON COLUMN memberships.member_email IS 'The address of the account; a trigger fills it in.';

CREATE FUNCTION memberships_email() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- Locked, because the address may be changed or the account deleted at this moment.
    SELECT email INTO NEW.member_email FROM users WHERE id = NEW.user_id FOR KEY SHARE;
    -- Without an account the foreign key refuses the row, and not the column, so that the transaction is repeated.
    NEW.member_email := coalesce(NEW.member_email, '');
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION memberships_email() IS 'Finds the address of the account that becomes a member.';
CREATE TRIGGER memberships_email BEFORE INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION memberships_email();
CREATE TRIGGER memberships_email_moved BEFORE UPDATE OF user_id ON memberships
    FOR EACH ROW WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION memberships_email();
ALTER TABLE memberships ADD CONSTRAINT memberships_user_id_email_fkey
    FOREIGN KEY (user_id, member_email) REFERENCES users (id, email) ON UPDATE CASCADE ON DELETE CASCADE NOT VALID;

-- Each organization has groups of its own, so that a search reads nothing of another one, nor takes longer for what others
-- have. Two groups with one hash are found together, and the search compares the whole part.
CREATE FUNCTION groups_of_organization(organization_id uuid, groups text[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (SELECT coalesce(array_agg(hashtextextended(letters, uuid_hash_extended(organization_id, 0))), '{}')
        FROM   unnest(groups) AS letters);
COMMENT ON FUNCTION groups_of_organization(uuid, text[]) IS 'Groups of letters as an index has them that finds them in one organization alone.';

CREATE PROCEDURE fill_addresses_of_memberships()
LANGUAGE plpgsql AS $$
DECLARE
    last_id uuid := '00000000-0000-0000-0000-000000000000';
    ids     uuid[];
BEGIN
    LOOP
        ids := ARRAY(SELECT id FROM memberships WHERE id > last_id ORDER BY id LIMIT 5000);
        EXIT WHEN cardinality(ids) = 0;
        -- The accounts are locked first, as a change of an address does.
        WITH unfilled AS MATERIALIZED (
            SELECT   m.id, u.email
            FROM     memberships m
            JOIN     users u ON u.id = m.user_id
            WHERE    m.id = ANY (ids) AND m.member_email IS NULL
            ORDER BY u.id
            FOR KEY SHARE OF u)
        UPDATE memberships m SET member_email = f.email FROM unfilled f WHERE m.id = f.id;
        last_id := ids[cardinality(ids)];
        -- No change of a member waits longer than for one batch.
        COMMIT;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fill_addresses_of_memberships() IS 'Fills in the addresses of members, batch by batch, for the next migration; of no use after it.';
