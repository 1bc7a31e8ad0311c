-- The caller of a request whose session is the account's own: for no service, no customer and no one organization, and
-- begun by its own user. Most sessions are, and PostgreSQL prepares each part of `callers.sql` at each execution, even
-- the parts that such a session never needs. It finds no other session: `callers.sql` reads the rest.

SELECT
    u.id                                AS "account.id",
    u.email                             AS "account.email",
    u.email_verified_at                 AS "account.email_verified_at",
    u.is_platform_owner                 AS "account.is_platform_owner",
    u.created_at                        AS "account.created_at",
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
    $lacks_mailed_proof                 AS "limits.lacks_mailed_proof"
    $more_columns
FROM   sessions s
JOIN   users u                   ON u.id = s.user_id
LEFT   JOIN organizations o      ON o.id = s.organization_id
LEFT   JOIN memberships m        ON m.organization_id = s.organization_id AND m.user_id = s.user_id
                                AND m.suspended_at IS NULL
                                AND $membership_counts
LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
$more_tables
WHERE  $condition
  AND  s.service_id IS NULL AND s.customer_id IS NULL AND s.confined_to IS NULL AND s.impersonator_id IS NULL
