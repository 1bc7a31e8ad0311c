-- gatehouse: compatible from 0025
-- Links of members and of former members came with the membership, and end with it from now on. An account that its
-- organization deactivated outside of its verified mail domains is open again (decisions 5.7).

DO $$
DECLARE
    marked bigint;
    reopened bigint;
BEGIN
    UPDATE service_users l
    SET    origin = 'membership'
    FROM   memberships m
    WHERE  m.organization_id = l.organization_id AND m.user_id = l.user_id AND l.origin <> 'membership';
    GET DIAGNOSTICS marked = ROW_COUNT;
    RAISE NOTICE 'links of members to services, which end with the membership from now on: %', marked;

    UPDATE service_users l
    SET    origin = 'membership'
    FROM   organizations o
    CROSS  JOIN LATERAL (SELECT DISTINCT target_id
                         FROM   audit_entries
                         WHERE  organization_id = o.id AND action = 'user.removed' AND target_type = 'user'
                           -- A key removes an end user under the same name, and names the service.
                           AND  NOT details ? 'service_id') AS gone
    WHERE  l.organization_id = o.id AND l.user_id = gone.target_id::uuid AND l.origin <> 'membership';
    GET DIAGNOSTICS marked = ROW_COUNT;
    RAISE NOTICE 'links of former members, by which SAML admits no user any more: %', marked;

    UPDATE users u
    SET    deactivated_at = NULL, deactivated_by_organization_id = NULL
    WHERE  u.deactivated_by_organization_id IS NOT NULL AND u.anonymized_at IS NULL
      AND  NOT EXISTS (SELECT FROM domain_routes r
                       WHERE  r.organization_id = u.deactivated_by_organization_id
                         AND  r.domain = split_part(u.email, '@', 2) AND r.verified_at IS NOT NULL);
    GET DIAGNOSTICS reopened = ROW_COUNT;
    RAISE NOTICE 'accounts that organizations deactivated outside of their mail domains, open again: %', reopened;
END
$$;
