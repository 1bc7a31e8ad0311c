"""Changing one's own profile: the name at once, and the address by the link that is mailed to the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import email_changes, names, profile
from core.accounts.profile import Profile
from core.email_addresses import normalize_email
from core.errors import all_valid
from core.sessions import callers

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def change_profile(uow: UnitOfWork, *, email: str | None, name: str | None, names_account: bool) -> Profile:
    """Request another address for the caller's account unless it is None, and with `names_account` set the name.

    A name of None removes the name. Return the profile; raise what `names.change` and `email_changes.request` raise,
    and one `BadRequest` for both fields.
    """
    callers.require_whole_account(uow)
    all_valid(
        lambda: normalize_email(email, uow.domain_names.to_ascii) if email is not None else None,
        lambda: names.checked_or_none(name),
    )
    if names_account:
        names.change(uow, name)
    return email_changes.request(uow, email) if email is not None else profile.read(uow)
