"""Who and what the tests of a product are about: organizations, people, and the product itself."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Person:
    """A person with an account and a proved address."""

    id: str
    email: str
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Organization:
    """An active organization, and its owner."""

    id: str
    slug: str
    name: str
    owner: Person


@dataclass(frozen=True, kw_only=True)
class Product:
    """A service of an organization, which people sign in to; `client_secret` is empty for one without a secret."""

    id: str
    slug: str
    organization: Organization
    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str


@dataclass(frozen=True, kw_only=True)
class MadeCustomer:
    """A customer that the program of a vendor has made; `key` is the API key of that program, which sets it up."""

    id: str
    name: str
    product: Product
    key: str = field(repr=False)
