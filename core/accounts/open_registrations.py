"""Open registrations of an unproved address, each with a password and name of its own.

Anyone can register any address, so the password of a registration is not the account's until the link of that
registration is used. It is kept as long as that link is valid. Registrations are created in `registration.py`; their
links are in `email_verification.py`. Until the address is proved, a sign-in compares with the newest password alone.

The passwords of one address are hashed with one salt: a registration that repeats the password of another one is found
by its hash, without a comparison, whose time would tell how many there are.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import return_targets
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.return_targets import RequestingBrowser, ReturnTarget
from core.accounts.users import User
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRegistration:
    """A registration of an address that is not proved: its password, and when and from where it was made.

    `data` says where it leads, and in which browser it was made. One without an end was imported by the operator.
    """

    id: UUID
    user_id: UUID
    email: str
    password_hash: str = field(repr=False)
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    ip_address: str | None
    geo_country: str | None
    geo_city: str | None
    created_at: datetime
    expires_at: datetime | None
    name: str | None = field(default=None, repr=False)

    @property
    def browser(self) -> RequestingBrowser | None:
        """The browser in which it was made on a page; None when a program has made it."""
        return return_targets.recall_browser(self.data)

    @property
    def stored_way(self) -> dict[str, Any]:
        """The return target and the browser as they are stored, for a link that is sent again."""
        return dict(self.data)

    @property
    def origin(self) -> str:
        """The address of its client with the place, as far as they are known; else an empty text."""
        place = ", ".join(part for part in (self.geo_city, self.geo_country) if part is not None)
        return " ".join(part for part in (self.ip_address or "", f"({place})" if place else "") if part)


def salt_of(uow: UnitOfWork, email: str) -> bytes:
    """Return the salt for hashing the passwords of all registrations of a normalized address."""
    return uow.pepper.mark("salt of registrations", email.encode())[:SALT_BYTES]


def begin(
    uow: UnitOfWork,
    user_id: UUID,
    email: str,
    password_hash: str,
    back: ReturnTarget,
    browser: RequestingBrowser | None,
    *,
    name: str | None = None,
) -> OpenRegistration:
    """Return a new registration, which is not kept yet."""
    location = uow.locations.find(uow.origin.ip_address)
    return OpenRegistration(
        id=uow.randomness.new_id(),
        user_id=user_id,
        email=email,
        password_hash=password_hash,
        data={**back.stored(), **(browser.stored() if browser is not None else {})},
        ip_address=uow.origin.ip_address,
        geo_country=location.country if location is not None else None,
        geo_city=location.city if location is not None else None,
        created_at=uow.now,
        expires_at=uow.now + TokenPurpose.VERIFY_EMAIL.lifetime,
        name=name,
    )


def repeated(uow: UnitOfWork, registration: OpenRegistration) -> OpenRegistration | None:
    """Return the open registration of the same account, address and password; None without one."""
    return uow.open_registrations.with_hash(
        registration.user_id, registration.email, registration.password_hash, at=uow.now
    )


def prolong(uow: UnitOfWork, registration: OpenRegistration, *, by: OpenRegistration) -> None:
    """Keep a registration as long as the link of the one that repeats it is valid; nothing else of it changes.

    Without any to repeat, the same statement changes nothing.
    """
    uow.open_registrations.prolong(registration.user_id, registration.id, until=by.expires_at)


def keep(uow: UnitOfWork, registration: OpenRegistration) -> None:
    """Keep a registration; without the account, do the same work. Its name waits for its link."""
    uow.open_registrations.add(registration)


def end(uow: UnitOfWork, user: User, registration: OpenRegistration) -> None:
    """End a registration with all of its links; the newest of the others is the one that a sign-in compares with."""
    uow.open_registrations.remove(user.id, registration.id)
    uow.one_time_tokens.withdraw_of_registration(user.id, registration.id, at=uow.now)


def end_all(uow: UnitOfWork, user_id: UUID) -> None:
    """End every registration of an account whose address is proved, and every link that would prove it."""
    uow.open_registrations.remove_all(user_id)
    uow.one_time_tokens.withdraw(user_id, TokenPurpose.VERIFY_EMAIL, at=uow.now)
