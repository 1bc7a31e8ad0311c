-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- The last sign-in by a connection, which the pages of setup links show, is the first entry of a range of this index;
-- without it every person who signs in by the connection would be read.

CREATE INDEX CONCURRENTLY IF NOT EXISTS identities_last_used ON identities (organization_id, connection_id, used_at)
    WHERE connection_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS identities_of_connection;
