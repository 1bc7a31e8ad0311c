"""How a request names its client and authenticates it: by Basic, in the body, or with a signed assertion.

The use case judges what is presented here. Requests that authenticate are counted by client, all others, and those
whose authentication fails, by address.
"""

import base64
import binascii
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import unquote_plus
from uuid import UUID

from core.errors import Refusal, TemporaryRefusal
from core.openid import client_troubles, clients
from core.openid.client_troubles import BASIC, NONE, POST, PRIVATE_KEY_JWT, NamedClient
from core.openid.clients import ASSERTION_TYPE, PresentedClient
from core.openid.refusals import AuthorizationPending, ClientInvalid, OAuthRefusal, RequestInvalid
from core.rate_limits import RateLimit
from core.secrets import Secret
from core.services.problems import ProblemKind
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.hosts import issuer_of
from entrypoints.web.serving.answering import oauth
from entrypoints.web.serving.calls import Call

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_BASIC: Final = "basic"
_WAYS: Final = (BASIC, POST, PRIVATE_KEY_JWT)
TOKEN: Final = "/auth/token"  # noqa: S105 - a path, not a secret
PAR: Final = "/auth/par"


class ClientFields(SecretBody, kw_only=True):
    """What a request to an OAuth endpoint says about its client."""

    client_id: str | None = None
    client_secret: str | None = None
    client_assertion_type: str | None = None
    client_assertion: str | None = None

    def __post_init__(self) -> None:
        # A parameter without a value counts as left out (RFC 6749, 3.2).
        for name in self.__struct_fields__:
            if getattr(self, name) == "":
                setattr(self, name, None)


async def presented_client(call: Call, fields: ClientFields) -> PresentedClient:
    """Return what a request presents; raise `ClientInvalid` when it names no client or its assertion is not valid."""
    try:
        basic = _basic(call)
    except ClientInvalid:
        name_client(call, fields, BASIC)
        raise
    ways = [basic is not None, fields.client_secret is not None, fields.client_assertion is not None]
    if sum(ways) > 1:
        both = " ".join(way for way, is_used in zip(_WAYS, ways, strict=True) if is_used)
        name_client(call, fields, both)
        raise RequestInvalid("The client authenticates in two ways. Use one.").about(
            ProblemKind.CLIENT_AUTHENTICATION, both
        )
    if fields.client_assertion is not None:
        return await _asserted(call, fields, fields.client_assertion)
    if basic is not None:
        client_id, secret = basic
        presented = _named(call, client_id, BASIC if secret else NONE)
        if fields.client_id not in {None, client_id}:
            raise RequestInvalid("The body names another client than the Authorization header.")
        if not secret:
            # As libraries send it that know a client without a secret only by an empty one.
            return PresentedClient(client_id=presented, is_public=True)
        return PresentedClient(client_id=presented, secret=Secret(secret))
    if fields.client_secret is None:
        return PresentedClient(client_id=_named(call, fields.client_id, NONE))
    return PresentedClient(client_id=_named(call, fields.client_id, POST), secret=Secret(fields.client_secret))


def name_client(call: Call, fields: ClientFields, method: str) -> None:
    """Name the client of a request that is refused before it is authenticated, if it names one."""
    with suppress(ClientInvalid):
        basic = _basic(call)
        if basic is not None:
            _named(call, basic[0], method)
            return
    with suppress(ClientInvalid):
        _named(call, fields.client_id, method)


async def note_refusal(call: Call, refusal: Refusal) -> None:
    """Note a refusal for the log and among the troubles of the client; the log names no client that does not exist."""
    call.oauth_error = oauth.name_of(refusal)
    if call.oauth_client is None or isinstance(refusal, AuthorizationPending):
        return
    client_id, method = call.oauth_client
    named = NamedClient(client_id=client_id, method=method, grant_type=call.grant_type)
    # What is refused for a while looks for nothing, and the answer is the refusal all the same.
    call.oauth_client = None
    if isinstance(refusal, OAuthRefusal):
        with suppress(TemporaryRefusal):
            # Some refusals come before every other limit.
            call.limit(RateLimit.NOTED_REFUSAL)
            exists = await call.transact(client_troubles.note_named, named, refusal)
            call.oauth_client = (client_id, method) if exists else None


async def transact_limited(
    call: Call,
    use_case: "Callable[Concatenate[UnitOfWork, PresentedClient, Arguments], Result | Refusal]",
    /,
    presented: PresentedClient,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Run a use case for a client in one transaction, within the limit of the client or of the address."""
    _limit(call, presented)
    try:
        return await call.transact(use_case, presented, *args, **kwargs)
    except ClientInvalid:
        _limit_failure(call, presented)
        raise


async def step_limited(
    call: Call,
    use_case: "Callable[Concatenate[UnitOfWork, PresentedClient, Arguments], Result]",
    /,
    presented: PresentedClient,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Run a use case for a client that writes nothing, except the ids that it uses up, each for itself."""
    _limit(call, presented)
    try:
        return await call.step(use_case, presented, *args, **kwargs)
    except ClientInvalid:
        _limit_failure(call, presented)
        raise


def _limit(call: Call, presented: PresentedClient) -> None:
    if presented.authenticates:
        call.limit_client(presented)
    else:
        call.limit(RateLimit.SIGN_IN_GROUP)


def _limit_failure(call: Call, presented: PresentedClient) -> None:
    if presented.authenticates:
        call.limit(RateLimit.SIGN_IN_GROUP)


def _basic(call: Call) -> tuple[str, str] | None:
    """Return the client id and the secret of the Authorization header, both decoded (RFC 6749, 2.3.1)."""
    values = call.request.headers.getlist("Authorization")
    if not values:
        return None
    scheme, _, value = values[0].strip().partition(" ")
    if len(values) > 1 or scheme.lower() != _BASIC:
        raise ClientInvalid("The Authorization header must be Basic, once, with the client id and the secret.")
    try:
        client_id, colon, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise ClientInvalid from None
    if not colon:
        raise ClientInvalid
    return unquote_plus(client_id), unquote_plus(secret)


async def _asserted(call: Call, fields: ClientFields, assertion: str) -> PresentedClient:
    if fields.client_assertion_type != ASSERTION_TYPE:
        raise RequestInvalid(f"The client_assertion_type must be {ASSERTION_TYPE}.")
    # Verifying a signature costs more than comparing a hash, and fetching the keys more still.
    installation = call.installation
    issuer = installation.signatures.named_issuer(assertion)
    client_id = _named(call, issuer, PRIVATE_KEY_JWT)
    if fields.client_id not in {None, issuer}:
        raise ClientInvalid
    source = await call.read(clients.key_source, client_id)
    claims, algorithms = None, clients.assertion_algorithms(source.security_profile)
    if source.key_set is not None:
        claims = installation.signatures.verified(assertion, source.key_set, algorithms=algorithms)
    elif source.uri is not None:
        for is_fresh in (False, True):
            keys = await installation.key_sets.fetch(source.organization_id, source.uri, is_fresh=is_fresh)
            if keys is not None:
                claims = installation.signatures.verified(assertion, keys, algorithms=algorithms)
            if claims is not None:
                break
    if claims is None:
        call.limit(RateLimit.SIGN_IN_GROUP)
        raise ClientInvalid("The assertion is not signed with a registered key of the client.")
    server = issuer_of(call)
    clients.require_assertion(source.security_profile, claims, server)
    endpoints = {server + TOKEN, server + call.request.path} if call.request.path == PAR else {server + TOKEN}
    verified = clients.judged_assertion(claims, client_id, issuer=server, endpoints=endpoints, at=installation.clock())
    return PresentedClient(client_id=client_id, assertion=verified)


def _named(call: Call, text: str | None, method: str) -> UUID:
    """Return the client that a request names, which its line of the log and its troubles name too."""
    try:
        client_id = UUID(text or "")
    except ValueError:
        raise ClientInvalid from None
    call.oauth_client = client_id, method
    return client_id
