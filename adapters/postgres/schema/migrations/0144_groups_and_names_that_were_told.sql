-- gatehouse: no transaction
-- gatehouse: compatible from 0079
-- How tokens tell of groups, which names a directory did not tell, and who was asked for a name. Constant defaults rewrite
-- no row.

-- The services that exist, and those of an older process, tell of groups as until now.
ALTER TABLE services ADD COLUMN IF NOT EXISTS groups_as text NOT NULL DEFAULT 'objects'
    CHECK (groups_as IN ('names', 'ids', 'objects'));
COMMENT ON COLUMN services.groups_as IS 'How tokens tell of groups: by names, by ids, or as objects of both.';

ALTER TABLE users ADD COLUMN IF NOT EXISTS name_asked_at timestamptz;
COMMENT ON COLUMN users.name_asked_at IS 'When its user was asked for a name and gave none; null until then, and while there is one.';

-- The names themselves, so that one that an older process stores over them is one that was told.
ALTER TABLE scim_profiles
    ADD COLUMN IF NOT EXISTS made_given_name  text,
    ADD COLUMN IF NOT EXISTS made_family_name text;
COMMENT ON COLUMN scim_profiles.made_given_name IS 'The given name that was made of the address, which the directory has not told; null for one that it has.';
COMMENT ON COLUMN scim_profiles.made_family_name IS 'The same of the family name.';

-- Those that were made of a domain. One that is made of two words of the address is what a directory would tell, too.
UPDATE scim_profiles p
SET    made_given_name = p.given_name, made_family_name = p.family_name
FROM   users u
WHERE  u.id = p.user_id AND p.formatted_name IS NULL AND p.made_family_name IS NULL
  AND  lower(p.family_name) = split_part(split_part(u.email, '@', 2), '.', 1)
  AND  lower(p.given_name) = btrim(split_part(split_part(u.email, '@', 1), '+', 1), '._-');
