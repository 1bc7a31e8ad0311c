"""Registration: creating an account with a password.

Proving its address is in `verification.py`; pending invitations wait until it is proved. The password is hashed before
anything is read, so that the response time reveals no more about an address than the answer does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import return_targets, verification
from core.accounts.providers import Provider
from core.accounts.users import User, lock_unless_anonymized
from core.errors import Conflict
from core.events import person_events
from core.events.events import EventType
from core.mail import mail
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from core.accounts.return_targets import ReturnRequest, ReturnTarget
    from ports.unit_of_work import UnitOfWork


class AddressTaken(Conflict):
    """An account has the address."""

    default_message = "This email address is already registered. Sign in with it, or reset its password."


def register(uow: UnitOfWork, email: str, password_hash: str, return_request: ReturnRequest) -> None:
    """Create an account with a normalized address, and send the link that proves the address."""
    back = return_targets.find(uow, return_request)
    user = _account(uow, email)
    if not uow.users.add(user):
        raise AddressTaken
    uow.credentials.set_password_hash(user.id, password_hash)
    verification.send(uow, user, back)
    _publish(uow, user, back, is_new=True)


def register_evenly(uow: UnitOfWork, email: str, password_hash: str, return_request: ReturnRequest) -> None:
    """Create an account as `register` does, or mail the owner of the address that it has an account (decisions 12.7).

    Both take the same work, so that only the owner of the address learns which it was. An account that waits for its
    address to be proved gets the link again.
    """
    back = return_targets.find(uow, return_request)
    present = lock_unless_anonymized(uow, uow.users.by_email(email))
    if present is not None and not present.is_active:
        present = None
    user = _account(uow, email)
    is_new = uow.users.add(user)
    # Changes nothing unless the account is new.
    uow.credentials.set_password_hash(user.id, password_hash)
    unverified = user if is_new else None if present is None or present.is_verified else present
    verification.send(uow, unverified, back, requested_for=email)
    mail.send(
        uow,
        email,
        MailTemplate.ACCOUNT_EXISTS,
        organization_id=back.organization_id,
        is_discarded=present is None or not present.is_verified,
        place=back.name,
    )
    _publish(uow, user, back, is_new=is_new)


def _account(uow: UnitOfWork, email: str) -> User:
    return User(
        id=uow.randomness.new_id(),
        email=email,
        email_verified_at=None,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )


def _publish(uow: UnitOfWork, user: User, back: ReturnTarget, *, is_new: bool) -> None:
    """Publish the event of a new account; without one, the same statements publish nothing."""
    receivers = person_events.defer_receivers(uow, user.id, back.organization_id)()
    uow.publish_to_each(
        EventType.USER_SIGNUP_SUCCESS,
        receivers if is_new else (),
        actor_user_id=user.id,
        actor_email=user.email,
        provider=Provider.PASSWORD,
        service_id=str(back.service_id) if back.service_id is not None else None,
    )
