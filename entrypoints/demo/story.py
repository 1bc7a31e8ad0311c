"""Who is in the demo: three organizations, their people, their customers, and what went wrong in their month."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.demo.past import Visitor

DAYS: Final = 30
# Of all accounts. Only a demo has a password that is public.
PASSWORD: Final = "gatehouse demo"  # noqa: S105 - published, for an installation that is for nothing else
PLATFORM_OWNER: Final = "owner@gatehouse.test"
SHOP: Final = "shop"
# The receiver of the second organization was away for this part of the month, and that of the third is gone since.
AWAY: Final = (timedelta(days=12, hours=9), timedelta(days=12, hours=16))
GONE_AFTER: Final = timedelta(days=21)
BROWSERS: Final = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5"
    " Mobile/15E148 Safari/604.1",
)
BACKEND: Final = Visitor("192.0.2.10", "shop-backend/3.2")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOrganization:
    """An organization of the demo; the first of its people is its owner, the second an administrator."""

    slug: str
    name: str
    people: tuple[str, ...]
    invited: str

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of its people."""
        return tuple(self.address_of(name) for name in self.people)

    def address_of(self, name: str) -> str:
        """Return the address of a person."""
        return f"{name}@{self.slug}.example"


ACME: Final = DemoOrganization(
    slug="acme", name="Acme Tools", people=("ann", "ben", "cleo", "dan", "eve", "finn"), invited="gwen"
)
BOLT: Final = DemoOrganization(slug="bolt", name="Bolt Logistics", people=("hugo", "iris", "jan", "kim"), invited="lea")
CORD: Final = DemoOrganization(slug="cord", name="Cord Media", people=("mia", "nils", "olga"), invited="pia")
ORGANIZATIONS: Final = (ACME, BOLT, CORD)
# They sign in to the shop of the first organization.
CUSTOMERS: Final = tuple(f"{name}@customer.example" for name in ("quin", "rosa", "sam", "tess", "uma", "vic"))


def visitor_of(email: str) -> Visitor:
    """Return where a person signs in from: always the same place."""
    everyone = [*(address for one in ORGANIZATIONS for address in one.addresses), *CUSTOMERS, PLATFORM_OWNER]
    number = everyone.index(email) if email in everyone else len(everyone)
    return Visitor(f"198.51.100.{10 + number}", BROWSERS[number % len(BROWSERS)])
