-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The members whose role a rule gave, who are few among all.

CREATE INDEX CONCURRENTLY IF NOT EXISTS memberships_role_source ON memberships (organization_id, user_id)
    INCLUDE (role_source, role_group) WHERE role_source IS NOT NULL;
