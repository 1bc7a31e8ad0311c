"""Which second factors count for a session: any, or only those that cannot be passed on to another site.

A passkey signs for its own site alone, and the provider of a connection that an organization trusts with the second
factor has checked it. A copy of the sign-in page can ask for a code, and have a device trusted by it.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Final
from uuid import UUID

# The methods of the account's own factors (RFC 8176): a code, and a passkey.
_PASSKEY: Final = frozenset({"hwk", "swk"})
_OF_THE_ACCOUNT: Final = _PASSKEY | {"otp"}


class MfaMethods(StrEnum):
    """What an organization accepts where it requires a second factor."""

    ANY = "any"
    PHISHING_RESISTANT = "phishing_resistant"

    def are_met_by(self, amr: Collection[str], connection_id: UUID | None) -> bool:
        """Return whether a session has proved what counts; `connection_id` is the connection by which it began."""
        if self is MfaMethods.ANY:
            return have_second_factor(amr)
        return is_phishing_resistant(amr, connection_id)


def have_second_factor(amr: Collection[str]) -> bool:
    """Return whether the methods of a sign-in include a second factor, or a device that remembers one."""
    return "mfa" in amr or "trusted" in amr


def have_own_factor(amr: Collection[str], connection_id: UUID | None) -> bool:
    """Return whether a second factor of the account itself was proved, and not by a trusted connection alone."""
    return "mfa" in amr and (connection_id is None or not _OF_THE_ACCOUNT.isdisjoint(amr))


def is_phishing_resistant(amr: Collection[str], connection_id: UUID | None) -> bool:
    """Return whether two factors were proved, and one of them by a passkey, or both by a trusted connection."""
    return "mfa" in amr and (not _PASSKEY.isdisjoint(amr) or not have_own_factor(amr, connection_id))
