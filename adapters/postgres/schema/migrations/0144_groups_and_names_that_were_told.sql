-- gatehouse: compatible from 0079
-- How tokens name groups. The services that exist, and those of an older process, name them as until now. A constant
-- default rewrites no row.
ALTER TABLE services ADD COLUMN groups_as text NOT NULL DEFAULT 'objects'
    CHECK (groups_as IN ('names', 'ids', 'objects'));
COMMENT ON COLUMN services.groups_as IS 'How tokens tell of groups: by names, by ids, or as objects of both.';
