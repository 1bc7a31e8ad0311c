"""Authorization requests, with which a service sends a browser to `/auth/authorize`.

A request with a wrong client or redirect URI is refused on a page (`RequestRefused`), because there is no safe place to
send the browser back to. Every later problem goes back to the service (`AuthorizationRefused`). A request can be pushed
beforehand (RFC 9126), and it is stored while its user signs in or answers a question; each is answered once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.limits import EMAIL_CHARACTERS_MAX
from core.openid import clients, dpop, pkce, requested_claims, scopes
from core.openid.client_troubles import RedirectUriMissing, RedirectUriRefused, RequestOver, RequestRefused
from core.openid.clients import Client, PresentedClient
from core.openid.dpop import DpopProof
from core.openid.refusals import (
    OAuthRefusal,
    RequestInvalid,
    RequestObjectUnsupported,
    RequestUriInvalid,
    RequestUriUnsupported,
    ResponseTypeUnsupported,
    TargetInvalid,
)
from core.openid.requested_claims import NO_CLAIMS, RequestedClaims
from core.secrets import Secret, hash_token
from core.services.problems import ProblemKind
from core.sessions import security_profiles
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PUSHED_LIFETIME: Final = timedelta(seconds=60)
# From the moment when a browser has opened a pushed request; a reload or a second window opens it again.
OPENED_LIFETIME: Final = timedelta(minutes=15)
# Signing in may include a registration and its mail.
WAITING_LIFETIME: Final = timedelta(hours=1)
URN: Final = "urn:ietf:params:oauth:request_uri:"
VALUE_CHARACTERS_MAX: Final = 2000
# The parameter into which the endpoints turn an `id_token_hint`.
HINTED_USER: Final = "hinted_user_id"
# Marks the parameters that an authenticated client has pushed; no request has a parameter of this name.
PUSHED: Final = "is_pushed"
# The address of the console for the answer to a request that the console itself has begun, to try a service
# (`trials.py`); likewise no parameter of a request.
TRIED_AT: Final = "tried_at"
PROMPTS: Final = ("none", "login", "consent", "select_account", "create")
RESPONSE_TYPE: Final = "code"
QUERY: Final = "query"
FORM_POST: Final = "form_post"
# An empty value means that the user comes without a customer.
CUSTOMER: Final = "customer"
RESPONSE_MODES: Final = (QUERY, FORM_POST)
LOCALES_MAX: Final = 20
_THUMBPRINT: Final = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAddress:
    """Where the answer to a request goes, and how; `pushed_key` names the pushed request that the answer uses up.

    `locales` are the languages for the pages on the way, the preferred one first.
    """

    redirect_uri: str
    state: str | None
    response_mode: str = QUERY
    locales: Sequence[str] = ()
    pushed_key: bytes | None = field(default=None, repr=False)


class AuthorizationRefused(Exception):
    """The request is refused, and the service learns why: the browser goes back to it with an error."""

    def __init__(self, error: str, description: str, to: AnswerAddress, cause: OAuthRefusal | None = None) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.to = to
        self.cause = cause


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A valid request.

    `asked_at` is when its user was asked to sign in, if that has happened; the sign-in has to be newer when
    `has_to_be_new`. `asked_in` is the hash of the key of the browser that was asked. `hinted_user_id` is the only user
    who may be signed in, if the service names one. `customer` names the customer for which the user comes, and is empty
    without one. `was_pushed` says that the client had authenticated, and `pushed_key` is the hash of the reference of a
    pushed request.
    """

    redirect_uri: str
    state: str | None
    scopes: Sequence[str]
    nonce: str | None
    code_challenge: str | None
    audience: str | None
    key_thumbprint: str | None
    prompts: Sequence[str]
    max_age_seconds: int | None
    login_hint: str | None
    wants_second_factor: bool
    has_to_be_new: bool = False
    asked_at: float | None = None
    asked_in: str | None = None
    hinted_user_id: str | None = None
    was_pushed: bool = False
    response_mode: str = QUERY
    pushed_key: str | None = None
    locales: Sequence[str] = ()
    claims: RequestedClaims = NO_CLAIMS
    customer: str | None = None

    @property
    def to(self) -> AnswerAddress:
        """Where its answer goes."""
        return AnswerAddress(
            redirect_uri=self.redirect_uri,
            state=self.state,
            response_mode=self.response_mode,
            locales=self.locales,
            pushed_key=bytes.fromhex(self.pushed_key) if self.pushed_key is not None else None,
        )

    @property
    def hinted_email(self) -> str | None:
        """The address of the expected user; None for a hint that is no address, which means any user."""
        hint = self.login_hint
        return hint if hint is not None and "@" in hint and len(hint) <= EMAIL_CHARACTERS_MAX else None

    def refused(self, error: str, description: str) -> AuthorizationRefused:
        """Return the refusal that goes back to the service."""
        return AuthorizationRefused(error, description, self.to)

    def is_for(self, user_id: UUID) -> bool:
        """Whether it may be answered for this user."""
        allowed = self.claims.subjects
        return self.hinted_user_id in {None, str(user_id)} and (allowed is None or str(user_id) in allowed)

    def is_met_by(self, context_class: str) -> bool:
        """Whether a sign-in of this class is enough; two factors are more than one."""
        essential = self.claims.essential_classes
        return essential is None or bool({context_class, scopes.ONE_FACTOR}.intersection(essential))

    def was_asked_in(self, browser_key: Secret | None) -> bool:
        """Whether its user was asked to sign in, in the browser with this key."""
        return browser_key is not None and self.asked_in == hash_token(browser_key.reveal()).hex()

    def asked_to_sign_in(self, at: datetime, browser_key: Secret) -> AuthorizationRequest:
        """Return the request as it goes on after its user was asked to sign in."""
        is_login = "login" in self.prompts or self.max_age_seconds == 0
        return replace(
            self,
            prompts=[prompt for prompt in self.prompts if prompt not in {"login", "create"}],
            max_age_seconds=None if is_login else self.max_age_seconds,
            has_to_be_new=is_login or self.has_to_be_new,
            asked_at=at.timestamp(),
            asked_in=hash_token(browser_key.reveal()).hex(),
            # A user without a second factor cannot prove one; the service reads in `acr` what was proved.
            wants_second_factor=False,
        )

    def stored(self) -> dict[str, Any]:
        """Return the request as data to store, which `recalled` reads.

        Defaults are left out: a process of the previous version, which knows fewer fields, may read it.
        """
        defaults = {one.name: one.default for one in fields(self)}
        return {name: value for name, value in asdict(self).items() if getattr(self, name) != defaults[name]}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """A request in the database: the parameters of a pushed one, or the fields of one that waits."""

    organization_id: UUID
    service_id: UUID
    is_pushed: bool
    parameters: Mapping[str, Any]


def recalled(stored: Mapping[str, Any]) -> AuthorizationRequest:
    """Return the request that was stored."""
    asked: dict[str, Any] = stored.get("claims", {})
    return AuthorizationRequest(**{**stored, "claims": RequestedClaims(**asked)})  # pyright: ignore[reportArgumentType]


def parse(client: Client, parameters: Mapping[str, str], pushed_key: bytes | None = None) -> AuthorizationRequest:
    """Return the request of a client; raise `RequestRefused` or `AuthorizationRefused`."""
    to = _answer_address(client, parameters, pushed_key)
    try:
        return _parsed(client, parameters, to)
    except OAuthRefusal as refusal:
        raise AuthorizationRefused(refusal.error, refusal.message, to, refusal) from None


def arrived(uow: UnitOfWork, client: Client, parameters: Mapping[str, str]) -> AuthorizationRequest:
    """Return the request of these parameters, or the pushed request that they name; raise as `parse` does.

    A reference to no pushed request of this client is refused to the service if the other parameters have its address,
    else by `RequestRefused`, or by `RequestOver` for a request that is over. Raise `OtherWayRefused` when a client with
    a security profile has not pushed it.
    """
    request_uri = parameters.get("request_uri")
    if request_uri is None:
        security_profiles.require_pushed(client.security_profile, is_pushed=False)
        return parse(client, parameters)
    is_reference = request_uri.startswith(URN)
    if is_reference:
        key, service = hash_token(request_uri.removeprefix(URN)), client.service
        opened = uow.authorization_requests.open(
            key, service.organization_id, service.id, expires_at=uow.now + OPENED_LIFETIME
        )
        if opened is not None:
            # The parameters of a form are stored likewise, but no client has authenticated for them.
            security_profiles.require_pushed(client.security_profile, is_pushed=PUSHED in opened.parameters)
            return parse(client, opened.parameters, key)
    if "redirect_uri" not in parameters:
        raise (
            RequestOver(client)
            if is_reference
            else RequestRefused("The request names a request_uri that was not pushed here.")
        )
    refusal = RequestUriInvalid if is_reference else RequestUriUnsupported
    to = _answer_address(client, parameters, None)
    raise AuthorizationRefused(refusal.error, refusal.default_message, to)


def use_pushed(uow: UnitOfWork, client: Client, to: AnswerAddress) -> None:
    """Use up the pushed request that is being answered, if it was pushed; raise `RequestOver` for a second answer."""
    service = client.service
    if to.pushed_key is None:
        return
    used = uow.authorization_requests.use(to.pushed_key, service.organization_id, service.id, is_pushed=True)
    if used is None:
        raise RequestOver(client, to.locales)


def push(uow: UnitOfWork, presented: PresentedClient, parameters: Mapping[str, str], proof: DpopProof | None) -> str:
    """Store the parameters of a valid request, and return its address; raise `OAuthRefusal` (RFC 9126, 2)."""
    client = clients.authenticate(uow, presented)
    clients.require_proof_if_any(client.security_profile, proof, at=uow.now)
    if proof is not None:
        dpop.accept(uow, proof)
        # The code is then bound to the key, as by the parameter (RFC 9449, 10.1).
        dpop.bound_to(proof, parameters.get("dpop_jkt"))
        parameters = {**parameters, "dpop_jkt": proof.key_thumbprint}
    if "request_uri" in parameters:
        raise RequestInvalid("A pushed request cannot name a request_uri.")
    try:
        to = _answer_address(client, parameters, None)
    except RedirectUriRefused as refused:
        raise RequestInvalid(refused.message).about(
            ProblemKind.REDIRECT_URI, refused.redirect_uri, client.service.redirect_uris
        ) from None
    _parsed(client, parameters, to)
    return receive(uow, client, {**parameters, PUSHED: "yes"})


def receive(uow: UnitOfWork, client: Client, parameters: Mapping[str, str]) -> str:
    """Store the parameters of a form, and return their `request_uri`; they are judged when they are used."""
    return URN + _store(uow, client, dict(parameters), is_pushed=True, lifetime=PUSHED_LIFETIME).reveal()


def keep(uow: UnitOfWork, client: Client, request: AuthorizationRequest) -> Secret:
    """Store a request while its user signs in or answers a question, and return its id."""
    return _store(uow, client, request.stored(), is_pushed=False, lifetime=WAITING_LIFETIME)


def checked_audience(client: Client, resource: str | None) -> str | None:
    """Return the audience that a request names as its resource; raise `TargetInvalid` (RFC 8707, 2)."""
    if resource is not None and resource not in client.service.audiences:
        raise TargetInvalid
    return resource


def _redirect_uri(client: Client, parameters: Mapping[str, str]) -> str:
    service, given = client.service, parameters.get("redirect_uri")
    if given is None:
        raise RedirectUriMissing
    is_tried = parameters.get(TRIED_AT) == given
    if not is_tried and not service.has_registered(given, among=service.redirect_uris):
        raise RedirectUriRefused(given)
    return given


def _answer_address(client: Client, parameters: Mapping[str, str], pushed_key: bytes | None) -> AnswerAddress:
    """Return where the answer to these parameters goes; raise `RequestRefused` when they name no valid address."""
    redirect_uri, mode = _redirect_uri(client, parameters), parameters.get("response_mode", QUERY)
    is_known = mode in RESPONSE_MODES and not (mode == FORM_POST and _is_of_an_app(redirect_uri))
    return AnswerAddress(
        redirect_uri=redirect_uri,
        state=parameters.get("state"),
        response_mode=mode if is_known else QUERY,
        locales=(parameters.get("ui_locales") or "").split()[:LOCALES_MAX],
        pushed_key=pushed_key,
    )


def _is_of_an_app(redirect_uri: str) -> bool:
    """Whether an address belongs to an app on the device; browsers post no form there."""
    return not redirect_uri.startswith(("https://", "http://"))


def _parsed(client: Client, parameters: Mapping[str, str], to: AnswerAddress) -> AuthorizationRequest:
    too_long = sorted(name for name, value in parameters.items() if len(value) > VALUE_CHARACTERS_MAX)
    if too_long:
        raise RequestInvalid(
            Wording(
                "The parameter %(name)s has more than %(maximum)s characters.",
                name=too_long[0],
                maximum=VALUE_CHARACTERS_MAX,
            )
        )
    if "request" in parameters:
        raise RequestObjectUnsupported
    if not parameters.get("response_type"):
        missing = RequestInvalid("The response_type is missing. Send response_type=code.")
        raise missing.about(ProblemKind.RESPONSE_TYPE, None, [RESPONSE_TYPE])
    if parameters["response_type"] != RESPONSE_TYPE:
        raise ResponseTypeUnsupported().about(ProblemKind.RESPONSE_TYPE, parameters["response_type"], [RESPONSE_TYPE])
    if parameters.get("response_mode", QUERY) != to.response_mode:
        raise RequestInvalid("The response_mode must be query, or form_post with an address of the web.")
    thumbprint = parameters.get("dpop_jkt")
    if thumbprint is not None and not _THUMBPRINT.fullmatch(thumbprint):
        raise RequestInvalid("The dpop_jkt must be the SHA-256 thumbprint of a key.")
    claims = requested_claims.parse(parameters.get("claims"))
    return AuthorizationRequest(
        redirect_uri=to.redirect_uri,
        state=to.state,
        response_mode=to.response_mode,
        pushed_key=to.pushed_key.hex() if to.pushed_key is not None else None,
        scopes=scopes.known(parameters.get("scope"), client.service.scope_names),
        nonce=parameters.get("nonce"),
        code_challenge=pkce.checked_challenge(
            parameters.get("code_challenge"),
            parameters.get("code_challenge_method"),
            is_required=clients.requires_challenge(client.security_profile, is_confidential=client.is_confidential),
        ),
        audience=checked_audience(client, parameters.get("resource")),
        key_thumbprint=thumbprint,
        prompts=_prompts(parameters.get("prompt")),
        max_age_seconds=_max_age(parameters.get("max_age")),
        login_hint=parameters.get("login_hint"),
        hinted_user_id=parameters.get(HINTED_USER),
        wants_second_factor=_wants_second_factor(parameters.get("acr_values")) or claims.wants_second_factor,
        was_pushed=PUSHED in parameters,
        locales=to.locales,
        claims=claims,
        customer=parameters.get(CUSTOMER) if client.service.serves_customers else None,
    )


def _prompts(text: str | None) -> list[str]:
    prompts = list(dict.fromkeys(text.split(" "))) if text else []
    if not set(PROMPTS).issuperset(prompts):
        raise RequestInvalid("A prompt is none, login, consent, select_account or create.")
    if "none" in prompts and len(prompts) > 1:
        raise RequestInvalid("The prompt none stands alone.")
    return prompts


def _max_age(text: str | None) -> int | None:
    if text is None:
        return None
    if not re.fullmatch("[0-9]{1,9}", text):
        raise RequestInvalid("The max_age is a number of seconds.")
    return int(text)


def _wants_second_factor(text: str | None) -> bool:
    """Return whether a request prefers the class of two factors among the known ones."""
    known = [value for value in (text or "").split(" ") if value in scopes.CONTEXT_CLASSES]
    return known[:1] == [scopes.TWO_FACTORS]


def _store(
    uow: UnitOfWork, client: Client, parameters: dict[str, Any], *, is_pushed: bool, lifetime: timedelta
) -> Secret:
    secret = uow.randomness.token()
    uow.authorization_requests.add(
        hash_token(secret.reveal()),
        StoredRequest(
            organization_id=client.service.organization_id,
            service_id=client.service.id,
            is_pushed=is_pushed,
            parameters=parameters,
        ),
        expires_at=uow.now + lifetime,
    )
    return secret
