-- gatehouse: compatible from 0079
-- What a key has made for customers is in many organizations, so it is found by the key.
CREATE INDEX scim_tokens_made_by_key ON scim_tokens (made_by_key) WHERE made_by_key IS NOT NULL;
