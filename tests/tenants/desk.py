"""The service with customers that a history has when one of its steps uses it, and what people hold of it.

What opens it is in `products.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.tenants.customers import Rights
from tests.tenants.model import Way
from tests.tenants.products import Product

if TYPE_CHECKING:
    from tests.tenants.model import Held, Person
    from tests.world.builder import Service
    from tests.world.relying_party import RelyingParty
    from tests.world.saml import SamlService
    from tests.world.visitor import Visitor


@dataclass(eq=False)
class DeskSession:
    """A session at the desk: by whose connection it began, None without one, and what it was judged to open last."""

    limits: str | None
    is_by_code: bool
    judged: Rights | str | None = "nothing was judged yet"


@dataclass
class Browser:
    """A browser that has signed in, by the password of its account or by a connection."""

    person: Person
    address: str
    visitor: Visitor
    limits: str | None
    way: Way = Way.PERSON


@dataclass
class KeptCode:
    """A code that a client has not redeemed yet, and what it was issued for."""

    browser: Browser
    user_id: str
    code: str
    customer_id: str


@dataclass
class Desk(Product):
    """The service with customers of a history: its credentials, and what people hold of it."""

    party: RelyingParty
    service: Service
    owner_token: str
    key: str
    connection_id: str
    sessions: dict[Held, DeskSession] = field(default_factory=dict["Held", DeskSession])
    browsers: list[Browser] = field(default_factory=list[Browser])
    codes: list[KeptCode] = field(default_factory=list[KeptCode])
    # The addresses with which people tried to sign in, and those that the vendor was shown by a shared directory.
    attempted: set[str] = field(default_factory=set[str])
    shown: set[str] = field(default_factory=set[str])
    # Of which accounts for which customers it may have been told by a shared directory.
    told: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    # Its application by SAML, and the account and the customer of each name there; None while no step has used it.
    saml: SamlService | None = None
    names_by_saml: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    # What its program has noted about people.
    notes: list[str] = field(default_factory=list[str])

    @property
    def slug(self) -> str:
        """The slug of the vendor."""
        return self.party.slug
