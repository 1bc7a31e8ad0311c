"""The service of A that it may close to strangers, and what people hold of it; who may come in is in `products.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.tenants.products import Product

if TYPE_CHECKING:
    from tests.tenants.customers import Rights
    from tests.tenants.desk import Browser
    from tests.tenants.model import Held
    from tests.world.relying_party import RelyingParty
    from tests.world.saml import SamlService


@dataclass(eq=False)
class OfficeSession:
    """A session at the office: whether a client got it for a code, and what it was judged to open last."""

    is_by_code: bool
    judged: Rights | str | None = "nothing was judged yet"


@dataclass(kw_only=True)
class Office(Product):
    """The service, which has no customers: its credentials, and what people hold of it."""

    party: RelyingParty
    key: str
    sessions: dict[Held, OfficeSession] = field(default_factory=dict["Held", OfficeSession])
    # Browsers with the codes that they have brought, which the client has not redeemed yet.
    codes: list[tuple[Browser, str]] = field(default_factory=list["tuple[Browser, str]"])
    # Its application by SAML; None while no step has used it.
    saml: SamlService | None = None
