-- The roles of a Gatehouse database. Run it once, as a superuser or the owner of the database, and again after an upgrade says so:
--
--   psql --dbname gatehouse --file roles.sql
--
-- gatehouse_owner owns everything and migrates (`gatehouse migrate`). gatehouse_server serves (`gatehouse serve`): it reads
-- and writes rows, and calls functions. It makes, changes and drops no table, so that what a defect of the server or a stolen
-- password can do to the database ends at its rows. Neither has a password yet: \password gatehouse_owner
\set ON_ERROR_STOP on

BEGIN;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_owner') THEN
        CREATE ROLE gatehouse_owner LOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_server') THEN
        CREATE ROLE gatehouse_server LOGIN;
    END IF;
END $$;

DO $$
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    -- An extension that a migration needs (pg_trgm) is one that an owner of the database may create.
    EXECUTE format('GRANT CONNECT, CREATE, TEMPORARY ON DATABASE %I TO gatehouse_owner', current_database());
    -- A check of readiness writes into a temporary table.
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO gatehouse_server', current_database());
END $$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO gatehouse_owner;
GRANT USAGE ON SCHEMA public TO gatehouse_server;

-- What exists already, and what later migrations make.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO gatehouse_server;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO gatehouse_server;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO gatehouse_server;

ALTER DEFAULT PRIVILEGES FOR ROLE gatehouse_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO gatehouse_server;
ALTER DEFAULT PRIVILEGES FOR ROLE gatehouse_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO gatehouse_server;
-- Not for everyone: a function may run with the rights of its owner (SECURITY DEFINER).
ALTER DEFAULT PRIVILEGES FOR ROLE gatehouse_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE gatehouse_owner IN SCHEMA public
    GRANT EXECUTE ON FUNCTIONS TO gatehouse_server;

COMMIT;
