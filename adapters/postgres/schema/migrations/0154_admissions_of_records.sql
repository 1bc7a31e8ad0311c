-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- A customer record finds whom it admits.

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS memberships_made_for ON memberships (made_for, user_id) WHERE made_for IS NOT NULL;
