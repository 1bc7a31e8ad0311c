-- The roles of a Gatehouse database. Run it with psql 14 or newer; running it again changes nothing. Run it as a superuser, or, from
-- PostgreSQL 15 on, as a role that may create roles and owns the database, such as the administrator of a managed server:
--
--   psql --dbname gatehouse --file roles.sql
--
-- gatehouse_owner owns everything and migrates (`gatehouse migrate`). gatehouse_server serves (`gatehouse serve`): it reads
-- and writes rows, and calls functions. It makes, changes and drops no table, so that what a defect of the server or a stolen
-- password can do to the database ends at its rows. Their passwords are those of OWNER_ROLE_PASSWORD and SERVER_ROLE_PASSWORD in the
-- environment, or are set later: \password gatehouse_owner
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
    -- Without being a superuser: what the owner makes later has the grants below, which only its members may set.
    IF NOT pg_has_role('gatehouse_owner', 'USAGE') THEN
        GRANT gatehouse_owner TO CURRENT_USER;
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

-- A database that another role has migrated until now gets the new owner; extensions keep theirs.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO gatehouse_owner', oid::regclass)
        FROM   pg_class c
        WHERE  relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
          AND  relowner <> 'gatehouse_owner'::regrole
          -- A sequence of a column, or whatever belongs to an extension, follows that.
          AND  NOT EXISTS (SELECT FROM pg_depend
                           WHERE  classid = 'pg_class'::regclass AND objid = c.oid AND deptype IN ('a', 'e', 'i')
                             AND  (deptype = 'e' OR c.relkind = 'S'))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO gatehouse_owner', oid::regprocedure)
        FROM   pg_proc p
        WHERE  pronamespace = 'public'::regnamespace AND proowner <> 'gatehouse_owner'::regrole
          AND  NOT EXISTS (SELECT FROM pg_depend
                           WHERE  classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
        UNION ALL
        SELECT format('ALTER TYPE %s OWNER TO gatehouse_owner', oid::regtype)
        FROM   pg_type t
        WHERE  typnamespace = 'public'::regnamespace AND typowner <> 'gatehouse_owner'::regrole AND typtype IN ('d', 'e')
          AND  NOT EXISTS (SELECT FROM pg_depend
                           WHERE  classid = 'pg_type'::regclass AND objid = t.oid AND deptype = 'e')
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;

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

\getenv owner_password OWNER_ROLE_PASSWORD
\if :{?owner_password}
    ALTER ROLE gatehouse_owner PASSWORD :'owner_password';
\endif
\getenv server_password SERVER_ROLE_PASSWORD
\if :{?server_password}
    ALTER ROLE gatehouse_server PASSWORD :'server_password';
\endif
