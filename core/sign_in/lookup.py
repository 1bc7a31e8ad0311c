"""How an address signs in, by its domain alone; whether an account has it plays no part (decisions 3.7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID  # noqa: TC003 - the reference is made from the fields of `Lookup`

from core.email_addresses import normalize_email


class AuthMethod(StrEnum):
    """Where somebody proves who they are."""

    PASSWORD = "password"  # noqa: S105 - the name of a method, not a secret
    UPSTREAM = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How the addresses of a domain sign in; null is what does not apply."""

    domain: str
    auth_method: AuthMethod
    connection_id: UUID | None = None
    provider_name: str | None = None
    organization: str | None = None
    sso_required: bool = False
    login_url: str | None = None


def by_domain(email: str) -> Lookup:
    """Say how the domain of an address signs in; as long as no domain has a provider of its own, by password."""
    return Lookup(domain=normalize_email(email).rpartition("@")[2], auth_method=AuthMethod.PASSWORD)
