"""Who calls: the claims of an access token as a typed object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from gatehouse_client.claims import SECONDS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person, by the id that never changes; `email` is None where the token does not name it."""

    id: str
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """The organization of the service, and the person's role there; None where the person has none."""

    slug: str
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """The customer for which a person came. `id` is the key of your data; `external_id` is your own id of it."""

    id: str
    slug: str
    name: str
    role: str | None = None
    service_roles: tuple[str, ...] = ()
    external_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of the directory that the service learns of."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The holder of a valid access token. `person` is None for a program with a token of its own."""

    subject: str
    person: Person | None
    session: str | None
    organization: Organization | None
    customer: Customer | None
    service: str | None
    client_id: str | None
    plan: str | None
    subscription_status: str | None
    features: tuple[str, ...]
    groups: tuple[Group, ...]
    scopes: frozenset[str]
    # The id of the operator of the platform who acts as this person.
    impersonator: str | None
    # How the person signed in, and when.
    amr: tuple[str, ...]
    auth_time: datetime | None
    expires_at: datetime
    # Everything that the token says.
    claims: Mapping[str, Any] = field(repr=False)

    @property
    def email(self) -> str | None:
        """The address of the person; None for a program, and where the token does not name it."""
        return self.person.email if self.person is not None else None

    @property
    def roles(self) -> frozenset[str]:
        """The roles in the context of the token: for a customer those there, else the one in the organization."""
        if self.customer is not None:
            own = {self.customer.role} if self.customer.role is not None else set[str]()
            return frozenset(own | set(self.customer.service_roles))
        role = self.organization.role if self.organization is not None else None
        return frozenset({role} if role is not None else ())


def caller_of(claims: Mapping[str, Any]) -> Caller:
    """Return the caller of claims that were verified."""
    subject = str(claims["sub"])
    client_id = _text(claims, "client_id")
    # A token of the client credentials grant has the client itself as its subject (RFC 9068, 2.2).
    is_program = "sid" not in claims and subject == client_id
    return Caller(
        subject=subject,
        person=None if is_program else Person(id=subject, email=_text(claims, "email")),
        session=_text(claims, "sid"),
        organization=_organization(claims),
        customer=_customer(claims),
        service=_text(claims, "service"),
        client_id=client_id,
        plan=_text(claims, "plan"),
        subscription_status=_text(claims, "subscription_status"),
        features=_texts(claims, "features"),
        groups=_groups(claims),
        scopes=frozenset((_text(claims, "scope") or "").split()),
        impersonator=_text(claims, "impersonator"),
        amr=_texts(claims, "amr"),
        auth_time=_moment(claims.get("auth_time")),
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
        claims=claims,
    )


def _organization(claims: Mapping[str, Any]) -> Organization | None:
    slug = _text(claims, "org")
    return Organization(slug=slug, role=_text(claims, "role")) if slug is not None else None


def _customer(claims: Mapping[str, Any]) -> Customer | None:
    identifier = _text(claims, "customer_id")
    if identifier is None:
        return None
    return Customer(
        id=identifier,
        slug=_text(claims, "customer") or "",
        name=_text(claims, "customer_name") or "",
        role=_text(claims, "customer_role"),
        service_roles=_texts(claims, "service_roles"),
        external_id=_text(claims, "customer_external_id"),
    )


def _groups(claims: Mapping[str, Any]) -> tuple[Group, ...]:
    listed = _entries(claims, "groups")
    groups = [cast("Mapping[str, Any]", entry) for entry in listed if isinstance(entry, dict)]
    return tuple(
        Group(id=str(group["id"]), name=str(group["name"])) for group in groups if {"id", "name"} <= set(group)
    )


def _text(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name)
    return value if isinstance(value, str) else None


def _texts(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(value for value in _entries(claims, name) if isinstance(value, str))


def _entries(claims: Mapping[str, Any], name: str) -> list[object]:
    value = claims.get(name)
    return cast("list[object]", value) if isinstance(value, list) else []


def _moment(value: object) -> datetime | None:
    if not isinstance(value, int | float) or not 0 <= value < SECONDS_MAX:
        return None
    return datetime.fromtimestamp(value, UTC)
