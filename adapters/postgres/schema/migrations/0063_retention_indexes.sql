-- gatehouse: no transaction
-- gatehouse: compatible from 0025
-- What is deleted after its retention is found by an index: accounts that nobody proved, and invitations by when they were
-- answered, or ended without an answer.

CREATE INDEX CONCURRENTLY IF NOT EXISTS users_unproved ON users (unproved_since) WHERE unproved_since IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS invitations_ended ON invitations (coalesce(answered_at, expires_at))
    WHERE status <> 'pending';
