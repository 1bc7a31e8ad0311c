"""Registration: creating an account with a password.

Proving its address is in `verification.py`; pending invitations wait until it is proved. The password is hashed before
anything is read, so that the response time reveals no more about an address than the answer does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import return_targets, verification
from core.accounts.providers import Provider
from core.accounts.users import User
from core.errors import Conflict
from core.events import person_events
from core.events.events import EventType

if TYPE_CHECKING:
    from core.accounts.return_targets import ReturnRequest
    from ports.unit_of_work import UnitOfWork


class AddressTaken(Conflict):
    """An account has the address."""

    default_message = "This email address is already registered. Sign in with it, or reset its password."


def register(uow: UnitOfWork, email: str, password_hash: str, return_request: ReturnRequest) -> None:
    """Create an account with a normalized address, and send the link that proves the address."""
    back = return_targets.find(uow, return_request)
    user = User(
        id=uow.randomness.new_id(),
        email=email,
        email_verified_at=None,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )
    if not uow.users.add(user):
        raise AddressTaken
    uow.credentials.set_password_hash(user.id, password_hash)
    verification.send(uow, user, back)
    person_events.publish(
        uow,
        EventType.USER_SIGNUP_SUCCESS,
        user.id,
        user.email,
        organization_id=back.organization_id,
        provider=Provider.PASSWORD,
        service_id=str(back.service_id) if back.service_id is not None else None,
    )
