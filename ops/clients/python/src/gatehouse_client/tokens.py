"""Verifying access tokens offline: the signature by the published keys, and what the claims say.

`TokenVerifier` is for programs without async, `AsyncTokenVerifier` for asyncio and Trio; the rules are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any, Final, cast

import httpx

from gatehouse_client import claims, dpop
from gatehouse_client.callers import Caller, caller_of, is_for_customer
from gatehouse_client.claims import LEEWAY_SECONDS_MAX, Rules
from gatehouse_client.dpop import Proof
from gatehouse_client.errors import ProofRefused, ScopeMissing, TokenRefused
from gatehouse_client.introspection import Introspection
from gatehouse_client.keys import KeySet
from gatehouse_client.provider import Provider
from gatehouse_client.seen import MemorySeen, SeenOnce
from gatehouse_client.signatures import SignedToken, parse, require_signature
from gatehouse_client.steps import AsyncIO, BlockingIO, Steps, invoke, now, run, run_async

# What the answer of an introspection does not repeat, so that it is as the token says.
_AS_ISSUED: Final = frozenset(
    {
        *("iss", "sub", "aud", "exp", "iat", "nbf", "jti", "sid", "amr", "auth_time", "cnf", "act", "client_id"),
        *("org", "organization_id", "email", "service", "plan", "subscription_status", "features", "workload"),
        *("is_platform_owner", "is_platform_support", "impersonator", "impersonation_session"),
    }
)
ACCESS_TOKEN: Final = "at+jwt"  # noqa: S105 - the name of a kind of tokens


class Verification:
    """The rules of one verifier, as steps that both drivers take."""

    def __init__(
        self,
        issuer: str,
        *,
        audience: str | Collection[str],
        client_id: str | None = None,
        client_secret: str | None = None,
        leeway_seconds: float = LEEWAY_SECONDS_MAX,
        proofs: SeenOnce | None = None,
    ) -> None:
        audiences = (audience,) if isinstance(audience, str) else tuple(audience)
        self.provider = Provider(issuer)
        self.rules = Rules(issuer=self.provider.issuer, audiences=audiences, leeway_seconds=leeway_seconds)
        self.keys = KeySet(self.provider)
        self._proofs = proofs or MemorySeen()
        self._introspection = (
            Introspection(self.provider, client_id or audiences[0], client_secret)
            if client_secret is not None
            else None
        )

    @property
    def issuer(self) -> str:
        """The issuer of the tokens."""
        return self.provider.issuer

    def verify(self, token: str, scopes: Collection[str], proof: Proof | None) -> Steps[Caller]:
        """Return who calls."""
        parsed = yield from self.signed(token, kinds=(ACCESS_TOKEN,))
        at = yield from now()
        claims.require(parsed.claims, self.rules, at=at)
        yield from self._require_proof(token, parsed, proof, at=at)
        caller = caller_of(parsed.claims)
        require_scopes(caller, scopes)
        return caller

    def introspect(self, token: str, scopes: Collection[str], proof: Proof | None) -> Steps[Caller]:
        """Return who calls, after asking Gatehouse about a token that is valid here."""
        if self._introspection is None:
            raise TypeError("introspection takes the client_secret of the service")
        caller = yield from self.verify(token, (), proof)
        answer = yield from self._introspection.ask(token)
        # A session's customer never changes, so without one the answer would be about another person.
        if is_for_customer(caller.claims) and not is_for_customer(answer):
            raise TokenRefused("the token holds no longer for its customer")
        # A claim that Gatehouse leaves out no longer holds: a role, a customer, or a claim of the product.
        known = {name: value for name, value in caller.claims.items() if name in _AS_ISSUED}
        caller = caller_of({**known, **answer})
        require_scopes(caller, scopes)
        return caller

    def signed(self, token: str, *, kinds: Collection[str | None]) -> Steps[SignedToken]:
        """Return a token of these kinds that the installation has signed; its claims are still to be judged."""
        parsed = parse(token)
        if parsed.header.get("typ") not in kinds:
            raise TokenRefused("the token is of another kind")
        key = yield from self.keys.find(parsed.key_id)
        require_signature(parsed, key)
        return parsed

    def _require_proof(self, token: str, parsed: SignedToken, proof: Proof | None, *, at: float) -> Steps[None]:
        confirmation: object = parsed.claims.get("cnf")
        if confirmation is None:
            if proof is not None:
                raise TokenRefused("the token is bound to no key, and came with the scheme DPoP")
            return
        thumbprint = _thumbprint(confirmation)
        if proof is None:
            raise ProofRefused("the token is bound to a key, and came without a proof")
        fits = dpop.check(proof, token, thumbprint, at=at, leeway_seconds=self.rules.leeway_seconds)

        def add() -> Any:
            return self._proofs.add(fits.text, until=fits.until, at=at)

        if not (yield from invoke(add)):
            raise ProofRefused("the proof was used before")


def require_scopes(caller: Caller, scopes: Collection[str]) -> None:
    """Raise `ScopeMissing` unless the token of the caller has all of these scopes."""
    missing = [scope for scope in scopes if scope not in caller.scopes]
    if missing:
        raise ScopeMissing(missing, required=list(scopes))


def _thumbprint(confirmation: object) -> str:
    thumbprint: object = cast("dict[str, object]", confirmation).get("jkt") if isinstance(confirmation, dict) else None
    # A confirmation of another kind, such as a certificate's, cannot be checked here.
    if not isinstance(thumbprint, str):
        raise TokenRefused("the token is bound to something else than a key")
    return thumbprint


class TokenVerifier:
    """Verifies access tokens of one installation, without async; threads may share it.

    `audience` is the client id of the service, or the address of the API that is among its `audiences`. `client_secret`
    is for `introspect` alone, with the `client_id` when that is not the audience.
    """

    def __init__(
        self,
        issuer: str,
        *,
        audience: str | Collection[str],
        client_id: str | None = None,
        client_secret: str | None = None,
        leeway_seconds: float = LEEWAY_SECONDS_MAX,
        proofs: SeenOnce | None = None,
        client: httpx.Client | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.io = BlockingIO(client, clock=clock)
        self.steps = Verification(
            issuer,
            audience=audience,
            client_id=client_id,
            client_secret=client_secret,
            leeway_seconds=leeway_seconds,
            proofs=proofs,
        )

    def verify(self, token: str, *, scopes: Collection[str] = (), dpop: Proof | None = None) -> Caller:
        """Return who calls; raise `TokenRefused`, `ScopeMissing`, or `Unreachable` when the keys are not known."""
        return run(self.steps.verify(token, scopes, dpop), self.io)

    def introspect(self, token: str, *, scopes: Collection[str] = (), dpop: Proof | None = None) -> Caller:
        """Return who calls, as `verify` does, after asking whether the token still holds; answers are kept for 5 s."""
        return run(self.steps.introspect(token, scopes, dpop), self.io)

    def close(self) -> None:
        """Close the connections."""
        self.io.close()


class AsyncTokenVerifier:
    """Verifies access tokens of one installation as `TokenVerifier` does, on asyncio or Trio."""

    def __init__(
        self,
        issuer: str,
        *,
        audience: str | Collection[str],
        client_id: str | None = None,
        client_secret: str | None = None,
        leeway_seconds: float = LEEWAY_SECONDS_MAX,
        proofs: SeenOnce | None = None,
        client: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.io = AsyncIO(client, clock=clock)
        self.steps = Verification(
            issuer,
            audience=audience,
            client_id=client_id,
            client_secret=client_secret,
            leeway_seconds=leeway_seconds,
            proofs=proofs,
        )

    async def verify(self, token: str, *, scopes: Collection[str] = (), dpop: Proof | None = None) -> Caller:
        """Return who calls; raise `TokenRefused`, `ScopeMissing`, or `Unreachable` when the keys are not known."""
        return await run_async(self.steps.verify(token, scopes, dpop), self.io)

    async def introspect(self, token: str, *, scopes: Collection[str] = (), dpop: Proof | None = None) -> Caller:
        """Return who calls, as `verify` does, after asking whether the token still holds; answers are kept for 5 s."""
        return await run_async(self.steps.introspect(token, scopes, dpop), self.io)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.io.aclose()
