"""Who may use which services, for a customer or without one, as parts of statements.

Each part reads by unique keys and by the indexes of one user, one customer or one service, which have at most 200
assignments.
"""

from __future__ import annotations

from typing import Final, LiteralString

from adapters.postgres.domains_in_force import ENFORCED_ROUTE, IN_FORCE

# Of a record `c`: the customer is neither an offer nor paused by either side.
IS_ACTIVE: Final = "c.accepted_at IS NOT NULL AND c.vendor_paused_at IS NULL AND c.customer_paused_at IS NULL"
# Of its organization `co`: one that the vendor has made works for this service while it waits for approval.
IS_WORKING: Final = "(co.status = 'active' OR (c.is_made AND co.status = 'pending'))"


def membership_of(user_id: LiteralString) -> LiteralString:
    """Return the membership by which a customer `c` admits a user, as a source of rows.

    A membership in its organization comes first, even a suspended one, then one in its internal organization.
    """
    columns: LiteralString = "id, organization_id, user_id, role, confirmed_at, suspended_at, member_email, made_for"
    return f"""
        LATERAL (SELECT {columns} FROM memberships
                 WHERE  organization_id = c.organization_id AND user_id = {user_id}
                 UNION  ALL
                 SELECT {columns} FROM memberships
                 WHERE  made_for = c.id AND user_id = {user_id}
                   AND  NOT EXISTS (SELECT FROM memberships own
                                    WHERE  own.organization_id = c.organization_id AND own.user_id = {user_id}))
    """


def _fitting(table: LiteralString, condition: LiteralString, member: LiteralString) -> LiteralString:
    """Return the assignments to a service `v` that meet a condition on their rows `a` and fit a member.

    An assignment whose roles the service no longer has fits no member. One to a group fits the members that a SCIM
    token has added whose maker could assign products: a credential can do no more than its maker.
    """
    return f"""
        FROM  {table} a
        WHERE {condition}
          AND (a.subject = 'everyone' OR a.role = {member}.role OR a.user_id = {member}.user_id
               OR (a.subject = 'group'
                   AND EXISTS (SELECT FROM directory_group_members i
                               WHERE  i.organization_id = a.organization_id AND i.group_id = a.group_id
                                 AND  i.user_id = {member}.user_id AND i.gives_products)))
          AND (a.role_ids = '{{}}'
               OR EXISTS (SELECT FROM jsonb_each_text(v.role_ids) AS known WHERE known.value::uuid = ANY (a.role_ids)))
    """


# The assignments of a customer `c` that fit its real member `cm`, and the assignments of the organization of a service
# `v` that fit its member `m`, once the membership is confirmed.
_FITTING: Final = _fitting("customer_assignments", "a.customer_id = c.id AND cm.made_for IS NULL", "cm")
_FITTING_HERE: Final = _fitting("service_assignments", "a.service_id = v.id", "m")
_OWN_FITTING: Final = f"{_FITTING_HERE} AND m.confirmed_at IS NOT NULL"
# Whether the member `cm` of a customer `c` may use the service `v`. Members of the internal organization need no
# assignment.
IS_ASSIGNED: Final = f"(c.access = 'members' OR cm.made_for IS NOT NULL OR EXISTS (SELECT {_FITTING}))"
# The role of a member `cm` in the organization of a customer; who is only admitted has none there.
CUSTOMER_ROLE: Final = "CASE WHEN cm.made_for IS NULL THEN cm.role END"
# Whether a rule `r` that the vendor has set up for a customer fits its member `cm`: by a group of the directory that is
# made for the customer, or by what a connection asserts that is.
_FITS_RULE: Final = """
    (EXISTS (SELECT FROM directory_group_members i
             JOIN   memberships h ON h.organization_id = i.organization_id AND h.user_id = i.user_id
                                 AND h.suspended_at IS NULL
             WHERE  i.organization_id = r.organization_id AND i.group_id = r.group_id AND i.user_id = cm.user_id)
     OR EXISTS (SELECT FROM identities i
                JOIN   upstream_connections h ON h.organization_id = i.organization_id AND h.id = i.connection_id
                                             AND h.enabled
                WHERE  i.organization_id = r.organization_id AND i.connection_id = r.connection_id
                  AND  i.user_id = cm.user_id AND r.asserted_group = ANY (i.groups)))
"""
# The names of the roles of a service `v` that its customer `c` and the vendor give the member `cm`.
ROLES: Final = f"""
    ARRAY(SELECT   known.key
          FROM     jsonb_each_text(v.role_ids) AS known
          WHERE    EXISTS (SELECT {_FITTING} AND known.value::uuid = ANY (a.role_ids))
                OR EXISTS (SELECT FROM customer_users own
                           WHERE  own.customer_id = c.id AND own.user_id = cm.user_id
                             AND  known.value::uuid = ANY (own.own_role_ids))
                OR EXISTS (SELECT FROM customer_group_rules r
                           WHERE  r.customer_id = c.id AND known.value::uuid = ANY (r.role_ids) AND {_FITS_RULE})
          ORDER BY known.key)
"""
# The names of the roles of a service `v` that its own organization gives the member `m`.
OWN_ROLES: Final = f"""
    ARRAY(SELECT   known.key
          FROM     jsonb_each_text(v.role_ids) AS known
          WHERE    EXISTS (SELECT {_OWN_FITTING} AND known.value::uuid = ANY (a.role_ids))
          ORDER BY known.key)
"""
# Whether some assignment of the organization of a service `v` fits its member `m`, confirmed or not.
IS_ASSIGNED_HERE: Final = f"EXISTS (SELECT {_FITTING_HERE})"
# The groups of a member `cm` that its customer `c` shows the vendor; one more than a token names.
SHOWN_GROUPS: Final = """
    coalesce((SELECT jsonb_agg(jsonb_build_object('id', named.id, 'name', named.display_name)
                               ORDER BY lower(named.display_name), named.id)
              FROM   (SELECT g.id, g.display_name
                      FROM   directory_group_members i
                      JOIN   directory_groups g ON g.organization_id = i.organization_id AND g.id = i.group_id
                      WHERE  i.organization_id = c.organization_id AND i.user_id = cm.user_id
                        AND  i.group_id = ANY (c.groups)
                      LIMIT  101) AS named), '[]')
"""
# The customer `c` of a session `s` at a service `v`, if its user `u`, the member `cm`, may use the service for it. The
# session must have begun by the connection that the customer requires. Only platform owners are exempt here: not even
# the owner of the organization is. The statement must add which unconfirmed memberships count.
OPEN_CUSTOMER: Final = f"""
    FROM   service_customers c
    JOIN   organizations co ON co.id = c.organization_id AND {IS_WORKING}
    JOIN   organizations vo ON vo.id = c.vendor_id AND vo.status = 'active'
    JOIN   {membership_of("s.user_id")} AS cm ON cm.suspended_at IS NULL
    WHERE  c.id = s.customer_id AND c.service_id = s.service_id AND {IS_ACTIVE} AND {IS_ASSIGNED}
      AND  (s.impersonator_id IS NOT NULL OR u.is_platform_owner OR u.disowned_at IS NOT NULL
            OR NOT EXISTS (SELECT {ENFORCED_ROUTE} AND route.organization_id = co.id
                                                   AND s.connection_id IS DISTINCT FROM c.id))
"""
# The route of the mail domain of a user `u`, proved by a customer `c` or another organization `route.organization_id`.
_PROVED_DOMAIN: Final = f"""
    FROM  domain_routes route
    WHERE route.domain = split_part(u.email, '@', 2) AND {IN_FORCE}
"""
# Whether a user `u` belongs to a customer of a service `v`, active or paused: as a member, also a suspended one, or by
# an address in a mail domain that the customer has proved. An unconfirmed membership counts only in the latter case,
# so that no organization shuts a stranger out.
IS_OF_CUSTOMER: Final = f"""
    (EXISTS (SELECT FROM memberships x
             JOIN   service_customers c ON c.service_id = v.id
                                       AND (c.organization_id = x.organization_id OR c.id = x.made_for)
                                       AND c.accepted_at IS NOT NULL
             WHERE  x.user_id = u.id AND x.confirmed_at IS NOT NULL)
     OR EXISTS (SELECT {_PROVED_DOMAIN}
                AND    EXISTS (SELECT FROM service_customers c
                               WHERE  c.service_id = v.id AND c.organization_id = route.organization_id
                                 AND  c.accepted_at IS NOT NULL)))
"""
# Whether an API key has linked a user to a service `v`, and so given the user access.
IS_GIVEN: Final = """
    EXISTS (SELECT FROM service_users given
            WHERE  given.service_id = v.id AND given.user_id = {user_id} AND given.origin = 'key')
"""
# Whether a service `v`, which may be closed to strangers, admits the user `u` of a session `s` without a customer. `m`
# is the user's membership in its organization, if any.
IS_ADMITTED: Final = f"""
    CASE WHEN s.customer_id IS NOT NULL THEN true
         WHEN v.access = 'members' AND m.confirmed_at IS NOT NULL THEN true
         WHEN v.access = 'assigned' AND EXISTS (SELECT {_OWN_FITTING}) THEN true
         WHEN v.access <> 'everyone' THEN {IS_GIVEN.format(user_id="u.id")}
         ELSE true END
"""
# Whether a user `u` may have a session `s` without a customer at the service `v`. `m` is the user's membership in the
# vendor's organization, if any.
IS_OPEN_TO_INDIVIDUALS: Final = f"""
    CASE WHEN v.individuals = 'all' OR s.customer_id IS NOT NULL OR m.id IS NOT NULL THEN true
         WHEN v.individuals = 'none' THEN false
         WHEN v.individuals = 'others' THEN NOT {IS_OF_CUSTOMER}
         ELSE true END
"""
