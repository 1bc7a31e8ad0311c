-- gatehouse: compatible from 0025
-- The roles that rules of groups may give which are made with a setup link.

ALTER TABLE setup_links ADD COLUMN roles text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN setup_links.roles IS 'The roles that rules of groups may give which are made with the link; none without the part groups.';
