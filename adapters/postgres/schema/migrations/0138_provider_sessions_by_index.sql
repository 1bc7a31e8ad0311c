-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- A logout token of an OpenID provider may name the session alone, by its sid.

CREATE INDEX CONCURRENTLY IF NOT EXISTS provider_sessions_of_index ON provider_sessions (organization_id, connection_id, session_index) WHERE session_index IS NOT NULL;
