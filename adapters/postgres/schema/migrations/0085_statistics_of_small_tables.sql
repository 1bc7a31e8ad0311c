-- gatehouse: compatible from 0025
-- The planner takes a table that was never analyzed for ten pages of rows, and autovacuum analyzes only what has fifty
-- changes. So tables of one row, or of a few that hardly change, get statistics when they are made.
ANALYZE audit_counting, audit_sealing, currency_totals, elliptic_signing_keys, event_sequencing, platform_figures,
        schema_migrations, server_secrets, sign_in_counting, signing_keys, tiers;
