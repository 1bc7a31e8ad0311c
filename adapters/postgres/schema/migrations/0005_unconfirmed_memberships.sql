-- A membership that another person made gives the organization no power over the account until its user confirms it.

-- The memberships that stand are confirmed: until now nothing recorded who had made one, and their users have worked with
-- them. The default fills them in without rewriting the table; from then on a statement that adds a membership decides.
ALTER TABLE memberships ADD COLUMN confirmed_at timestamptz DEFAULT now();
ALTER TABLE memberships ALTER COLUMN confirmed_at DROP DEFAULT;
COMMENT ON COLUMN memberships.confirmed_at IS 'When the user accepted or used the membership; null until then (decisions 5.6).';

-- A page of members shows of an unconfirmed one nothing that only the account has, and is still read from an index alone.
DROP INDEX memberships_newest;
CREATE INDEX memberships_newest ON memberships (organization_id, created_at, id) INCLUDE (user_id, role, confirmed_at);
DROP INDEX memberships_of_role;
CREATE INDEX memberships_of_role ON memberships (organization_id, role, created_at, id) INCLUDE (user_id, confirmed_at);

-- Texts that may contain the address of an anonymized user; few roles and organizations mention an address at all.
CREATE INDEX organization_roles_with_address ON organization_roles (organization_id, slug)
    WHERE name LIKE '%@%' OR description LIKE '%@%';
CREATE INDEX organizations_with_address ON organizations (id)
    WHERE name LIKE '%@%' OR rejection_reason LIKE '%@%' OR suspension_reason LIKE '%@%';
