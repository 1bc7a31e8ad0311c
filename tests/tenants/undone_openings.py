"""Rules of what is read, of what waits and of what is imported, each undone by one patch; `ALL_UNDONE` are all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from adapters.postgres.accounts.own_accounts import PostgresOwnAccounts
from adapters.postgres.audit.entry_search import StoredLog
from adapters.postgres.organizations.found_members import PostgresFoundMembers
from adapters.postgres.sessions.shown_secrets import PostgresShownSecrets
from core.platform import search
from core.sessions.shown_secrets import KEPT_MAX, LIFETIME, Holder
from ports.unit_of_work import UnitOfWork
from tests.tenants.taking import Story
from tests.tenants.undone import UNDONE, Undone
from tests.tenants.undone_layers import LAYERS
from tests.tenants.undone_making import MAKINGS


def _nothing(_original: Any) -> Any:
    return lambda *_args, **_options: None


def _unless_locked(_original: Any) -> Any:
    """Return a property by which an account that is deactivated signs in."""
    return property(lambda user: user.locked_at is None)


def _of_anybody(_original: Any) -> Any:
    """Return a method by which an organization activates accounts that it has not deactivated."""

    def activate(
        accounts: PostgresOwnAccounts, _organization_id: UUID, user_ids: Sequence[UUID], *, at: datetime
    ) -> None:
        accounts._connection.execute_later(
            "UPDATE users SET deactivated_at = NULL, updated_at = %s WHERE id = ANY (%s)", (at, list(user_ids))
        )

    return activate


def _by_support(original: Any) -> Any:
    """Return a use case by which support opens what was imported as blocked."""

    def unlock(uow: UnitOfWork, user_id: UUID) -> None:
        original(uow, user_id)
        uow.users.unblock_imported(user_id)

    return unlock


def _all_removed(_original: Any) -> Any:
    """Return a method that takes every former member for one that was removed since."""
    return lambda _self, _organization_id, known_since: set(known_since)


def _at_the_same_time(original: Any) -> Any:
    """Return a method that also takes for removed whose address has changed at that time."""

    def removed(self: Any, organization_id: UUID, known_since: Mapping[UUID, datetime]) -> set[UUID]:
        before = {user_id: at - timedelta(microseconds=1) for user_id, at in known_since.items()}
        return original(self, organization_id, before)

    return removed


def _instead(present: str, other: str) -> Callable[[Any], Any]:
    """Return what puts another part into a statement in place of one."""

    def change(statement: str) -> str:
        assert present in statement, "the part is not in the statement any more"
        return statement.replace(present, other)

    return change


_BLOCK: Final = ("outlived a block",)
_ADDRESS: Final = ("told an address",)


def _of_any_holder(original: Any) -> Any:
    """Return a method by which any session, and any visitor, gets what is kept for another one."""

    def claim(secrets: PostgresShownSecrets, _holder: Holder, shown_id: UUID, *, page: str) -> Any:
        query = "SELECT session_id, setup_visit_hash FROM shown_secrets WHERE id = %s"
        row = secrets._connection.execute(query, (shown_id,)).fetchone()
        return (
            original(secrets, Holder(session_id=row[0], setup_visit_hash=row[1]), shown_id, page=page) if row else None
        )

    return claim


def _kept_on(original: Any) -> Any:
    """Return a method after which what it gave is kept as before."""

    def claim(secrets: PostgresShownSecrets, holder: Holder, shown_id: UUID, *, page: str) -> Any:
        found = original(secrets, holder, shown_id, page=page)
        if found is not None:
            expires_at = secrets._transaction.now + LIFETIME
            secrets.add(holder, shown_id, page=page, secrets=found, expires_at=expires_at, kept_max=KEPT_MAX)
        return found

    return claim


def _of_all_members(original: Any) -> Any:
    """Return a method that lists the members of the organization that has a part of an address."""

    def page(people: PostgresFoundMembers, organization_id: UUID, *, part: str, **options: Any) -> Any:
        query = "SELECT organization_id FROM memberships WHERE strpos(member_email, %s) > 0 AND organization_id <> %s"
        other = people._connection.execute(query, (part, organization_id)).fetchone() if part else None
        return original(people, other[0] if other is not None else organization_id, part=part, **options)

    return page


def _all_entries(original: StoredLog) -> StoredLog:
    """Return the log of all organizations."""
    return original._replace(rows="true")


_FOUND: Final = ("found",)
_SECRETS: Final = ("adapters.postgres.sessions.shown_secrets.PostgresShownSecrets", "claim")
_NAMES: Final = ("adapters.postgres.audit.entry_search", "_NAMES")
_KNOWN: Final = "adapters.postgres.webhooks.events"
OPENINGS: Final = (
    Undone(
        "an account that was imported as blocked signs in by no way",
        "core.accounts.users.User",
        "may_sign_in",
        _unless_locked,
        Story.SWITCHING,
        _BLOCK,
    ),
    Undone(
        "no organization opens an account that was imported as blocked",
        "adapters.postgres.accounts.own_accounts.PostgresOwnAccounts",
        "activate",
        _of_anybody,
        Story.SWITCHING,
        _BLOCK,
    ),
    Undone(
        "support opens no account that was imported as blocked",
        "core.platform.locks",
        "unlock",
        _by_support,
        Story.SWITCHING,
        _BLOCK,
    ),
    Undone(
        "receivers are told no address of a stranger",
        _KNOWN,
        "OF_USERS",
        _instead("THEN NULL\n", "THEN NULL WHEN true THEN NULL\n"),
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "members of another organization are strangers to receivers",
        _KNOWN,
        "OF_USERS",
        _instead("m.organization_id = %(organization_id)s AND m.user_id", "m.user_id"),
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "end users of another organization are strangers to receivers",
        _KNOWN,
        "OF_USERS",
        _instead("l.organization_id = %(organization_id)s AND l.user_id", "l.user_id"),
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "receivers are told no address that a person took after they had left",
        f"{_KNOWN}.PostgresKnownAddresses",
        "_removed",
        _all_removed,
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "receivers are told no address for which a person has left another one",
        f"{_KNOWN}.PostgresKnownAddresses",
        "_removed",
        _at_the_same_time,
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "what another organization removed counts for no receiver",
        _KNOWN,
        "_REMOVED",
        _instead("organization_id = %(organization_id)s AND target_type", "target_type"),
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "an audit log names no stranger",
        *_NAMES,
        _instead("THEN NULL\n", "THEN NULL WHEN true THEN NULL\n"),
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "an audit log names no person of a customer that the vendor knows no longer",
        *_NAMES,
        _instead("AND t.user_id = u.id AND t.told <> ''", ""),
        Story.READING,
        _ADDRESS,
    ),
    Undone(
        "a form that waits goes on in the browser that has sent it alone",
        *_SECRETS,
        _of_any_holder,
        Story.READING,
        ("another's form",),
    ),
    Undone("a form that waits goes on once", *_SECRETS, _kept_on, Story.READING, ("twice",)),
    Undone(
        "a form of another site does not wait",
        "entrypoints.web.serving.admission.browsers",
        "require_token",
        _nothing,
        Story.READING,
        ("another's form",),
    ),
    Undone(
        "a search finds no member of another organization",
        "adapters.postgres.organizations.found_members.PostgresFoundMembers",
        "page",
        _of_all_members,
        Story.READING,
        _FOUND,
    ),
    Undone(
        "a search finds no end user of another organization",
        "adapters.postgres.services.end_users",
        "FOUND_PAGE",
        lambda statement: _instead(" AND l.organization_id = %(organization_id)s) AS used", ") AS used")(
            _instead("WHERE  organization_id = %(organization_id)s\n      AND  (%(part)s", "WHERE (%(part)s")(statement)
        ),
        Story.READING,
        _FOUND,
    ),
    Undone(
        "a search finds no service of another organization",
        "adapters.postgres.services.found_services",
        "PAGE",
        _instead("WHERE  organization_id = %(organization_id)s\n      AND  (%(part)s", "WHERE (%(part)s"),
        Story.READING,
        _FOUND,
    ),
    Undone(
        "a search finds no customer of another vendor",
        "adapters.postgres.customers.found_customers",
        "NAMED",
        lambda statement: _instead("s.organization_id = %(vendor_id)s AND s.id", "s.id")(
            _instead("WHERE  c.vendor_id = %(vendor_id)s AND o.slug", "WHERE  o.slug")(statement)
        ),
        Story.READING,
        _FOUND,
    ),
    Undone(
        "a search finds no organization of another person",
        "adapters.postgres.organizations.organizations",
        "_SEARCHED",
        _instead("m.user_id = %(user_id)s AND m.made_for IS NULL", "m.made_for IS NULL"),
        Story.READING,
        _FOUND,
    ),
    Undone(
        "a search finds no entry of another log",
        "adapters.postgres.audit.entry_search",
        "OF_ORGANIZATION",
        _all_entries,
        Story.READING,
        _FOUND,
    ),
    Undone(
        "support finds nobody while it types",
        "core.platform.search",
        "find_while_typed",
        lambda _original: search.find,
        Story.READING,
        _FOUND,
    ),
)
ALL_UNDONE: Final = (*UNDONE, *OPENINGS, *MAKINGS, *LAYERS)
