"""The device flow (RFC 8628): a device shows a code, its user approves it in a browser, and the device gets tokens.

The device polls with the device code; its user types the user code. The user code is short, so it is stored as a keyed
hash, lives for five minutes only, and typing is rate-limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import NotFound, Refusal, SsoRequired
from core.lazy_dataclasses import dataclass
from core.openid import clients, dpop, requests, scopes
from core.openid.clients import Client, PresentedClient
from core.openid.dpop import DpopProof
from core.openid.refusals import (
    AccessDenied,
    AuthorizationPending,
    ClientInvalid,
    DeviceCodeExpired,
    GrantInvalid,
    OAuthRefusal,
    RequestInvalid,
    SlowDown,
)
from core.openid.token_grants import IssuedTokens, issued, take_over
from core.secrets import Secret, hash_token
from core.services import problems
from core.sessions import sessions
from core.sessions.browser_sessions import BrowserSession
from core.sessions.client_grants import ClientGrant
from core.sign_in import admission, child_sessions, places
from core.sign_in.admission import AddedBy, Settlement, SignInAgain
from core.sign_in.customer_choices import NotOpen, Undecided
from core.sign_in.mfa_challenges import BegunSession
from core.sign_in.places import Place
from core.sign_in.proofs import Destination

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The command `gatehouse` itself, which belongs to no organization: its sessions are on the platform.
COMMAND_LINE_CLIENT: Final = UUID("00000000-0000-7000-8000-0000000000c1")
# The page on which a user types the code, where the service has none of its own.
ACTIVATION_PATH: Final = "/auth/device"
GRANT_TYPE: Final = "urn:ietf:params:oauth:grant-type:device_code"
LIFETIME: Final = timedelta(seconds=300)
INTERVAL: Final = timedelta(seconds=5)
INTERVAL_MAX: Final = timedelta(seconds=60)
REUSED: Final = "device_code_reused"
# Consonants that look different in every typeface, and spell no words (RFC 8628, 6.1).
_ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
_GROUP_CHARACTERS: Final = 4


class UserCodeUnknown(NotFound):
    """There is no device with this code."""

    default_message = "No device shows this code. Look at the code again: it has eight letters."


class UserCodeExpired(DeviceCodeExpired):
    """The user code has expired, or was answered already."""

    default_message = "This code has expired, or was used already. Start again on the device."


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """A device that waits; `session_id` is set when its user has approved it, `email` is the user's.

    Without a service it is a command line. `host` is the custom host under which it began, None for the base URL.
    """

    organization_id: UUID | None
    service_id: UUID | None
    scopes: Sequence[str]
    audience: str | None
    ip_address: str | None
    user_agent: str | None
    created_at: datetime
    expires_at: datetime
    interval: timedelta
    host: str | None = None
    # By its id or slug.
    customer: str | None = None
    polled_at: datetime | None = None
    denied_at: datetime | None = None
    session_id: UUID | None = None
    used_at: datetime | None = None
    user_id: UUID | None = None
    email: str | None = None
    is_of_confidential_service: bool = False

    @property
    def is_answered(self) -> bool:
        """Whether a user has approved or denied the device."""
        return self.denied_at is not None or self.session_id is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedDeviceCode:
    """What a device gets: the code with which it polls, the code that it shows, and the service's page for it."""

    device_code: Secret
    user_code: str
    activation_uri: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingDevice:
    """A device as the user sees it before answering: its service, and the place where it began.

    Without a service it is a command line. The device has named the `customer` and the `scopes`.
    """

    client: Client | None
    organization_name: str | None
    ip_address: str | None
    user_agent: str | None
    created_at: datetime
    customer: str | None = None
    scopes: Sequence[str] = ()

    @property
    def sentences(self) -> Sequence[str]:
        """The descriptions of the requested scopes of the service."""
        return scopes.sentences(self.client.service, self.scopes) if self.client is not None else ()

    @property
    def serves_customers(self) -> bool:
        """Whether other organizations use its service."""
        return self.client is not None and self.client.service.serves_customers


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerConnectionDue:
    """The customer that the user has chosen requires a sign-in by this connection."""

    connection_id: UUID


def begin(
    uow: UnitOfWork,
    presented: PresentedClient,
    *,
    organization_slug: str | None,
    service_slug: str | None,
    customer: str | None = None,
    scope: str | None,
    resource: str | None,
) -> IssuedDeviceCode:
    """Return the codes of a new device; raise `ClientInvalid`, or `RequestInvalid` for slugs of another service.

    Raise `WayUnauthorized` for a service with a security profile.
    """
    is_command_line = presented.client_id == COMMAND_LINE_CLIENT and uow.origin.custom_host is None
    client = clients.identify(uow, presented) if not is_command_line else None
    if client is not None:
        clients.require_code_grant(client.security_profile)
    service = client.service if client is not None else None
    known = {None, client.organization_slug} if client is not None else {None}
    if organization_slug not in known or service_slug not in {None, service.slug if service is not None else None}:
        raise RequestInvalid("The client_id does not match the given org or service.")
    device_code = uow.randomness.token()
    waiting = DeviceCode(
        organization_id=service.organization_id if service is not None else None,
        service_id=service.id if service is not None else None,
        scopes=scopes.known(scope, service.scope_names if service is not None else ()),
        audience=requests.checked_audience(client, resource) if client is not None else None,
        ip_address=uow.origin.ip_address,
        user_agent=uow.origin.user_agent,
        created_at=uow.now,
        expires_at=uow.now + LIFETIME,
        interval=INTERVAL,
        host=uow.origin.host_name,
        customer=customer if service is not None and service.serves_customers else None,
    )
    device_code_hash = hash_token(device_code.reveal())
    # Two devices rarely draw the same code at the same time; then one draws again.
    user_code = next(
        drawn
        for drawn in iter(lambda: uow.randomness.choice(_ALPHABET, 2 * _GROUP_CHARACTERS), "")
        if uow.device_codes.add(device_code_hash, _mark(uow, drawn), waiting)
    )
    shown = f"{user_code[:_GROUP_CHARACTERS]}-{user_code[_GROUP_CHARACTERS:]}"
    return IssuedDeviceCode(
        device_code=device_code,
        user_code=shown,
        activation_uri=service.device_activation_uri if service is not None else None,
    )


def find(uow: UnitOfWork, user_code: str) -> WaitingDevice:
    """Return the device that shows a code; raise `UserCodeUnknown` or `UserCodeExpired`."""
    found = uow.device_codes.waiting(_mark(uow, _letters(user_code)))
    if found is None:
        raise UserCodeUnknown
    device, waiting = found
    is_closed = waiting.client is not None and not waiting.client.is_organization_active
    if device.is_answered or device.expires_at <= uow.now or is_closed:
        raise UserCodeExpired
    return waiting


def settle(
    uow: UnitOfWork, waiting: WaitingDevice, browser: BrowserSession, answer: str | None = None
) -> Settlement | None:
    """Return the customer of the service for which a user would approve a device; None for a service without customers.

    A service without access for the user is `NotOpen` too. `answer` is the customer that the user has chosen; None
    before that.
    """
    if waiting.client is None:
        return None
    place = _place(uow, waiting.client, browser)
    if not waiting.serves_customers:
        refusal = places.refusal_of_suspended(place) or admission.refusal_of(place, confirms=True)
        return NotOpen(refusal) if refusal is not None else None
    named = waiting.customer if answer is None else answer
    return admission.settle_customer(place, named, browser.confinement, is_answered=answer is not None)


def note_closed(uow: UnitOfWork, waiting: WaitingDevice) -> None:
    """Note as a trouble of a service that a user who would approve a device has no access."""
    if waiting.client is not None and not waiting.serves_customers:
        problems.note_closed(uow, waiting.client.service)


def added_by(uow: UnitOfWork, waiting: WaitingDevice, browser: BrowserSession) -> AddedBy | None:
    """Return what has made the membership that the user confirms by approving a device; None without one."""
    return admission.added_by(_place(uow, waiting.client, browser)) if waiting.client is not None else None


def _place(uow: UnitOfWork, client: Client, browser: BrowserSession) -> Place:
    return uow.sign_in_places.defer(browser.user_id, client.organization_slug, client.service.slug)()


def approve(
    uow: UnitOfWork,
    user_code: str,
    browser: BrowserSession,
    *,
    device_token: str | None,
    customer: str | None = None,
    confirms_membership: bool = False,
) -> BegunSession | Undecided | SignInAgain | CustomerConnectionDue | Refusal:
    """Begin a session for a device and the user who approves it; raise `UserCodeExpired` when it is answered already.

    The checks of every sign-in hold. The session is no child of the browser's, because it outlives that one. Return
    `SecondFactorDue` when the browser has not proved a second factor that the sign-in needs, and what `settle` returns
    while the customer is not settled. `customer` is the one that the user has chosen. With `confirms_membership` the
    page has said that the organization of the service has added them.
    """
    waiting = find(uow, user_code)
    settled = settle(uow, waiting, browser, customer)
    match settled:
        case Undecided() | SignInAgain():
            return settled
        case NotOpen():
            raise settled.refusal.leaving(partial(note_closed, waiting=waiting))
        case _:
            chosen = settled.customer if settled is not None else None
    client = waiting.client
    prepared = child_sessions.prepare(
        uow,
        browser,
        Destination(
            organization_slug=client.organization_slug if client is not None else None,
            service_slug=client.service.slug if client is not None else None,
            device_token=device_token,
            customer=chosen,
            confirms_membership=confirms_membership,
        ),
        is_child=False,
    )
    outcome = prepared.begin()
    required = prepared.circumstances.required_connection() if chosen and isinstance(outcome, SsoRequired) else None
    if required is not None:
        return CustomerConnectionDue(connection_id=required.connection_id)
    if isinstance(outcome, Refusal):
        return outcome
    give(uow, user_code, outcome.session.id)
    return outcome


def give(uow: UnitOfWork, user_code: str, session_id: UUID) -> None:
    """Give a device its session; raise `UserCodeExpired` when it is answered already."""
    if not uow.device_codes.answer(_mark(uow, _letters(user_code)), session_id=session_id):
        raise UserCodeExpired


def deny(uow: UnitOfWork, user_code: str) -> None:
    """Refuse a device; raise `UserCodeExpired` when it is answered already."""
    if not uow.device_codes.answer(_mark(uow, _letters(user_code)), session_id=None):
        raise UserCodeExpired


def poll(
    uow: UnitOfWork, presented: PresentedClient | None, device_code: str, proof: DpopProof | None
) -> IssuedTokens | OAuthRefusal:
    """Return the tokens of an approved device, or the refusal that says whether to go on polling.

    Without `presented`, a request is for the client of the code, if that is public.
    """
    client = _authenticated(uow, presented)
    if proof is not None:
        dpop.accept(uow, proof)
    code_hash = hash_token(device_code)
    device = uow.device_codes.lock(code_hash)
    if device is None or device.host != uow.origin.host_name:
        return GrantInvalid()
    if presented is not None and device.service_id != (client.service.id if client is not None else None):
        return GrantInvalid()
    if client is None and device.is_of_confidential_service:
        raise ClientInvalid
    if device.used_at is not None:
        return _end(uow, device)
    if device.expires_at <= uow.now:
        return DeviceCodeExpired()
    if device.denied_at is not None:
        return AccessDenied()
    if device.session_id is None:
        return _pending(uow, code_hash, device)
    uow.device_codes.use(code_hash)
    granted = None
    if device.service_id is not None:
        granted = ClientGrant(
            scopes=device.scopes,
            audience=device.audience,
            key_thumbprint=dpop.bound_to(proof, None),
            host=device.host,
            is_confidential=device.is_of_confidential_service,
        )
    session = uow.sessions.find_refreshable(device.session_id, is_limited=granted is not None)
    return issued(uow, take_over(uow, session, granted)) if session is not None else GrantInvalid()


def _authenticated(uow: UnitOfWork, presented: PresentedClient | None) -> Client | None:
    """Return the authenticated client that polls; None for the command line, and for a request that names no client."""
    if presented is None or presented.client_id == COMMAND_LINE_CLIENT:
        return None
    client = clients.authenticate(uow, presented)
    clients.require_code_grant(client.security_profile)
    return client


def _pending(uow: UnitOfWork, code_hash: bytes, device: DeviceCode) -> OAuthRefusal:
    is_too_soon = device.polled_at is not None and uow.now < device.polled_at + device.interval
    interval = min(device.interval + INTERVAL, INTERVAL_MAX) if is_too_soon else device.interval
    uow.device_codes.note_poll(code_hash, interval=interval)
    return SlowDown() if is_too_soon else AuthorizationPending()


def _end(uow: UnitOfWork, device: DeviceCode) -> OAuthRefusal:
    """End the session of a device code that was used again."""
    assert device.session_id is not None, "a device code without a session was used"
    assert device.user_id is not None, "a session was read without its user"
    assert device.email is not None, "a session was read without the address of its user"
    ended = uow.sessions.revoke(device.session_id, user_id=device.user_id)
    sessions.record_ended(uow, device.user_id, device.email, ended, reason=REUSED)
    return GrantInvalid()


def _letters(typed: str) -> str:
    """Return the letters of a code as people type it: in any case, with or without the dash and blanks."""
    return "".join(character for character in typed.upper() if character in _ALPHABET)


def _mark(uow: UnitOfWork, user_code: str) -> bytes:
    """Return the hash of a user code, which is valid only under the host where its device began."""
    return uow.pepper.mark("user code", (uow.origin.host_name or "").encode(), user_code.encode())
