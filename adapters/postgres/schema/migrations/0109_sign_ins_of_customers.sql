-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- A customer of a service lists the sign-ins of its people there, and the vendor reads the newest refused ones.

CREATE INDEX CONCURRENTLY IF NOT EXISTS login_events_newest_of_customer ON login_events (customer_id, success, id DESC) WHERE customer_id IS NOT NULL;
