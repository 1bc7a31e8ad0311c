"""What people are called, in the tables `users`, `scim_profiles` and `identities`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.affiliations import NAMES, SAID
from adapters.postgres.sessions.callers import CallersBySession, caller_row, reading_caller, reading_own_caller
from core.accounts.names import PersonNames
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.profile import NamedCaller

if TYPE_CHECKING:
    from core.deferred import Deferred

_NAMES: Final = f"u.name AS own, {NAMES}"
_OF_USER: Final = f"""
    FROM      users u
    LEFT JOIN scim_profiles p ON p.organization_id = %(organization_id)s AND p.user_id = u.id
    {SAID.format(organization_id="%(organization_id)s", user_id="u.id")}
    WHERE     u.id = %(user_id)s
"""
_COLUMNS: Final = f"""
    {_NAMES},
    (SELECT email
     FROM   one_time_tokens
     WHERE  user_id = s.user_id AND purpose = %(purpose)s AND used_at IS NULL AND expires_at > %(now)s)
        AS requested_email
"""
_TABLES: Final = f"""
    LEFT JOIN scim_profiles p ON p.organization_id = s.organization_id AND p.user_id = s.user_id
    {SAID.format(organization_id="s.organization_id", user_id="s.user_id")}
"""
OF_SESSION_WITH_NAMES: Final = reading_caller(_COLUMNS, _TABLES)
OF_OWN_SESSION_WITH_NAMES: Final = reading_own_caller(_COLUMNS, _TABLES)


class PostgresPersonNames(CallersBySession):
    """The port `StoredNames`."""

    def defer_of(self, user_id: UUID, organization_id: UUID | None) -> Deferred[PersonNames]:
        found = self._defer_one(
            PersonNames,
            f"SELECT {_NAMES} {_OF_USER}",
            {"user_id": user_id, "organization_id": organization_id},
        )
        return lambda: found() or PersonNames(own=None)

    def of_session(self, session_id: UUID, *, is_limited: bool = False) -> NamedCaller | None:
        return self._of_session(
            _named_caller,
            OF_OWN_SESSION_WITH_NAMES,
            OF_SESSION_WITH_NAMES,
            session_id,
            is_limited=is_limited,
            purpose=TokenPurpose.CHANGE_EMAIL,
        )


def _named_caller(
    *,
    own: str | None,
    display_name: str | None,
    formatted_name: str | None,
    given_name: str | None,
    family_name: str | None,
    requested_email: str | None,
    **columns: Any,
) -> NamedCaller:
    return NamedCaller(
        caller=caller_row(**columns),
        names=PersonNames(
            own=own,
            display_name=display_name,
            formatted_name=formatted_name,
            given_name=given_name,
            family_name=family_name,
        ),
        requested_email=requested_email,
    )
