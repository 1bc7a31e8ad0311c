-- gatehouse: compatible from 0025
-- Which groups of the directory a service learns of its users.

ALTER TABLE services ADD COLUMN group_claims text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN services.group_claims IS 'The ids of the groups of the organization that its tokens name, or all; none by default.';
