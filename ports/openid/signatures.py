"""Verifying signatures that were not made here: assertions of clients, and proofs of possession."""

from collections.abc import Container, Mapping
from typing import Any, Protocol
from uuid import UUID

from core.openid.clients import KeySet
from core.openid.dpop import SelfSigned


class Signatures(Protocol):
    """Verifies signed tokens that were not issued here; by public keys and asymmetric algorithms alone.

    A signed token is in the compact form (RFC 7515, 7.1), in the one way to write its bytes: without padding, without
    blanks, and without bits that encode nothing.
    """

    def named_issuer(self, token: str) -> str | None:
        """Return the `iss` that a token claims, unverified, to find its keys; None when it is no signed token."""
        ...

    def named_type(self, token: str) -> object:
        """Return the `typ` of a token, unverified; None without one."""
        ...

    def unverified(self, token: str) -> Mapping[str, Any] | None:
        """Return the claims of a token, unverified, to find its keys; None when it is no signed token."""
        ...

    def verified(
        self, token: str, keys: KeySet, *, algorithms: Container[str] | None = None, kind: str | None = None
    ) -> Mapping[str, Any] | None:
        """Return the claims of a token that one of the keys has signed; None for any other text.

        `algorithms` are the ones accepted from this signer, None for all; `kind` is the `typ` that the token must have.
        """
        ...

    def self_signed(self, token: str, *, kind: str) -> SelfSigned | None:
        """Return a token of this `typ` that is signed with the public key in its header; None for any other text."""
        ...

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The accepted algorithms, as discovery names them."""
        ...


class KeySets(Protocol):
    """Key sets of clients, and of the issuers of foreign tokens: for workloads, and for sessions that providers end."""

    async def fetch(
        self, organization_id: UUID, uri: str, *, is_fresh: bool = False, is_kept: bool = False
    ) -> KeySet | None:
        """Return the key set at an address that an organization has named; None when it cannot be had.

        It may be some minutes old. `is_fresh` asks for one that is hardly older than this call, for a key that the
        known set does not have. With `is_kept` the known set counts for a day while no newer one can be had.
        """
        ...

    async def discover(self, organization_id: UUID, issuer: str, *, is_fresh: bool = False) -> KeySet | None:
        """Return the key set that the discovery document of an issuer names, as `fetch` does; it is kept for a day."""
        ...
