-- gatehouse: compatible from 0079
-- The owner of an organization reads what vendors have made for it, and how the vendor made it, and adopts it. A
-- connection that was adopted signs no person in before it was tested anew.
ALTER TABLE upstream_connections
    ADD COLUMN made_through text,
    ADD COLUMN awaits_trial boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN upstream_connections.made_through IS 'How a vendor has made it for a customer: by a member, by its program, or by a setup link; null for one of an organization of its own.';
COMMENT ON COLUMN upstream_connections.awaits_trial IS 'Whether the organization has adopted it, and it was not switched on after a trial sign-in since.';

ALTER TABLE domain_routes
    ADD COLUMN made_through text,
    ADD COLUMN created_at timestamptz;
COMMENT ON COLUMN domain_routes.made_through IS 'As of upstream_connections.';
COMMENT ON COLUMN domain_routes.created_at IS 'When it was claimed; null before that was recorded.';

ALTER TABLE scim_tokens ADD COLUMN made_through text;
COMMENT ON COLUMN scim_tokens.made_through IS 'As of upstream_connections.';

ALTER TABLE customer_group_rules ADD COLUMN made_through text;
COMMENT ON COLUMN customer_group_rules.made_through IS 'As of upstream_connections.';
