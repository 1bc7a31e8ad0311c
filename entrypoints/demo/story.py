"""Who is in the demo: a vendor, the organizations that use its shop, their people, and what went wrong in a month."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.demo.past import Visitor

DAYS: Final = 30
# Of all accounts. Only a demo has a password that is public.
PASSWORD: Final = "gatehouse demo"  # noqa: S105 - published, for an installation that is for nothing else
PLATFORM_OWNER: Final = "owner@gatehouse.test"
SHOP: Final = "shop"
# The roles of the shop, which its customers assign.
ROLES: Final = (
    {"name": "editor", "title": "Editor", "description": "Orders for the organization."},
    {"name": "viewer", "title": "Viewer", "description": "Sees what the organization has ordered."},
)
# The receiver of the second organization was away for this part of the month; the third one's is gone since.
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
DIRECTORY_CLIENT: Final = Visitor("192.0.2.20", "bolt-directory/1.0")


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


# The vendor of the shop.
ACME: Final = DemoOrganization(
    slug="acme", name="Acme Tools", people=("ann", "ben", "cleo", "dan", "eve", "finn"), invited="gwen"
)
# What the pages of a sign-in to the shop look like: a gear beside the name, drawn without a font.
_GEAR: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><path fill="#8a3b12" d="M21 2h6l1 6 4 2 5-4 5 5-4 5 2'
    ' 4 6 1v6l-6 1-2 4 4 5-5 5-5-4-4 2-1 6h-6l-1-6-4-2-5 4-5-5 4-5-2-4-6-1v-6l6-1 2-4-4-5 5-5 5 4 4-2z"/>'
    '<circle cx="24" cy="24" r="8" fill="#fff8f2"/></svg>'
)
_PICTURE: Final = f"data:image/svg+xml;base64,{base64.b64encode(_GEAR.encode()).decode()}"
BRAND: Final = {
    "logo": _PICTURE,
    "icon": _PICTURE,
    "primary_color": "#8a3b12",
    "background_color": "#fff8f2",
    "support_email": "help@acme.example",
}
# A customer with an identity provider and a directory of its own.
BOLT: Final = DemoOrganization(slug="bolt", name="Bolt Logistics", people=("hugo", "iris", "jan", "kim"), invited="lea")
# A customer whose people have passwords.
CORD: Final = DemoOrganization(slug="cord", name="Cord Media", people=("mia", "nils", "olga"), invited="pia")
# The shop is offered to it, and it has not answered yet.
DUNE: Final = DemoOrganization(slug="dune", name="Dune Studio", people=("rita", "saul"), invited="tove")
ORGANIZATIONS: Final = (ACME, BOLT, CORD, DUNE)
# The customers of the shop, and what the vendor calls them in its own records.
BUYERS: Final = {BOLT: "B-1001", CORD: "C-1002"}
OFFERED: Final = (DUNE, "D-1003")
# An offer lives for 30 days, so that this one is open for a month after the demo was made.
OFFERED_ON_DAY: Final = 28
# An admin of the second customer, who is a member of the first one as well.
IN_TWO: Final = CORD.address_of("nils")
# The people of the directory of the first customer, who sign in by its identity provider and have no password; those in
# the warehouse order.
WAREHOUSE: Final = "Warehouse"
DIRECTORY: Final = (BOLT.address_of("lars"), BOLT.address_of("mona"))
IN_WAREHOUSE: Final = DIRECTORY[:1]
PROVIDER_PATH: Final = "/bolt"
MAIL_DOMAIN: Final = "bolt.example"
# What people are called, by the first parts of their addresses.
NAMES: Final = {
    "ann": "Ann Archer",
    "ben": "Ben Okafor",
    "cleo": "Cleo Laurent",
    "dan": "Dan Fischer",
    "eve": "Eve Novak",
    "finn": "Finn Larsen",
    "gwen": "Gwen Price",
    "hugo": "Hugo Brandt",
    "iris": "Iris Costa",
    "jan": "Jan de Vries",
    "kim": "Kim Nguyen",
    "lars": "Lars Holm",
    "lea": "Lea Moreau",
    "mia": "Mia Rossi",
    "mona": "Mona Haddad",
    "nils": "Nils Berg",
    "olga": "Olga Petrova",
    "pia": "Pia Keller",
    "quin": "Quin Adler",
    "rita": "Rita Mendes",
    "rosa": "Rosa Klein",
    "sam": "Sam Carter",
    "saul": "Saul Weiss",
    "tess": "Tess Morgan",
    "tove": "Tove Lind",
    "uma": "Uma Patel",
    "vic": "Vic Dumont",
    "owner": "Olivia Stone",
}
# People who use the shop for themselves.
INDIVIDUALS: Final = tuple(f"{name}@customer.example" for name in ("quin", "rosa", "sam", "tess", "uma", "vic"))


def name_of(email: str) -> str:
    """Return the name of the person with an address."""
    return NAMES[email.partition("@")[0]]


def visitor_of(email: str) -> Visitor:
    """Return where a person signs in from: always the same place."""
    everyone = [*(address for one in ORGANIZATIONS for address in one.addresses), *INDIVIDUALS, PLATFORM_OWNER]
    number = everyone.index(email) if email in everyone else len(everyone)
    return Visitor(f"198.51.100.{10 + number}", BROWSERS[number % len(BROWSERS)])
