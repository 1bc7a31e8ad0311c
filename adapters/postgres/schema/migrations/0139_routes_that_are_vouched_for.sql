-- gatehouse: compatible from 0079
-- Who has led a mail domain to a connection. An older process leaves it as it is, so that a domain which that one leads
-- elsewhere, or adds, is vouched for by nobody.

-- Few rows: at most 100 for an organization.
ALTER TABLE domain_routes ADD COLUMN vouched_for uuid;
COMMENT ON COLUMN domain_routes.vouched_for IS 'The connection to which someone has led the domain who may give every role, or before that was recorded; null, or another one than connection_id, where nobody has.';
UPDATE domain_routes SET vouched_for = connection_id;
