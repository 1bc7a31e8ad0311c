"""Who calls: the claims of an access token as a typed object.

Three kinds of roles may have the same names, and are never merged: `role` is the role in the vendor's own organization,
`customer_role` the role in a customer's, which a stranger may have founded, and `service_roles` are the product's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar, cast

from gatehouse_client.claims import SECONDS_MAX

Value = TypeVar("Value", str, int, float, bool)
# Each of them says that a person came for a customer.
_OF_CUSTOMER: Final = frozenset({"customer", "customer_id", "customer_name", "customer_role", "customer_external_id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person, by the id that never changes; `email` is None where the token does not name it."""

    id: str
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Organization:
    """The organization of the service, which is the vendor's.

    `role` is the person's role there: None where they have none, and where they came for a customer.
    """

    slug: str
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """The customer for which a person came. `id` is the key of your data; `external_id` is your own id of it.

    `role` is the person's role in the organization of the customer, and says nothing of yours. `service_roles` are the
    roles of your product that the person has there.
    """

    id: str
    slug: str
    name: str
    role: str | None = None
    service_roles: tuple[str, ...] = ()
    external_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of the directory in the claims of the service.

    Where `groups_as` of the service is `names` or `ids`, tokens have one text, and both fields are that text.
    """

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
    # In the vendor's own organization; None for everyone who came for a customer.
    role: str | None
    # In the organization of the customer; None for everyone who came without one.
    customer_role: str | None
    # Of the product, in the context in which the person came.
    service_roles: tuple[str, ...]
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

    def claim(self, name: str, kind: type[Value]) -> Value | None:
        """Return a claim of your product that is a text, a number or a truth value: `caller.claim("tier", str)`.

        None where the token has none, or one of another type. A number of either kind is a `float` as well.
        """
        value = self.claims.get(name)
        if isinstance(value, bool) and kind is not bool:
            return None
        if kind is float and isinstance(value, int):
            return kind(value)
        return value if isinstance(value, kind) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a claim of your product that is a list of texts; of a list of groups, their names."""
        named = (
            cast("Mapping[str, Any]", one).get("name") if isinstance(one, dict) else one
            for one in _entries(self.claims, name)
        )
        return tuple(one for one in named if isinstance(one, str))


def caller_of(claims: Mapping[str, Any]) -> Caller:
    """Return the caller of claims that were verified."""
    subject = str(claims["sub"])
    client_id = _text(claims, "client_id")
    # A token of the client credentials grant has the client itself as its subject (RFC 9068, 2.2).
    is_program = "sid" not in claims and subject == client_id
    role, customer = _role(claims), _customer(claims)
    return Caller(
        subject=subject,
        person=None if is_program else Person(id=subject, email=_text(claims, "email")),
        session=_text(claims, "sid"),
        organization=_organization(claims, role),
        customer=customer,
        role=role,
        customer_role=customer.role if customer is not None else None,
        service_roles=_texts(claims, "service_roles"),
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


def is_for_customer(claims: Mapping[str, Any]) -> bool:
    """Return whether a person came for a customer."""
    return not _OF_CUSTOMER.isdisjoint(claims)


def _role(claims: Mapping[str, Any]) -> str | None:
    # Gatehouse names none for a customer's people. If a token did, it would still be a stranger's role.
    return None if is_for_customer(claims) else _text(claims, "role")


def _organization(claims: Mapping[str, Any], role: str | None) -> Organization | None:
    slug = _text(claims, "org")
    return Organization(slug=slug, role=role) if slug is not None else None


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
    found = [_group(entry) for entry in _entries(claims, "groups")]
    return tuple(group for group in found if group is not None)


def _group(entry: object) -> Group | None:
    if isinstance(entry, str):
        return Group(id=entry, name=entry)
    if not isinstance(entry, dict):
        return None
    group = cast("Mapping[str, Any]", entry)
    return Group(id=str(group["id"]), name=str(group["name"])) if {"id", "name"} <= set(group) else None


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
