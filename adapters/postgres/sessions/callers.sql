-- The caller of a request: a live session, its user, and what they are in its context. Each column names the part of
-- `Caller` and the field. Every table is read by a primary or another unique key, so that no table's size matters.
-- `callers.py` fills in what other statements share, and what a statement reads beside the caller.

SELECT
    u.id                                AS "account.id",
    u.email                             AS "account.email",
    u.email_verified_at                 AS "account.email_verified_at",
    u.is_platform_owner                 AS "account.is_platform_owner",
    u.created_at                        AS "account.created_at",
    CASE WHEN s.service_id IS NOT NULL OR s.confined_to IS NOT NULL
         THEN EXISTS (SELECT FROM memberships
                      WHERE  user_id = s.user_id AND confirmed_at IS NOT NULL
                        -- To a service, membership in any organization is elsewhere, and so is a vendor's setup for
                        -- another customer than the session's.
                        AND  CASE WHEN made_for IS NULL THEN s.service_id IS NOT NULL OR organization_id <> s.confined_to
                                  ELSE made_for IS DISTINCT FROM s.customer_id
                                       AND organization_id IS DISTINCT FROM s.confined_to END)
              OR EXISTS (SELECT FROM service_users
                         WHERE  user_id = s.user_id
                           AND  organization_id <> CASE WHEN s.service_id IS NOT NULL THEN s.organization_id
                                                        ELSE s.confined_to END
                           -- A link that an organization made, and its user never used, does not count.
                           AND  last_login_at IS NOT NULL)
              -- A connection that a vendor made for a customer may assert any address, so it vouches for no account.
              OR EXISTS (SELECT FROM organizations WHERE id = s.confined_to AND internal_of IS NOT NULL)
              -- An address under another organization's enforced route belongs to it, also without a membership.
              OR EXISTS (SELECT $enforced_route
                           AND  u.disowned_at IS NULL
                           AND  route.organization_id <> CASE WHEN s.service_id IS NOT NULL THEN s.organization_id
                                                              ELSE s.confined_to END)
         ELSE false END                 AS "account.belongs_elsewhere",
    u.disowned_at IS NOT NULL           AS "account.is_disowned",
    $is_platform_support                AS "account.is_platform_support",
    s.id                                AS "session.id",
    s.amr                               AS "session.amr",
    s.authenticated_at                  AS "session.authenticated_at",
    s.device_id                         AS "session.device_id",
    s.connection_id                     AS "session.connection_id",
    s.organization_id                   AS "place.organization_id",
    o.slug                              AS "place.organization_slug",
    o.status                            AS "place.organization_status",
    m.role                              AS "place.role",
    r.permissions                       AS "place.custom_permissions",
    coalesce(o.mfa_required, false)     AS "place.requires_mfa",
    coalesce(o.mfa_methods, 'any')      AS "place.mfa_methods",
    s.customer_id                       AS "place.customer_id",
    CASE WHEN s.customer_id IS NOT NULL THEN (
        SELECT jsonb_build_object(
                   'id', c.id, 'organization_id', c.organization_id, 'slug', co.slug, 'name', co.name,
                   'external_id', c.external_id, 'role', $customer_role, 'service_roles', $customer_roles,
                   'groups', CASE WHEN v.group_claims <> '{}' OR c.groups <> '{}' THEN $customer_groups END,
                   'requires_mfa', co.mfa_required, 'mfa_methods', co.mfa_methods)
        $open_customer AND $customer_membership_counts
    ) END                               AS "place.customer",
    s.service_id                        AS "service.id",
    v.slug                              AS "service.slug",
    v.client_id                         AS "service.client_id",
    e.user_id IS NOT NULL               AS "service.is_user",
    -- One column, which is not computed for a session without a service, because most of them have none.
    CASE WHEN s.service_id IS NOT NULL THEN (
        SELECT jsonb_build_object(
                   'id', coalesce(p.id, d.id),
                   'name', coalesce(p.name, d.name),
                   'features', CASE WHEN b.is_live THEN p.features ELSE d.features END,
                   'subscription_status', coalesce(b.status, 'active'),
                   'current_period_end', b.current_period_end)
        FROM   plans d
        LEFT   JOIN LATERAL (SELECT   plan_id, status, current_period_end,
                                      status IN ('active', 'past_due') AS is_live
                             FROM     subscriptions
                             WHERE    user_id = s.user_id AND service_id = s.service_id
                               -- A customer cannot subscribe yet, and their people's own plans do not count.
                               AND    s.customer_id IS NULL
                             ORDER BY is_live DESC, created_at DESC, id DESC
                             LIMIT    1) AS b ON true
        LEFT   JOIN plans p ON p.service_id = s.service_id AND p.id = b.plan_id
        WHERE  d.service_id = s.service_id AND d.is_default
    ) END                               AS "service.plan",
    -- One more than a token names, so that it shows when there are too many. Of a member alone.
    CASE WHEN v.group_claims <> '{}' THEN coalesce((
        SELECT jsonb_agg(jsonb_build_object('id', named.id, 'name', named.display_name)
                         ORDER BY lower(named.display_name), named.id)
        FROM   (SELECT g.id, g.display_name
                FROM   directory_group_members i
                JOIN   directory_groups g ON g.organization_id = i.organization_id AND g.id = i.group_id
                WHERE  i.organization_id = m.organization_id AND i.user_id = m.user_id
                  AND  ('all' = ANY (v.group_claims) OR g.id::text = ANY (v.group_claims))
                LIMIT  101) AS named
    ), '[]') END                        AS "service.groups",
    -- Of a service that has roles of its own, for no customer.
    CASE WHEN v.roles <> '[]' AND s.customer_id IS NULL
         THEN $own_roles END            AS "service.roles",
    $is_admitted                        AS "service.is_admitted",
    v.groups_as                         AS "service.groups_as",
    $is_open_to_individuals             AS "service.is_open_to_individuals",
    v.security_profile                  AS "service.security_profile",
    s.confined_to                       AS "confinement.organization_id",
    s.confined_to_service               AS "confinement.service_id",
    s.confined_to_role                  AS "confinement.role",
    s.lacks_connection                  AS "confinement.lacks_connection",
    s.impersonator_id                   AS "limits.impersonator_id",
    $lacks_mailed_proof                 AS "limits.lacks_mailed_proof"
    $more_columns
FROM   $session
JOIN   users u                   ON u.id = s.user_id
LEFT   JOIN organizations o      ON o.id = s.organization_id
LEFT   JOIN memberships m        ON m.organization_id = s.organization_id AND m.user_id = s.user_id
                                AND m.suspended_at IS NULL
                                -- A session for a customer has no role of the vendor.
                                AND s.customer_id IS NULL
                                AND $membership_counts
LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
LEFT   JOIN services v           ON v.id = s.service_id
LEFT   JOIN service_users e      ON e.service_id = s.service_id AND e.user_id = s.user_id
                                AND (e.last_login_at IS NOT NULL
                                     OR (u.disowned_at IS NULL AND NOT $lacks_mailed_proof))
LEFT   JOIN users i              ON i.id = s.impersonator_id
$more_tables
WHERE $condition
