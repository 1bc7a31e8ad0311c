"""What people are called, in the tables `users` and `scim_profiles`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.transaction import Aggregate
from core.accounts.names import PersonNames
from core.accounts.one_time_tokens import TokenPurpose

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.deferred import Deferred

_NAMES: Final = "u.name AS own, p.display_name, p.formatted_name, p.given_name, p.family_name"
_OF_USER: Final = """
    FROM      users u
    LEFT JOIN scim_profiles p ON p.organization_id = %(organization_id)s AND p.user_id = u.id
    WHERE     u.id = %(user_id)s
"""


class PostgresPersonNames(Aggregate):
    """The port `StoredNames`."""

    def defer_of(self, user_id: UUID, organization_id: UUID | None) -> Deferred[PersonNames]:
        found = self._defer_one(
            PersonNames,
            f"SELECT {_NAMES} {_OF_USER}",
            {"user_id": user_id, "organization_id": organization_id},
        )
        return lambda: found() or PersonNames(own=None)

    def with_requested_email(
        self, user_id: UUID, organization_id: UUID | None, *, at: datetime
    ) -> tuple[PersonNames, str | None]:
        found = self._one(
            _with_requested_email,
            f"""
            SELECT    {_NAMES},
                      (SELECT email
                       FROM   one_time_tokens
                       WHERE  user_id = u.id AND purpose = %(purpose)s AND used_at IS NULL AND expires_at > %(at)s)
                          AS requested_email
            {_OF_USER}
            """,  # noqa: S608 - made of constants alone
            {"user_id": user_id, "organization_id": organization_id, "purpose": TokenPurpose.CHANGE_EMAIL, "at": at},
        )
        return found or (PersonNames(own=None), None)


def _with_requested_email(*, requested_email: str | None, **names: Any) -> tuple[PersonNames, str | None]:
    return PersonNames(**names), requested_email
