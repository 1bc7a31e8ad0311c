"""The request context of a handler: the origin of the request, its credential, and how the handler runs use cases.

A handler that computes for more than a millisecond does it on threads of its own (`limiter=`), never on those that the
process shares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar
from uuid import UUID

import trio
from quart.wrappers import Request
from werkzeug.http import dump_cookie

from core.connection_uses import REQUEST_USE, ConnectionUse
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.limits import USER_AGENT_CHARACTERS_MAX
from core.networks import limited_network, throttled_network
from core.openid.clients import PresentedClient
from core.organizations.key_callers import TokenOfKey
from core.organizations.link_callers import SetupVisit
from core.organizations.settings.branding import BrandedOrganization
from core.prefixed_tokens import PrefixedToken
from core.rate_limits import RateLimit
from core.sessions.browser_sessions import BrowserSession
from core.sessions.origins import CustomHost, Origin
from entrypoints.installation import Installation
from entrypoints.web.input import languages
from entrypoints.web.serving.rate_limiting import RateLimiter

if TYPE_CHECKING:
    from ports.database import Database
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


# A transaction takes milliseconds, and is refused after a second when the database is away.
SHIELDED_SECONDS_MAX: Final = 5.0


def shielded() -> AbstractContextManager[trio.CancelScope]:
    """Do what a request owes although its client has hung up, within a few seconds."""
    return trio.fail_after(SHIELDED_SECONDS_MAX, shield=True)


def _only_get() -> tuple[str]:
    return ("GET",)


@dataclass(slots=True, eq=False)
class Call:
    """The request context that every handler receives."""

    installation: Installation
    _limiter: RateLimiter
    request: Request
    _: KW_ONLY
    request_id: str
    address: str | None
    is_https: bool
    # The claims of the valid token; set when the route requires one.
    claims: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # The session of an access token, and the service it was issued for, if any.
    session_id: UUID | None = None
    client_id: UUID | None = None
    # At an endpoint of OAuth, the client that a request names and how it authenticates, the grant that it asks for,
    # and the name of its refusal.
    oauth_client: tuple[UUID, str] | None = None
    grant_type: str | None = None
    oauth_error: str | None = None
    # The algorithm of the DPoP proof that came with the access token, if it is bound to a key.
    proof_algorithm: str | None = None
    # For what the route uses connections to the database.
    use: ConnectionUse = REQUEST_USE
    # The custom domain under which the request came, None for the base URL.
    custom_host: CustomHost | None = None
    # The organization whose brand the pages of this request show: the custom domain's, or the one of their context.
    brand: BrandedOrganization | None = None
    # The id of the return in the query or the form of a page of a sign-in; empty without one.
    return_id: str = ""
    # The tag of the language in which a service has asked for the pages of its sign-in; None for the browser's.
    language: str | None = None
    # The browser session of a page.
    browser: BrowserSession | None = None
    # The own session of the platform owner who acts as the user of `browser`; None without one.
    acts_for: BrowserSession | None = None
    # Whether the browser acted as another user, and its person has not seen yet that this has ended.
    has_acted: bool = False
    # Returns the methods that have a route at the path of this request.
    allowed_methods: Callable[[], Iterable[str]] = _only_get
    # Whether the address of the request carries the answer of another system, to which nothing leads again.
    takes_answer: bool = False
    # Whether the request is a form that a person fills in on a page.
    has_form: bool = False
    # Whether the route makes a secret that the next page shows once, and whether it is that page.
    makes_secret: bool = False
    shows_secret: bool = False
    # Whether the page that is the answer carries a secret, such as the token of a link.
    reveals_secret: bool = False
    # The form of a page, as it was sent; None for a request without one, or until it is read.
    form: Any = None
    # The page on which a person can repeat a sign-in that is refused; None where that is the first one.
    repeats_at: str | None = None
    # The page that signs a refused user out, and leads another account on to the service; None elsewhere.
    switches_at: str | None = None
    # The API key of a route for the backends of services.
    api_key: PrefixedToken | None = None
    # The SCIM token of a route for the directories of organizations.
    scim_token: PrefixedToken | None = None
    # Whether the route takes the key of an organization, and so the token of a workload of the key.
    takes_key: bool = False
    # The key of an organization, or the cookie of a setup link, in place of an access token.
    organization_credential: PrefixedToken | TokenOfKey | SetupVisit | None = None
    # The organization for which a large body counts: its credential is verified. Without one, the network's.
    sender: UUID | None = None
    # What the body calls the user that the request is about, for the log of such a directory.
    subject: str | None = None
    # Headers that the handler adds to its response.
    headers: dict[str, str] = field(default_factory=dict)
    # The cookies that the response sets or removes, by name.
    cookies: dict[str, str] = field(default_factory=dict)
    # The status of the response where it is not the declared one.
    status: int | None = None

    @property
    def origin(self) -> Origin:
        """Where the request came from, as it is stored."""
        user_agent = self.request.headers.get("User-Agent")
        return Origin(
            request_id=self.request_id,
            ip_address=self.address,
            user_agent=user_agent[:USER_AGENT_CHARACTERS_MAX].replace("\x00", "") if user_agent else None,
            custom_host=self.custom_host,
            proof_algorithm=self.proof_algorithm,
            language=self.reader_language,
        )

    @property
    def reader_language(self) -> str | None:
        """The tag of the language for the person behind the request; None when none that is offered is known."""
        reader = self.acts_for or self.browser
        of_account = reader.language if reader is not None else None
        return languages.preferred(self.request, self.language, of_account)

    @property
    def has_signed_token(self) -> bool:
        """Whether the credential is a token that we have signed, and that has not expired."""
        return bool(self.claims) or isinstance(self.organization_credential, TokenOfKey)

    @property
    def has_page(self) -> bool:
        """Whether a browser can open the path of this request."""
        return self.request.method == "GET" or "GET" in self.allowed_methods()

    @property
    def host_name(self) -> str | None:
        """The name of the custom host under which the request came; None for the base URL."""
        return self.custom_host.name if self.custom_host is not None else None

    @property
    def throttled_network(self) -> str | None:
        """The network whose failed sign-ins are counted together; None when rate limits are off."""
        return throttled_network(self.address) if self.installation.settings.rate_limits else None

    @property
    def caller_name(self) -> str | None:
        """What the log calls the caller: the id of a user, or the prefix of a key or SCIM token."""
        if self.browser is not None:
            return str(self.browser.user_id)
        key = self.api_key or self.scim_token or self.organization_credential
        return self.claims.get("sub") if key is None else key.prefix or None

    @property
    def in_browser(self) -> BrowserSession:
        """The browser session of a route that requires one."""
        assert self.browser is not None, "a route that requires no browser session reads it"
        return self.browser

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach Gatehouse by https, directly or through a proxy."""
        return self.is_https or self.installation.settings.base_url.startswith("https:")

    def limit(self, *limits: RateLimit) -> None:
        """Take one request from these rate limits, or raise `RateLimitExceeded`.

        A handler calls this where the content of the request decides which limits apply.
        """
        self._limiter.take(limits, limited_network(self.address))

    def limit_organization(self, organization_id: UUID, limit: RateLimit) -> None:
        """Take one request of an organization, from whatever address it comes, or raise `RateLimitExceeded`."""
        self._limiter.take((limit,), str(organization_id))

    def limit_connection(self, connection_id: UUID, limit: RateLimit) -> None:
        """Take one request of the provider of a connection, from whatever address it comes, or raise."""
        self._limiter.take((limit,), str(connection_id))

    def limit_person(self) -> None:
        """Take one request of the person who is signed in, or raise `RateLimitExceeded`.

        The person behind an impersonation is the impersonator.
        """
        person = self.claims.get("impersonator") or self.caller_name
        if self.acts_for is not None:
            person = str(self.acts_for.user_id)
        assert person is not None, "a request without a user is counted for one"
        self._limiter.take((RateLimit.SIGNED_IN,), person)

    def limit_key(self, key_hash: bytes, limit: RateLimit) -> None:
        """Take one request from the bucket of an API key or SCIM token, whatever address it comes from."""
        # By its hash, because others know the prefix and could empty the bucket.
        self._limiter.take((limit,), key_hash.hex())

    def limit_client(self, client: PresentedClient) -> None:
        """Take one request from the bucket of a client that authenticates, whatever address it comes from."""
        self._limiter.take((RateLimit.CLIENT,), client.limited_as)

    async def transact(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result | Refusal],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case in one transaction for the caller; raise a refusal that it returns, after the commit."""
        return await self._database().transact(use_case, *args, **kwargs)

    async def read(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a read-only use case, on behalf of the caller."""
        return await self._database().read(use_case, *args, **kwargs)

    async def step(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case that writes with a single statement, on behalf of the caller."""
        return await self._database().step(use_case, *args, **kwargs)

    @property
    def database(self) -> Database:
        """The database, for a transaction of this request that another part of the installation runs."""
        return self._database()

    def set_cookie(self, name: str, value: str, *, lifetime: timedelta | None) -> None:
        """Add a cookie to the response that scripts cannot read and other sites cannot send.

        Without a lifetime the browser forgets it when it is closed.
        """
        self.cookies[name] = dump_cookie(
            name, value, max_age=lifetime, httponly=True, samesite="Lax", secure=self.is_secure, path="/"
        )

    def forget_cookie(self, name: str) -> None:
        """Remove a cookie from the browser."""
        self.set_cookie(name, "", lifetime=timedelta())

    def vary(self, header: str) -> None:
        """Say that the response depends on a header of the request, for caches."""
        varies = self.headers.get("Vary")
        self.headers["Vary"] = header if varies is None else f"{varies}, {header}"

    def _database(self) -> Database:
        return self.installation.database.on_behalf_of(
            self.origin,
            self.session_id,
            self.client_id,
            self.api_key,
            self.scim_token,
            self.organization_credential,
            self.use,
        )
