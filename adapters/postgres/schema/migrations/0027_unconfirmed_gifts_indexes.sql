-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- What `0026_unconfirmed_gifts.sql` left for large tables that are written meanwhile.

CREATE INDEX CONCURRENTLY IF NOT EXISTS users_disowned_by_organization ON users (disowned_by_organization_id)
    WHERE disowned_by_organization_id IS NOT NULL;
ALTER TABLE service_users VALIDATE CONSTRAINT service_users_origin_check;
ALTER TABLE users VALIDATE CONSTRAINT users_disowned_by_organization_id_fkey;
