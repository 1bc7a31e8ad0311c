-- gatehouse: compatible from 0025
-- The log of sign-ins is partitioned by month. What was written until now is the first partition; no row is read.

-- In the order in which a sign-in takes them.
LOCK TABLE users IN ACCESS EXCLUSIVE MODE;
LOCK TABLE services IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER login_event_of_person ON login_events;
SELECT begin_log_months('login_events');
-- The constraints of the first partition become a part of those of the log: no row is checked.
ALTER TABLE login_events
    ADD CONSTRAINT login_events_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE;
ALTER TABLE login_events
    ADD CONSTRAINT login_events_service_id_fkey FOREIGN KEY (service_id) REFERENCES services (id) ON DELETE SET NULL;
CREATE TRIGGER login_event_of_person BEFORE INSERT ON login_events
    FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION login_event_of_person();
DROP PROCEDURE fill_organizations_of_login_events();
