"""One request on its way through a handler: where it came from, what it brought, and the ways into the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from core.callers import Origin
from core.limits import USER_AGENT_CHARACTERS_MAX
from entrypoints.http.client_address import limited_network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from quart.wrappers import Request

    from core.rate_limits import RateLimit
    from entrypoints.house import House
    from entrypoints.http.rate_limiting import RateLimiter
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Call:
    """What a handler receives."""

    __slots__ = ("_limiter", "address", "claims", "headers", "house", "is_https", "request", "request_id", "status")

    def __init__(
        self,
        house: House,
        limiter: RateLimiter,
        request: Request,
        *,
        request_id: str,
        address: str | None,
        is_https: bool,
    ) -> None:
        self.house = house
        self._limiter = limiter
        self.request = request
        self.request_id = request_id
        self.address = address
        self.is_https = is_https
        # What a valid token said; set when the route asks for one.
        self.claims: Mapping[str, Any] = {}
        # Headers that the handler adds to its answer.
        self.headers: dict[str, str] = {}
        # The status of the answer where it is not the declared one.
        self.status: int | None = None

    @property
    def origin(self) -> Origin:
        """Where the request came from, as it will be remembered."""
        user_agent = self.request.headers.get("User-Agent")
        return Origin(
            request_id=self.request_id,
            ip_address=self.address,
            user_agent=user_agent[:USER_AGENT_CHARACTERS_MAX].replace("\x00", "") if user_agent else None,
        )

    def limit(self, *limits: RateLimit) -> None:
        """Draw from these buckets; a handler does so where what was sent decides which limits apply."""
        self._limiter.take(limits, limited_network(self.address))

    async def transact(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case in one transaction, on behalf of whoever called."""
        return await self.house.database.on_behalf_of(self.origin).transact(use_case, *args, **kwargs)

    async def read(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run a use case that only looks, on behalf of whoever called."""
        return await self.house.database.on_behalf_of(self.origin).read(use_case, *args, **kwargs)
