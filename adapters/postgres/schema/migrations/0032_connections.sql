-- gatehouse: compatible from 0025
-- Where a connection leads, and which identities its word alone has linked (decisions 10.6, 10.8 and 13.5).
--
-- The statements that read much come first and lock only the rows that they change; the columns are added at the end,
-- so that nothing waits for the tables longer than that takes.

DO $$
DECLARE
    unlinked bigint;
    changed  uuid[];
BEGIN
    -- Identities of people who have left: neither members nor end users, and no address in a verified mail domain.
    WITH gone AS (
        DELETE FROM identities i
        USING  users u
        WHERE  i.connection_id IS NOT NULL AND u.id = i.user_id
        AND    NOT EXISTS (SELECT FROM memberships m
                           WHERE  m.organization_id = i.organization_id AND m.user_id = i.user_id)
        AND    NOT EXISTS (SELECT FROM service_users e
                           WHERE  e.organization_id = i.organization_id AND e.user_id = i.user_id)
        AND    NOT EXISTS (SELECT FROM domain_routes r
                           WHERE  r.organization_id = i.organization_id AND r.verified_at IS NOT NULL
                           AND    (r.failing_since IS NULL OR r.failing_since > now() - interval '7 days')
                           AND    r.domain = substring(u.email FROM '@([^@]*)$'))
        RETURNING i.user_id, i.organization_id, i.connection_id
    ), ended AS (
        UPDATE sessions s
        SET    revoked_at = now()
        FROM   gone
        WHERE  s.user_id = gone.user_id AND s.connection_id = gone.connection_id
        AND    s.confined_to = gone.organization_id AND s.revoked_at IS NULL
    )
    SELECT count(*) INTO unlinked FROM gone;
    RAISE NOTICE 'identities of people who have left their organization, unlinked: %', unlinked;

    -- Connections whose issuer was changed while their client secret stayed, by the audit log.
    SELECT coalesce(array_agg(c.id), '{}') INTO changed
    FROM   upstream_connections c
    WHERE  c.type = 'oidc'
    AND    EXISTS (SELECT FROM audit_entries e
                   WHERE  e.organization_id = c.organization_id AND e.action = 'organization.updated'
                   AND    e.details ->> 'change' IN ('upstream_provider.created', 'upstream_provider.changed')
                   AND    e.details ->> 'provider_id' = c.id::text
                   AND    e.details ->> 'issuer' <> c.issuer);
    RAISE NOTICE 'connections whose issuer has changed, for gatehouse doctor to list: %', cardinality(changed);

    -- Those that exist count as confirmed: nobody who may sign in is shut out.
    ALTER TABLE identities ADD COLUMN confirmed_at timestamptz DEFAULT now();
    ALTER TABLE identities ALTER COLUMN confirmed_at DROP DEFAULT;
    ALTER TABLE upstream_connections
        ADD COLUMN certificates   text[],
        ADD COLUMN issuer_changed boolean NOT NULL DEFAULT false;
    ALTER TABLE upstream_sign_ins ADD COLUMN ended_at timestamptz;
    ALTER TABLE sessions ADD COLUMN confined_to_role text;
    UPDATE upstream_connections SET issuer_changed = true WHERE id = ANY (changed);
END
$$;

COMMENT ON COLUMN identities.confirmed_at IS 'When its user proved to have the account, by signing in to it or by a mailed code; null while only the connection says so.';
COMMENT ON COLUMN upstream_connections.certificates IS 'The SHA-256 of the certificates by which assertions are verified; null while they are not known.';
COMMENT ON COLUMN upstream_connections.issuer_changed IS 'Whether the issuer was changed before that took the client secret again, which was not entered since.';
COMMENT ON COLUMN upstream_sign_ins.ended_at IS 'When its connection was switched off; it is not completed after that, also when the connection is on again.';
COMMENT ON COLUMN sessions.confined_to_role IS 'The role that the session opens besides member, while only the word of its connection says whose it is; null without that limit.';
