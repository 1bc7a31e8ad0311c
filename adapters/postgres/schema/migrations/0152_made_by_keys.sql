-- gatehouse: compatible from 0079
-- What a key of an organization has made. Null for what a person made; an older process makes nothing with a key, and takes
-- a setup link of one for that of its maker. The id of the key stays with API keys and SCIM tokens when the key has ended,
-- and a setup link ends with its key.
ALTER TABLE api_keys ADD COLUMN made_by_key uuid;
COMMENT ON COLUMN api_keys.made_by_key IS 'The key of the organization that made it; null for one that a person made.';
ALTER TABLE scim_tokens ADD COLUMN made_by_key uuid;
COMMENT ON COLUMN scim_tokens.made_by_key IS 'The key of the organization that made it, itself or by its setup link; null for one that a person made.';
ALTER TABLE setup_links ADD COLUMN made_by_key uuid REFERENCES organization_keys (id) ON DELETE CASCADE;
COMMENT ON COLUMN setup_links.made_by_key IS 'The key of the organization that made it, within whose capabilities it works; null for one that a person made.';
CREATE INDEX api_keys_made_by_key ON api_keys (made_by_key) WHERE made_by_key IS NOT NULL;
CREATE INDEX setup_links_made_by_key ON setup_links (made_by_key) WHERE made_by_key IS NOT NULL;
