-- gatehouse: no transaction
-- The indexes of what directories deactivated. Both tables may be large, and are written meanwhile.

CREATE INDEX CONCURRENTLY IF NOT EXISTS users_deactivated_by_organization ON users (deactivated_by_organization_id)
    WHERE deactivated_by_organization_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS memberships_suspended ON memberships (organization_id, user_id)
    WHERE suspended_at IS NOT NULL;
