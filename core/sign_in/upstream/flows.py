"""Sign-ins through other providers, from the departure of the browser to its return.

The state that travels through the provider is good for 15 minutes, once, and in the browser that has left with it: an
attacker cannot make another person's browser finish a sign-in. The verifier of PKCE and the nonce derive from the state
with the installation's pepper, so they are stored nowhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.errors import BadRequest, NotFound
from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token
from core.sign_in.identities import PLATFORM, IdentityContext, ProvenIdentity

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=15)


class SignInOver(BadRequest):
    """The state is unknown, used or expired, or another browser has left with it."""

    default_message = (
        "This sign-in is over, or did not begin in this browser. Go back to where you wanted to sign in, and begin"
        " again there."
    )


class ProviderNotOffered(NotFound):
    """Neither the organization nor the platform has credentials of the provider."""

    default_message = "Signing in with this provider is not set up. Sign in in another way."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderClient:
    """Our credentials at a provider."""

    client_id: str
    client_secret: Secret | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnAddress:
    """Where the browser goes after the sign-in: a path with its query, or what a page of the sign-in carries."""

    target: str | None = None
    return_to: str = ""
    return_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtDomain:
    """The custom domain at which a sign-in began, and ends (`at_custom_domains.py`).

    `browser_hash` identifies the browser at the domain while it is under the base URL; None at the domain.
    """

    domain_id: UUID
    name: str
    browser_hash: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSignIn:
    """A browser that has gone to a provider; with `user_id` it links the returned identity to that account."""

    id: UUID
    provider: Provider
    context: IdentityContext
    client_id: str | None = None
    user_id: UUID | None = None
    way: ReturnAddress = ReturnAddress()
    expires_at: datetime
    # None under the base URL.
    domain: AtDomain | None = None

    @property
    def is_away(self) -> bool:
        """Whether its browser is under the base URL, and goes back to a custom domain."""
        return self.domain is not None and self.domain.browser_hash is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What the browser takes along to the provider."""

    sign_in: UpstreamSignIn
    state: Secret
    verifier: Secret
    nonce: Secret

    @property
    def request_id(self) -> str:
        """The id of a SAML request, which only the provider learns besides this browser."""
        return _request_id(self.nonce)

    def address(
        self, authorize_url: str, *, redirect_uri: str, scopes: Sequence[str], extra: Mapping[str, str] | None = None
    ) -> str:
        """Return the address at the provider, with PKCE."""
        parameters = {
            "response_type": "code",
            "client_id": self.sign_in.client_id or "",
            "redirect_uri": redirect_uri,
            "scope": " ".join(scopes),
            "state": self.state.reveal(),
            "nonce": self.nonce.reveal(),
            "code_challenge": _base64(hashlib.sha256(self.verifier.reveal().encode()).digest()),
            "code_challenge_method": "S256",
            **(extra or {}),
        }
        return f"{authorize_url}{'&' if '?' in authorize_url else '?'}{urlencode(parameters)}"


def depart(
    uow: UnitOfWork,
    provider: Provider,
    *,
    browser: str,
    client_id: str | None,
    way: ReturnAddress,
    context: IdentityContext = PLATFORM,
    user_id: UUID | None = None,
) -> Departure:
    """Store that a browser goes to a provider; `browser` is the value of the cookie that binds it."""
    sign_in = UpstreamSignIn(
        id=uow.randomness.new_id(),
        provider=provider,
        context=context,
        client_id=client_id,
        user_id=user_id,
        way=way,
        expires_at=uow.now + LIFETIME,
    )
    return departure(uow, sign_in, _add(uow, sign_in, browser))


def arrive(uow: UnitOfWork, provider: Provider, state: str, *, browser: str | None) -> Departure:
    """Use up the state with which a browser comes back, and return what it had taken along; raise `SignInOver`."""
    if browser is None:
        raise SignInOver().because("no_cookie")
    sign_in = uow.upstream_sign_ins.use(hash_token(state), provider, browser_hash=hash_token(browser))
    if sign_in is None:
        raise SignInOver().because("unknown_state")
    return departure(uow, sign_in, Secret(state))


def departure(uow: UnitOfWork, sign_in: UpstreamSignIn, state: Secret) -> Departure:
    """Return what the browser of a sign-in takes along, or had taken along, with this state."""
    return Departure(sign_in=sign_in, state=state, verifier=_verifier(uow, state), nonce=_nonce(uow, state))


def request_id_of(uow: UnitOfWork, state: str) -> str:
    """Return the id of the SAML request that has left with a state."""
    return _request_id(_nonce(uow, Secret(state)))


def keep_answer(uow: UnitOfWork, connection_id: UUID, state: str, proven: ProvenIdentity) -> Secret:
    """Use up the state of an answer that another site has posted; return the id under which its browser goes on.

    Such a request has no cookie, so the browser is recognized only when it goes on. Raise `SignInOver`.
    """
    continue_id = uow.randomness.token()
    is_kept = uow.upstream_sign_ins.keep_answer(
        hash_token(state), connection_id, proven, continue_hash=hash_token(continue_id.reveal())
    )
    if not is_kept:
        raise SignInOver().because("unknown_state")
    return continue_id


def invite_to_link(uow: UnitOfWork, provider: Provider, user_id: UUID, context: IdentityContext) -> Secret:
    """Return the id with which the user's browser may begin to link an account of a provider, once."""
    sign_in = UpstreamSignIn(
        id=uow.randomness.new_id(),
        provider=provider,
        context=context,
        user_id=user_id,
        expires_at=uow.now + LIFETIME,
    )
    return _add(uow, sign_in, None)


def use_link(uow: UnitOfWork, provider: Provider, link_id: str) -> UpstreamSignIn:
    """Use up an id of `invite_to_link`; raise `SignInOver`."""
    wanted = uow.upstream_sign_ins.use(hash_token(link_id), provider, browser_hash=None)
    if wanted is None:
        raise SignInOver().because("unknown_link")
    return wanted


def keep_proven(
    uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity, user_id: UUID | None, *, browser: str
) -> Secret:
    """Keep an identity until the user of an account has signed in to it, and return the id to go on with.

    Without a user it is for one of several accounts (`known_elsewhere.py`).
    """
    kept = replace(sign_in, id=uow.randomness.new_id(), user_id=user_id, expires_at=uow.now + LIFETIME)
    return _add(uow, kept, browser, proven)


def use_proven(uow: UnitOfWork, continue_id: str, *, browser: str | None) -> tuple[UpstreamSignIn, ProvenIdentity]:
    """Use up an id of `keep_proven`; raise `SignInOver`."""
    if browser is None:
        raise SignInOver().because("no_cookie")
    found = uow.upstream_sign_ins.use_proven(hash_token(continue_id), browser_hash=hash_token(browser))
    if found is None:
        raise SignInOver().because("unknown_continuation")
    return found


def _add(uow: UnitOfWork, sign_in: UpstreamSignIn, browser: str | None, proven: ProvenIdentity | None = None) -> Secret:
    """Store a sign-in and return its state."""
    state = uow.randomness.token()
    browser_hash = hash_token(browser) if browser is not None else None
    uow.upstream_sign_ins.add(sign_in, hash_token(state.reveal()), browser_hash=browser_hash, proven=proven)
    return state


def _request_id(nonce: Secret) -> str:
    # An id does not begin with a digit (xs:ID).
    return f"_{nonce.reveal()}"


def _verifier(uow: UnitOfWork, state: Secret) -> Secret:
    return Secret(_base64(uow.pepper.mark("upstream_verifier", state.reveal().encode("utf-8", "surrogatepass"))))


def _nonce(uow: UnitOfWork, state: Secret) -> Secret:
    return Secret(_base64(uow.pepper.mark("upstream_nonce", state.reveal().encode("utf-8", "surrogatepass"))))


def _base64(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
