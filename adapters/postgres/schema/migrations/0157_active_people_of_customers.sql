-- gatehouse: compatible from 0079
-- How many people have used a service for a customer in a month, each counted once.
CREATE TABLE customer_active_people (
    customer_id uuid NOT NULL REFERENCES service_customers (id) ON DELETE CASCADE,
    month date NOT NULL,
    user_id uuid NOT NULL,
    PRIMARY KEY (customer_id, month, user_id)
);
COMMENT ON TABLE customer_active_people IS 'Who has signed in or refreshed a session for a customer in a month by UTC, so that each is counted once.';
COMMENT ON COLUMN customer_active_people.month IS 'The first day of the month.';
COMMENT ON COLUMN customer_active_people.user_id IS 'The account, which may be gone; no reference.';
CREATE INDEX customer_active_people_of_user ON customer_active_people (user_id);
