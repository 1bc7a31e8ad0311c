-- gatehouse: compatible from 0079
-- The claims that a product wants in its tokens. An older process leaves them as they are. A constant default rewrites no row.
ALTER TABLE services ADD COLUMN claims jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN services.claims IS 'What its tokens and assertions say besides: a list of claim, from and in_access_token.';
