-- gatehouse: compatible from 0079

DROP PROCEDURE fill_sign_in_habits();

LOCK TABLE users IN ACCESS EXCLUSIVE MODE;
LOCK TABLE services IN ACCESS EXCLUSIVE MODE;
LOCK TABLE login_events IN ACCESS EXCLUSIVE MODE;
CREATE TRIGGER login_events_of_users_deleted AFTER DELETE ON users
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION login_events_of_users_deleted();
CREATE TRIGGER login_events_of_service_deleted AFTER DELETE ON services
    FOR EACH ROW EXECUTE FUNCTION login_events_of_service_deleted();
ALTER TABLE login_events DROP CONSTRAINT login_events_user_id_fkey;
ALTER TABLE login_events DROP CONSTRAINT login_events_service_id_fkey;
DROP TRIGGER login_event_of_person ON login_events;
DROP FUNCTION login_event_of_person();
COMMENT ON COLUMN login_events.user_id IS 'No reference: the deletion of an account deletes its sign-ins by a trigger.';
