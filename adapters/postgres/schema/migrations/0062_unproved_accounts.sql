-- gatehouse: compatible from 0025
-- Accounts that anybody can register for any address are deleted if nobody proves it and nothing else comes of them. The
-- column marks them. Triggers take the mark away, so that processes of earlier versions, which go on beside this file, do
-- it as well; those register accounts without a mark, which are kept.

ALTER TABLE users ADD COLUMN unproved_since timestamptz;
COMMENT ON COLUMN users.unproved_since IS 'When the account was registered by somebody who has not proved the address; null once that is proved or something else has come of the account, and for every account that was made in another way. Moved on while a link is valid.';

CREATE FUNCTION user_claimed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.unproved_since := NULL;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION user_claimed() IS 'Keeps an account whose address is proved, also after the proof is lost again.';

CREATE FUNCTION user_given_something() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE users SET unproved_since = NULL WHERE id = NEW.user_id AND unproved_since IS NOT NULL;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION user_given_something() IS 'Keeps an account that ever had a membership or used a service: logs name it.';

CREATE TRIGGER users_claimed BEFORE UPDATE OF email_verified_at ON users
    FOR EACH ROW WHEN (NEW.email_verified_at IS NOT NULL AND OLD.unproved_since IS NOT NULL)
    EXECUTE FUNCTION user_claimed();
CREATE TRIGGER memberships_keep_user AFTER INSERT ON memberships
    FOR EACH ROW EXECUTE FUNCTION user_given_something();
CREATE TRIGGER service_users_keep_user AFTER INSERT ON service_users
    FOR EACH ROW EXECUTE FUNCTION user_given_something();
