-- gatehouse: compatible from 0025
-- What a credential can do, its maker can do: SCIM tokens keep the role of their maker, and every credential names who
-- made it (decisions 7.9). All these tables are small: a few rows for each organization.

ALTER TABLE scim_tokens
    ADD COLUMN maker_role        text,
    ADD COLUMN maker_permissions text[];
COMMENT ON COLUMN scim_tokens.maker_role
    IS 'The role of the maker when the token was made; a token without one changes plain members only.';
COMMENT ON COLUMN scim_tokens.maker_permissions IS 'What the role allowed then, if it was a custom role.';

-- No foreign keys: who made a credential stays known when the account is deleted, as with an actor of the audit log.
ALTER TABLE siem_streams ADD COLUMN made_by uuid;
ALTER TABLE webhooks ADD COLUMN made_by uuid;
ALTER TABLE upstream_connections ADD COLUMN made_by uuid;
ALTER TABLE services ADD COLUMN client_secret_made_by uuid;
COMMENT ON COLUMN siem_streams.made_by IS 'Who configured the stream last; null before Gatehouse recorded it.';
COMMENT ON COLUMN webhooks.made_by IS 'Who made the present secret, or set the URL last; null before Gatehouse recorded it.';
COMMENT ON COLUMN upstream_connections.made_by
    IS 'Who said last where the connection leads; null before Gatehouse recorded it.';
COMMENT ON COLUMN services.client_secret_made_by IS 'Who made the present secret; null before Gatehouse recorded it.';

UPDATE scim_tokens
SET    maker_role = m.role, maker_permissions = r.permissions
FROM   memberships m
LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
WHERE  m.organization_id = scim_tokens.organization_id AND m.user_id = scim_tokens.created_by;

DO $$
DECLARE
    kept     bigint;
    plain    bigint;
    orphaned bigint;
BEGIN
    SELECT count(maker_role), count(*) FILTER (WHERE maker_role IS NULL) INTO kept, plain FROM scim_tokens;
    SELECT count(*)
    INTO   orphaned
    FROM   api_keys k
    WHERE  NOT EXISTS (SELECT FROM memberships m
                       WHERE  m.organization_id = k.organization_id AND m.user_id = k.created_by);
    RAISE NOTICE '% SCIM tokens keep the role that their maker has today', kept;
    RAISE NOTICE '% SCIM tokens change plain members only, because their maker is no member any more', plain;
    RAISE NOTICE '% API keys stay, although their maker is no member any more; gatehouse doctor lists them', orphaned;
END
$$;
