"""The callers of requests, read from the tables `sessions`, `users` and those of their context."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.domains_in_force import ENFORCED_ROUTE, in_force_at
from adapters.postgres.sessions.customer_contexts import CONTEXT, IS_OPEN_TO_INDIVIDUALS, OPEN_CUSTOMER
from adapters.postgres.sessions.token_additions import additions, additions_row
from adapters.postgres.transaction import Aggregate
from core.deferred import Deferred
from core.sessions.account import CallerAccount
from core.sessions.callers import Caller
from core.sessions.client_grants import ClientGrant
from core.sessions.confinement import Confinement
from core.sessions.customer_contexts import CustomerContext
from core.sessions.limits import CallerLimits
from core.sessions.mfa_methods import MfaMethods
from core.sessions.places import CallerPlace, CallerService, ServicePlan
from core.sessions.refresh import Refreshable
from core.sessions.security_profiles import SecurityProfile
from core.sessions.session import CallerSession
from core.sessions.sessions import IDLE_LIFETIME, ParentSession
from core.sessions.token_additions import TokenSubject

# Of a session `s`.
IS_LIVE: Final = "s.revoked_at IS NULL AND s.expires_at > %(now)s AND s.refreshed_at > %(used_since)s"
# Of the impersonator `i` of a session `s`, if it has one.
IS_IMPERSONATOR_OWNER: Final = "(s.impersonator_id IS NULL OR (i.is_platform_owner AND i.deactivated_at IS NULL))"


def lacks_mailed_proof(session: LiteralString) -> LiteralString:
    """Return whether the person of a former address may hold this session of a user `u`, older than the proof."""
    return f"""
        (u.changed_by_service_at IS NOT NULL OR COALESCE({session}.created_at < u.email_verified_at, false))
    """


def counts(membership: LiteralString, session: LiteralString) -> LiteralString:
    """Return whether a membership of a user `u` counts in this session.

    What is unconfirmed is not this user's before a proof (decisions 2.8 and 5.7).
    """
    return f"""
        ({membership}.confirmed_at IS NOT NULL OR (u.disowned_at IS NULL AND NOT {lacks_mailed_proof(session)}))
    """


_LACKS_MAILED_PROOF: Final = lacks_mailed_proof("s")
_COUNTS: Final = counts("cm", "s")
# Whether the customer of a session `s` of a user `u` at a service `v` is open to them.
IS_CUSTOMER_OPEN: Final = f"EXISTS (SELECT {OPEN_CUSTOMER} AND {_COUNTS})"
# Every table is read by a primary or another unique key, so that no table's size matters.
CALLER: Final = f"""
    u.id                                AS "account.id",
    u.email                             AS "account.email",
    u.email_verified_at                 AS "account.email_verified_at",
    u.is_platform_owner                 AS "account.is_platform_owner",
    u.created_at                        AS "account.created_at",
    s.id                                AS "session.id",
    s.amr                               AS "session.amr",
    s.authenticated_at                  AS "session.authenticated_at",
    s.device_id                         AS "session.device_id",
    s.organization_id                   AS "place.organization_id",
    o.slug                              AS "place.organization_slug",
    o.status                            AS "place.organization_status",
    m.role                              AS "place.role",
    r.permissions                       AS "place.custom_permissions",
    s.service_id                        AS "service.id",
    v.slug                              AS "service.slug",
    v.client_id                         AS "service.client_id",
    e.user_id IS NOT NULL               AS "service.is_user",
    s.impersonator_id                   AS "limits.impersonator_id",
    coalesce(o.mfa_required, false)     AS "place.requires_mfa",
    coalesce(o.mfa_methods, 'any')      AS "place.mfa_methods",
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
    CASE WHEN v.group_claims <> '{{}}' THEN coalesce((
        SELECT jsonb_agg(jsonb_build_object('id', named.id, 'name', named.display_name)
                         ORDER BY lower(named.display_name), named.id)
        FROM   (SELECT g.id, g.display_name
                FROM   directory_group_members i
                JOIN   directory_groups g ON g.organization_id = i.organization_id AND g.id = i.group_id
                WHERE  i.organization_id = m.organization_id AND i.user_id = m.user_id
                  AND  ('all' = ANY (v.group_claims) OR g.id::text = ANY (v.group_claims))
                LIMIT  101) AS named
    ), '[]') END                        AS "service.groups",
    CASE WHEN s.service_id IS NOT NULL OR s.confined_to IS NOT NULL
         THEN EXISTS (SELECT FROM memberships
                      WHERE  user_id = s.user_id AND confirmed_at IS NOT NULL
                        -- To a service, membership in any organization is elsewhere.
                        AND  (s.service_id IS NOT NULL OR organization_id <> s.confined_to))
              OR EXISTS (SELECT FROM service_users
                         WHERE  user_id = s.user_id
                           AND  organization_id <> CASE WHEN s.service_id IS NOT NULL THEN s.organization_id
                                                        ELSE s.confined_to END
                           -- A link that an organization made, and its user never used, does not count.
                           AND  last_login_at IS NOT NULL)
              -- An address under another organization's enforced route counts without membership (decisions 13.6).
              OR EXISTS (SELECT {ENFORCED_ROUTE}
                           AND  u.disowned_at IS NULL
                           AND  route.organization_id <> CASE WHEN s.service_id IS NOT NULL THEN s.organization_id
                                                              ELSE s.confined_to END)
         ELSE false END                 AS "account.belongs_elsewhere",
    s.confined_to                       AS "confinement.organization_id",
    s.confined_to_service               AS "confinement.service_id",
    s.connection_id                     AS "session.connection_id",
    u.disowned_at IS NOT NULL           AS "account.is_disowned",
    {_LACKS_MAILED_PROOF} AS "limits.lacks_mailed_proof",
    s.confined_to_role                  AS "confinement.role",
    s.lacks_connection                  AS "confinement.lacks_connection",
    s.customer_id                       AS "place.customer_id",
    CASE WHEN s.customer_id IS NOT NULL THEN (
        {CONTEXT} AND {_COUNTS}
    ) END                               AS "place.customer",
    {IS_OPEN_TO_INDIVIDUALS}            AS "service.is_open_to_individuals",
    v.security_profile                  AS "service.security_profile",
    -- Without a verified address or a second factor the appointment gives no power (decisions 5.12).
    u.is_platform_support AND u.mfa_enabled_at IS NOT NULL AND u.email_verified_at IS NOT NULL
        AND u.disowned_at IS NULL       AS "account.is_platform_support"
"""
LIVE: Final = f"""
    FROM   sessions s
    JOIN   users u                   ON u.id = s.user_id
    LEFT   JOIN organizations o      ON o.id = s.organization_id
    LEFT   JOIN memberships m        ON m.organization_id = s.organization_id AND m.user_id = s.user_id
                                    AND m.suspended_at IS NULL
                                    -- For a customer its user has no role of the vendor (decisions 15.4).
                                    AND s.customer_id IS NULL
                                    AND {counts("m", "s")}
    LEFT   JOIN organization_roles r ON r.organization_id = m.organization_id AND r.slug = m.role
    LEFT   JOIN services v           ON v.id = s.service_id
    LEFT   JOIN service_users e      ON e.service_id = s.service_id AND e.user_id = s.user_id
                                    AND (e.last_login_at IS NOT NULL
                                         OR (u.disowned_at IS NULL AND NOT {_LACKS_MAILED_PROOF}))
    LEFT   JOIN users i              ON i.id = s.impersonator_id
"""
LIVE_SESSION: Final = f"""
    WHERE  s.id = %(session_id)s
      AND  {IS_LIVE}
      AND  u.deactivated_at IS NULL AND u.locked_at IS NULL
      AND  {IS_IMPERSONATOR_OWNER}
      AND  o.status IS DISTINCT FROM 'deleting'
"""
OF_SESSION: Final = f"SELECT {CALLER} {LIVE} {LIVE_SESSION}"
ADDITIONS: Final = additions(counts("dm", "s"))
SUBJECT: Final = f"SELECT {CALLER}, {ADDITIONS} {LIVE} {LIVE_SESSION}"
_REFRESH: Final = """
    s.refresh_hash, s.exchanged_at, s.expires_at, g.scopes, g.audience, g.key_thumbprint, g.host,
    g.requested_claims, v.service_type IN ('web', 'api') AS is_confidential
"""
_OF_GRANT: Final = ("scopes", "audience", "key_thumbprint", "host", "requested_claims")
_CLIENT_GRANT: Final = "LEFT JOIN client_grants g ON g.session_id = s.id"
# The bound and the domain are those of a browser's session.
PARENT: Final = f"""
    SELECT {CALLER},
           CASE WHEN b.session_id IS NOT NULL THEN s.bounded_until END AS bounded_until,
           d.organization_id AS domain_organization_id
    {LIVE}
    LEFT   JOIN browser_sessions b ON b.session_id = s.id
    LEFT   JOIN custom_domains d   ON d.id = b.domain_id
    {LIVE_SESSION}
      AND  s.user_id = %(user_id)s
    FOR NO KEY UPDATE OF s
"""
REFRESHABLE: Final = f"SELECT {CALLER}, {ADDITIONS}, {_REFRESH} {LIVE} {_CLIENT_GRANT} {LIVE_SESSION}"


class PostgresCallers(Aggregate):
    """The port `Callers`."""

    def of_session(self, session_id: UUID) -> Caller | None:
        return self._caller(caller_row, OF_SESSION, {"session_id": session_id, **live_at(self._transaction.now)})

    def defer_of_session(self, session_id: UUID) -> Deferred[Caller | None]:
        return self._defer_one(caller_row, OF_SESSION, {"session_id": session_id, **live_at(self._transaction.now)})

    def subject(self, session_id: UUID) -> TokenSubject | None:
        return self._caller(subject_row, SUBJECT, {"session_id": session_id, **live_at(self._transaction.now)})

    def defer_subject(self, session_id: UUID) -> Deferred[TokenSubject | None]:
        return self._defer_one(subject_row, SUBJECT, {"session_id": session_id, **live_at(self._transaction.now)})

    def defer_lock_parent(self, session_id: UUID, user_id: UUID) -> Deferred[ParentSession | None]:
        return self._defer_one(
            _parent_row, PARENT, {"session_id": session_id, "user_id": user_id, **live_at(self._transaction.now)}
        )


def live_at(now: datetime) -> dict[str, datetime]:
    """Return the values of `IS_LIVE` and `CALLER` at that time."""
    return {"now": now, "used_since": now - IDLE_LIFETIME, **in_force_at(now)}


def caller_row(**columns: Any) -> Caller:
    """Return the caller of a row with the columns of `CALLER`, each of which names its part and its field."""
    parts: dict[str, dict[str, Any]] = {}
    for name, value in columns.items():
        part, _, field = name.partition(".")
        parts.setdefault(part, {})[field] = value
    place, service, confinement, session = parts["place"], parts["service"], parts["confinement"], parts["session"]
    customer = place.pop("customer")
    return Caller(
        account=CallerAccount(**parts["account"]),
        session=CallerSession(**session),
        place=CallerPlace(
            mfa_methods=MfaMethods(place.pop("mfa_methods")),
            customer=customer_context(customer) if customer is not None else None,
            service=_service(**service) if service["id"] is not None else None,
            **place,
        ),
        limits=CallerLimits(
            confinement=(
                Confinement(connection_id=session["connection_id"], **confinement)
                if confinement["organization_id"] is not None
                else None
            ),
            **parts["limits"],
        ),
    )


def _service(*, plan: dict[str, Any] | None, security_profile: str | None, **columns: Any) -> CallerService:
    return CallerService(
        plan=_plan(plan) if plan is not None else None,
        security_profile=SecurityProfile(security_profile) if security_profile is not None else None,
        **columns,
    )


def _plan(described: dict[str, Any]) -> ServicePlan:
    plan_id, period_end = described.pop("id"), described.pop("current_period_end")
    return ServicePlan(
        id=UUID(plan_id),
        current_period_end=datetime.fromisoformat(period_end).astimezone(UTC) if period_end is not None else None,
        **described,
    )


def subject_row(
    *, own_scopes: dict[str, Any] | None, own_claims: dict[str, Any] | None, **columns: Any
) -> TokenSubject:
    """Return the subject of tokens of a row with the columns of `CALLER` and `ADDITIONS`."""
    return TokenSubject(
        caller=caller_row(**columns), additions=additions_row(own_scopes=own_scopes, own_claims=own_claims)
    )


def customer_context(described: dict[str, Any]) -> CustomerContext:
    """Return what the user is for a customer, as `CONTEXT` describes it."""
    ids = {name: UUID(described.pop(name)) for name in ("id", "organization_id")}
    return CustomerContext(mfa_methods=MfaMethods(described.pop("mfa_methods")), **ids, **described)


def _parent_row(
    *, bounded_until: datetime | None, domain_organization_id: UUID | None, **columns: Any
) -> ParentSession:
    return ParentSession(
        caller=caller_row(**columns), bounded_until=bounded_until, domain_organization_id=domain_organization_id
    )


def refreshable_row(
    *,
    refresh_hash: bytes,
    exchanged_at: list[datetime],
    expires_at: datetime,
    is_confidential: bool | None,
    **columns: Any,
) -> Refreshable:
    """Return the session of a row with the columns of `REFRESHABLE`."""
    granted = {name: columns.pop(name) for name in _OF_GRANT}
    client_grant = None
    if granted["scopes"] is not None:
        client_grant = ClientGrant(**granted, is_confidential=bool(is_confidential))
    subject = subject_row(**columns)
    return Refreshable(
        caller=subject.caller,
        additions=subject.additions,
        refresh_hash=refresh_hash,
        exchanged_at=exchanged_at,
        expires_at=expires_at,
        client_grant=client_grant,
    )
