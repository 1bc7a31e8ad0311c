-- gatehouse: compatible from 0079
-- Comments say what they mean themselves.
COMMENT ON COLUMN memberships.confirmed_at IS 'When the user accepted or used the membership; null until then.';
COMMENT ON TABLE mfa_events IS 'The separate log of everything about second factors, and of security events.';
COMMENT ON TABLE service_audiences IS 'The audiences of services; no two services have the same one.';
COMMENT ON TABLE tiers IS 'What an organization may use; a null limit is no limit.';
COMMENT ON COLUMN users.created_by_organization_id IS 'The organization that made the account by SCIM or with an API key; the account may be one of its own users.';
COMMENT ON FUNCTION event_payload(events) IS 'What a receiver of an event gets, always in this order.';
COMMENT ON VIEW relations IS 'The tuples that every check of access is decided from.';
