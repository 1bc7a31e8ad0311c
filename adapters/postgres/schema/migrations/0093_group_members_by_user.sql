-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- Both indexes of a user's groups have the organization, so that no query for one organization reads the groups that others
-- have put the user into.

CREATE INDEX CONCURRENTLY IF NOT EXISTS directory_group_members_by_user ON directory_group_members (user_id, organization_id);
DROP INDEX CONCURRENTLY IF EXISTS directory_group_members_of_account;
