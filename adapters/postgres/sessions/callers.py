"""The callers of requests, read from the tables `sessions` and `users` and the tables of their context."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from string import Template
from typing import Any, Final, LiteralString, cast
from uuid import UUID

from adapters.postgres.domains_in_force import ENFORCED_ROUTE, in_force_at
from adapters.postgres.driver.columns import Row
from adapters.postgres.session_kinds import SessionKind
from adapters.postgres.sessions.customer_contexts import (
    CUSTOMER_ROLE,
    IS_ADMITTED,
    IS_OPEN_TO_INDIVIDUALS,
    OPEN_CUSTOMER,
    OWN_ROLES,
    ROLES,
    SHOWN_GROUPS,
)
from adapters.postgres.sessions.token_additions import additions, additions_row
from adapters.postgres.transaction import Aggregate
from core.deferred import Deferred
from core.sessions.caller_limits import CallerLimits, Confinement
from core.sessions.callers import Caller, CallerAccount, CallerSession
from core.sessions.client_grants import ClientGrant
from core.sessions.customer_contexts import CustomerContext
from core.sessions.group_forms import GroupsAs
from core.sessions.mfa_methods import MfaMethods
from core.sessions.places import CallerPlace, CallerService, ServicePlan
from core.sessions.refresh import Refreshable
from core.sessions.security_profiles import SecurityProfile
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

    An unconfirmed membership was given to the address. It counts only for a session whose user has proved the address.
    """
    return f"""
        ({membership}.confirmed_at IS NOT NULL OR (u.disowned_at IS NULL AND NOT {lacks_mailed_proof(session)}))
    """


_LACKS_MAILED_PROOF: Final = lacks_mailed_proof("s")
_COUNTS: Final = counts("cm", "s")
# Whether a user `u` may use the service `v` for the customer of a session `s`.
IS_CUSTOMER_OPEN: Final = f"EXISTS (SELECT {OPEN_CUSTOMER} AND {_COUNTS})"
# Without a verified address or a second factor the appointment gives no power.
_IS_PLATFORM_SUPPORT: Final = """
    (u.is_platform_support AND u.mfa_enabled_at IS NOT NULL AND u.email_verified_at IS NOT NULL
     AND u.disowned_at IS NULL)
"""
# Whether a session `s` of a user `u` is live, at an organization `o`, begun by its own user.
_LIVE_OWN_SESSION: Final = f"""
    s.id = %(session_id)s
    AND {IS_LIVE}
    AND u.deactivated_at IS NULL AND u.locked_at IS NULL
    AND o.status IS DISTINCT FROM 'deleting'
"""
# The same with an impersonator `i`, if it has one.
LIVE_SESSION: Final = f"{_LIVE_OWN_SESSION} AND {IS_IMPERSONATOR_OWNER}"


def _text(file: str) -> Template:
    # What stands before the empty line says what the file is; the server need not read it.
    return Template((resources.files("adapters.postgres.sessions") / file).read_text("utf-8").partition("\n\n")[2])


_TEXT: Final = _text("callers.sql")
# Columns that most sessions of services do not need, and that PostgreSQL would prepare at each execution, with their
# values for a session without a customer at a service without rules, roles, groups, scopes and claims of its own, whose
# user has no custom role and is not impersonated.
_EXTRAS: Final[Mapping[str, LiteralString]] = {
    '"place.custom_permissions"': "NULL::text[]",
    '"place.customer"': "NULL::jsonb",
    '"service.groups"': "NULL::jsonb",
    '"service.roles"': "NULL::text[]",
    '"service.is_admitted"': "true",
    '"service.is_open_to_individuals"': "true",
    "own_scopes": "NULL::jsonb",
    "own_claims": "NULL::jsonb",
}
# The roles and the impersonators that none of these sessions has.
_EXTRA_TABLES: Final = re.compile(r"LEFT +JOIN (?:organization_roles r|users i) .*")
_WITHOUT_EXTRAS: Final = """
  AND  s.customer_id IS NULL
  AND  coalesce(m.role, 'member') IN ('owner', 'admin', 'member')
  AND  (s.service_id IS NULL
        OR (v.access = 'everyone' AND v.individuals = 'all' AND v.roles = '[]' AND v.group_claims = '{}'
            AND v.scopes = '[]' AND v.claims = '[]'))
"""
# Tokens do not say whether their user belongs elsewhere as well; who reads what they say takes it that they do.
_IN_TOKENS: Final[Mapping[str, LiteralString]] = {
    '"account.belongs_elsewhere"': "(s.service_id IS NOT NULL OR s.confined_to IS NOT NULL)"
}
_LEAN_TEXT: Final = _text("lean_callers.sql")
_PARTS: Final = {
    "is_platform_support": _IS_PLATFORM_SUPPORT,
    "lacks_mailed_proof": _LACKS_MAILED_PROOF,
    "membership_counts": counts("m", "s"),
    "customer_membership_counts": _COUNTS,
    "enforced_route": ENFORCED_ROUTE,
    "customer_role": CUSTOMER_ROLE,
    "customer_roles": ROLES,
    "own_roles": OWN_ROLES,
    "customer_groups": SHOWN_GROUPS,
    "open_customer": OPEN_CUSTOMER,
    "is_admitted": IS_ADMITTED,
    "is_open_to_individuals": IS_OPEN_TO_INDIVIDUALS,
}


def reading_caller(
    columns: LiteralString = "",
    tables: LiteralString = "",
    *,
    session: LiteralString = "sessions s",
    condition: LiteralString = LIVE_SESSION,
) -> LiteralString:
    """Return the statement that reads a caller, with these further columns and the joins that they need.

    `session` is used in place of the table of sessions.
    """
    more = f", {columns}" if columns else ""
    text = _TEXT.substitute(_PARTS, session=session, more_columns=more, more_tables=tables, condition=condition)
    return cast("LiteralString", text)


@cache
def without_extras(text: LiteralString) -> LiteralString:
    """Return a statement that reads a caller, for those sessions alone that need nothing of `_EXTRAS`."""
    lean = _EXTRA_TABLES.sub("", _with(_EXTRAS, text)).replace(IS_IMPERSONATOR_OWNER, "s.impersonator_id IS NULL")
    return cast("LiteralString", f"{lean} {_WITHOUT_EXTRAS}")


def _with(constants: Mapping[str, LiteralString], text: LiteralString) -> LiteralString:
    """Return a statement that reads a caller, with these in place of its columns of that name."""
    columns, rest = _columns(text)
    taken = ", ".join(f"{constants[name]} AS {name}" if name in constants else own for name, own in columns.items())
    return cast("LiteralString", f"SELECT {taken} {rest}")


def _columns(text: str) -> tuple[dict[str, str], str]:
    """Return the columns of a statement that reads a caller, by their names, and what follows them."""
    text = re.sub(r"--[^\n]*", "", text).strip().removeprefix("SELECT")
    columns: dict[str, str] = {}
    depth = start = 0
    for part in re.finditer(r"[()]|,|\bFROM\b", text):
        if part[0] in "()":
            depth += 1 if part[0] == "(" else -1
        elif not depth:
            column = text[start : part.start()]
            columns[column.split()[-1]] = column
            start = part.end()
            if part[0] == "FROM":
                break
    return columns, f"FROM {text[start:]}"


def reading_own_caller(
    columns: LiteralString = "", tables: LiteralString = "", *, ending: LiteralString = ""
) -> LiteralString:
    """Return what `reading_caller` does, for the account's own sessions alone; `ending` stands behind its condition."""
    more = f", {columns}" if columns else ""
    text = _LEAN_TEXT.substitute(_PARTS, more_columns=more, more_tables=tables, condition=_LIVE_OWN_SESSION)
    return cast("LiteralString", f"{text}{ending}")


OF_SESSION: Final = reading_caller()
OF_OWN_SESSION: Final = reading_own_caller()
ADDITIONS: Final = additions(counts("dm", "s"))
SUBJECT: Final = _with(_IN_TOKENS, reading_caller(ADDITIONS))
_OF_GRANT: Final = ("scopes", "audience", "key_thumbprint", "host", "requested_claims")
_STORED: Final = "s.refresh_hash, s.exchanged_at, s.expires_at"
_REFRESHED: Final = f"{_STORED}, g.scopes, g.audience, g.key_thumbprint, g.host, g.requested_claims"
_GRANT: Final = "LEFT JOIN client_grants g ON g.session_id = s.id"
REFRESHABLE: Final = _with(
    _IN_TOKENS,
    reading_caller(f"{ADDITIONS}, {_REFRESHED}, v.service_type IN ('web', 'api') AS is_confidential", _GRANT),
)
# Before anything is granted.
NEW_REFRESHABLE: Final = _with(_IN_TOKENS, reading_caller(f"{ADDITIONS}, {_STORED}"))
OWN_REFRESHABLE: Final = reading_own_caller(_REFRESHED, _GRANT)
# The bound and the domain of a browser's session.
_OF_BROWSER: Final = """
    CASE WHEN b.session_id IS NOT NULL THEN s.bounded_until END AS bounded_until,
    d.organization_id AS domain_organization_id
"""
_BROWSER: Final = """
    LEFT   JOIN browser_sessions b ON b.session_id = s.id
    LEFT   JOIN custom_domains d   ON d.id = b.domain_id
"""
_LOCKED: Final = "AND s.user_id = %(user_id)s FOR NO KEY UPDATE OF s"
PARENT: Final = reading_caller(_OF_BROWSER, _BROWSER, condition=f"{LIVE_SESSION} {_LOCKED}")
OWN_PARENT: Final = reading_own_caller(_OF_BROWSER, _BROWSER, ending=_LOCKED)


class CallersBySession(Aggregate):
    """What the ports have in common that read the callers of sessions."""

    def _of_session(
        self,
        make: Callable[..., Row],
        own_text: LiteralString,
        text: LiteralString,
        session_id: UUID,
        *,
        is_limited: bool = False,
        **values: Any,
    ) -> Row | None:
        """Return the row of a live session; None when it has ended.

        The statement for the kind that is known of it comes first: an account's own unless it `is_limited`, as its
        token or its use says. What that does not find, the next one is asked for.
        """
        known = {**self._known(session_id), **values}
        kinds = self._transaction.session_kinds
        kind = kinds.of(session_id, otherwise=SessionKind.LIMITED if is_limited else SessionKind.OWN)
        found = self._caller(make, own_text, known) if kind is SessionKind.OWN else None
        if found is None and kind is not SessionKind.WHOLE:
            found = self._caller(make, without_extras(text), known)
            if kind is SessionKind.OWN:
                # The token or the use of a limited session says so each time; it may also be an account's own session.
                self._noted(session_id, found, SessionKind.LIMITED)
        if found is None:
            found = self._noted(session_id, self._caller(make, text, known), SessionKind.WHOLE)
        return found

    def _defer_of_limited(
        self, make: Callable[..., Row], text: LiteralString, session_id: UUID
    ) -> Deferred[Row | None]:
        """Defer the same for a session that is not an account's own."""
        known = self._known(session_id)
        if self._transaction.session_kinds.of(session_id) is SessionKind.WHOLE:
            return self._defer_one(make, text, known)
        found = self._defer_one(make, without_extras(text), known)
        return lambda: found() or self._noted(session_id, self._one(make, text, known), SessionKind.WHOLE)

    def _defer_without_extras(
        self, make: Callable[..., Row], text: LiteralString, known: dict[str, Any]
    ) -> Deferred[Row | None]:
        """Defer reading a row without `_EXTRAS`; what that statement does not find, the whole one is asked for."""
        found = self._defer_one(make, without_extras(text), known)
        return lambda: found() or self._one(make, text, known)

    def _known(self, session_id: UUID) -> dict[str, Any]:
        """Return the values of `callers.sql`."""
        return {"session_id": session_id, **live_at(self._transaction.now)}

    def _noted(self, session_id: UUID, found: Row | None, kind: SessionKind) -> Row | None:
        """Remember the kind of a session that was found."""
        if found is not None:
            self._transaction.session_kinds.add(session_id, kind)
        return found


class PostgresCallers(CallersBySession):
    """The port `Callers`."""

    def of_session(self, session_id: UUID, *, is_limited: bool = False) -> Caller | None:
        return self._of_session(caller_row, OF_OWN_SESSION, OF_SESSION, session_id, is_limited=is_limited)

    def subject(self, session_id: UUID, *, is_limited: bool = False) -> TokenSubject | None:
        return self._of_session(subject_row, OF_OWN_SESSION, SUBJECT, session_id, is_limited=is_limited)

    def defer_subject(self, session_id: UUID) -> Deferred[TokenSubject | None]:
        return self._defer_of_limited(subject_row, SUBJECT, session_id)

    def defer_lock_parent(self, session_id: UUID, user_id: UUID) -> Deferred[ParentSession | None]:
        known = {"user_id": user_id, **self._known(session_id)}
        if self._transaction.session_kinds.of(session_id) is not SessionKind.OWN:
            return self._defer_one(_parent_row, PARENT, known)
        own = self._defer_one(_parent_row, OWN_PARENT, known)
        return lambda: own() or self._noted(session_id, self._one(_parent_row, PARENT, known), SessionKind.LIMITED)


def live_at(now: datetime) -> dict[str, datetime]:
    """Return the values of `IS_LIVE` and `callers.sql` at that time."""
    return {"now": now, "used_since": now - IDLE_LIFETIME, **in_force_at(now)}


def caller_row(**columns: Any) -> Caller:
    """Return the caller of a row with the columns of `callers.sql`, each of which names its part and its field."""
    parts: dict[str, dict[str, Any]] = {}
    for name, value in columns.items():
        part, field = _part_and_field(name)
        parts.setdefault(part, {})[field] = value
    place, session = parts["place"], parts["session"]
    # The lean statement does not have what its sessions are without.
    service, confinement, customer = parts.get("service"), parts.get("confinement"), place.pop("customer", None)
    return Caller(
        account=CallerAccount(**parts["account"]),
        session=CallerSession(**session),
        place=CallerPlace(
            mfa_methods=MfaMethods(place.pop("mfa_methods")),
            customer=customer_context(customer) if customer is not None else None,
            service=_service(**service) if service is not None and service["id"] is not None else None,
            **place,
        ),
        limits=CallerLimits(
            confinement=(
                Confinement(connection_id=session["connection_id"], **confinement)
                if confinement is not None and confinement["organization_id"] is not None
                else None
            ),
            **parts["limits"],
        ),
    )


@cache
def _part_and_field(column: str) -> tuple[str, str]:
    part, _, field = column.partition(".")
    # Interned for calls by name, as the columns are (`statements.py`).
    return sys.intern(part), sys.intern(field)


def _service(
    *, plan: dict[str, Any] | None, security_profile: str | None, groups_as: str, **columns: Any
) -> CallerService:
    return CallerService(
        plan=_plan(plan) if plan is not None else None,
        groups_as=GroupsAs(groups_as),
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
    *, own_scopes: dict[str, Any] | None = None, own_claims: dict[str, Any] | None = None, **columns: Any
) -> TokenSubject:
    """Return the subject of tokens of a row with the columns of `callers.sql` and `ADDITIONS`."""
    return TokenSubject(
        caller=caller_row(**columns), additions=additions_row(own_scopes=own_scopes, own_claims=own_claims)
    )


def customer_context(described: dict[str, Any]) -> CustomerContext:
    """Return what the user is for a customer, as `callers.sql` describes it."""
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
    is_confidential: bool | None = None,
    **columns: Any,
) -> Refreshable:
    """Return the session of a row with the columns of `REFRESHABLE` or `NEW_REFRESHABLE`."""
    granted = {name: columns.pop(name, None) for name in _OF_GRANT}
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
