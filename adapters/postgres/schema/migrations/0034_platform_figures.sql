-- gatehouse: compatible from 0025
-- The figures behind the gauges: one process counts them, the others read them. No statement here reads a table.
--
-- Accounts are never counted again: what changes their number is recorded, and added to what was counted once.

CREATE TABLE platform_figures (
    is_the_only_row     boolean PRIMARY KEY DEFAULT true CHECK (is_the_only_row),
    active_users        bigint NOT NULL,
    mfa_users           bigint NOT NULL,
    organizations       bigint NOT NULL,
    queued_mails        bigint NOT NULL,
    queued_deliveries   bigint NOT NULL,
    certificates_ending bigint NOT NULL,
    counted_at          timestamptz NOT NULL
);
COMMENT ON TABLE platform_figures IS 'The figures of the gauges, as they were counted last; without a row, all accounts are counted.';

CREATE TABLE user_count_changes (
    active_users bigint NOT NULL,
    mfa_users    bigint NOT NULL
);
COMMENT ON TABLE user_count_changes IS 'By how many the accounts in use changed, and those of them with a second factor, since they were counted.';

CREATE FUNCTION users_counted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO user_count_changes (active_users, mfa_users)
        SELECT count(*), count(mfa_enabled_at) FROM changed WHERE deactivated_at IS NULL HAVING count(*) > 0;
    ELSE
        INSERT INTO user_count_changes (active_users, mfa_users)
        SELECT -count(*), -count(mfa_enabled_at) FROM changed WHERE deactivated_at IS NULL HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION users_counted() IS 'Records how many accounts in use a statement made or deleted.';

CREATE FUNCTION user_recounted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO user_count_changes (active_users, mfa_users)
    VALUES ((NEW.deactivated_at IS NULL)::integer - (OLD.deactivated_at IS NULL)::integer,
            (NEW.deactivated_at IS NULL AND NEW.mfa_enabled_at IS NOT NULL)::integer
            - (OLD.deactivated_at IS NULL AND OLD.mfa_enabled_at IS NOT NULL)::integer);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION user_recounted() IS 'Records that an account is in use again or no more, or has a second factor or none.';

CREATE TRIGGER users_added AFTER INSERT ON users
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION users_counted();
CREATE TRIGGER users_removed AFTER DELETE ON users
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION users_counted();
CREATE TRIGGER users_changed AFTER UPDATE OF deactivated_at, mfa_enabled_at ON users
    FOR EACH ROW
    WHEN ((OLD.deactivated_at IS NULL, OLD.mfa_enabled_at IS NULL)
          IS DISTINCT FROM (NEW.deactivated_at IS NULL, NEW.mfa_enabled_at IS NULL))
    EXECUTE FUNCTION user_recounted();
