"""The page of the applications that a person may open: which it lists, and how each is opened."""

from __future__ import annotations

import re
from html import unescape
from uuid import UUID

import pytest

from core.customers.my_applications import TILES_MAX, TilePosition, position_of
from core.sign_in import customer_choices
from core.sign_in.customer_choices import AS_INDIVIDUAL, NotOpen
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.statements import recorded_statements
from tests.world.builder import EMAIL, Service
from tests.world.saml import SamlWorld
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/my-applications"
OPENED_BY_ITSELF = "Open it at its own address."


def tiles_of(page: Answer) -> list[tuple[str, str, str]]:
    """Return the tiles of a page: the name, what is beneath it, and the address."""
    found = list[tuple[str, str, str]]()
    for tile in re.findall(r'<li class="tile">(.*?)</li>', page.text, re.DOTALL):
        address = re.search(r'href="([^"]*)"', tile)
        name = re.sub(r'<span class="unseen">.*?</span>', "", re.search(r'tile-name">(.*?)</p>', tile, re.DOTALL)[1])  # type: ignore[index]
        beneath = ", ".join(re.findall(r'<p class="hint">(.*?)</p>', tile))
        found.append((re.sub(r"<[^>]*>", "", name), beneath, unescape(address[1]) if address else ""))
    return found


def names_of(page: Answer) -> list[str]:
    """Return the names of the tiles of a page, with what is beneath them."""
    return [f"{name} {beneath}".replace(f", {OPENED_BY_ITSELF}", "") for name, beneath, _ in tiles_of(page)]


class Mall:
    """Organizations with services of their names, and a person."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.user_id = world.user(EMAIL)
        self.ids = dict[str, UUID]()
        self.services = dict[str, Service]()

    def vendor(self, slug: str, *, starts: bool = True, **customers: str) -> Service:
        """Insert an organization with a service, which is one for customers if that is said."""
        self.organization(slug)
        service = self.services[slug] = self.world.service(self.ids[slug], f"{slug}-app", name=f"App of {slug}")
        if starts:
            query = "UPDATE services SET initiate_login_uri = 'https://app.example/login' WHERE id = %s"
            self.world.connection.execute(query, (service.id,))
        if customers:
            self.world.serve_customers(service, **customers)
        return service

    def organization(self, slug: str) -> UUID:
        """Insert an organization."""
        self.ids[slug] = self.world.organization(slug)
        return self.ids[slug]

    def belongs_to(self, slug: str, *, is_confirmed: bool = True) -> None:
        """Make the person a member."""
        self.world.member(self.ids[slug], self.user_id, is_confirmed=is_confirmed)

    def uses(self, slug: str, *, origin: str = "self", is_used: bool = True) -> None:
        """Link the person to the service of an organization."""
        now = self.world.clock()
        self.world.connection.execute(
            """
            INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at, origin)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (self.services[slug].id, self.ids[slug], self.user_id, now, now if is_used else None, origin),
        )

    def suspend(self, slug: str) -> None:
        """Deactivate the membership of the person."""
        query = "UPDATE memberships SET suspended_at = created_at WHERE organization_id = %s"
        self.world.connection.execute(query, (self.ids[slug],))


@pytest.fixture
def mall(world: World) -> Mall:
    return Mall(world)


async def test_each_tile_names_whose_the_application_is_and_leads_to_its_page(mall: Mall, visitor: Visitor) -> None:
    own, used = mall.vendor("acme"), mall.vendor("bank")
    desk = mall.vendor("desk", individuals="others")
    mall.vendor("edge", starts=False)
    mall.organization("globex")
    mall.organization("initech")
    for slug in ("acme", "edge", "globex", "initech"):
        mall.belongs_to(slug)
    mall.uses("bank")
    globex, initech = (mall.world.customer(desk, mall.ids[slug]) for slug in ("globex", "initech"))
    mall.world.connection.execute("UPDATE organizations SET name = '<b>Globex</b>' WHERE slug = 'globex'")
    await visitor.sign_in()

    page = await visitor.open(PAGE)

    start = f"/auth/start/{desk.client_id}"
    assert tiles_of(page) == [
        ("App of acme", "of Acme", f"/auth/start/{own.client_id}"),
        ("App of bank", "of Bank", f"/auth/start/{used.client_id}"),
        *sorted(
            [
                ("App of desk", "of Desk, for &lt;b&gt;Globex&lt;/b&gt;", f"{start}?customer={globex}"),
                ("App of desk", "of Desk, for Initech", f"{start}?customer={initech}"),
            ],
            key=lambda tile: tile[2],
        ),
        ("App of edge", f"of Edge, {OPENED_BY_ITSELF}", ""),
    ]
    led = await visitor.send("GET", f"{start}?customer={globex}")
    assert led.status == 303
    assert f"customer={globex}" in led.headers["Location"]


async def test_what_the_person_may_not_open_is_not_named(mall: Mall, visitor: Visitor) -> None:
    connection = mall.world.connection
    for slug in ("stranger", "added", "given", "off", "gone", "suspended"):
        mall.vendor(slug)
    mall.vendor("closed", individuals="none")
    mall.vendor("busy", individuals="others")
    mall.vendor("paused", individuals="none")
    mall.vendor("assigned", individuals="none")
    mall.vendor("barred", individuals="others")
    mall.organization("globex")
    mall.organization("visitors")
    mall.belongs_to("globex")
    # Memberships that others made and the person has not confirmed add nothing here.
    mall.belongs_to("added", is_confirmed=False)
    mall.uses("given", origin="key", is_used=False)
    mall.belongs_to("visitors", is_confirmed=False)
    for slug in ("off", "gone", "suspended", "barred"):
        mall.belongs_to(slug)
    for slug in ("off", "closed", "busy"):
        mall.uses(slug)
    mall.suspend("off")
    mall.suspend("barred")
    connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'suspended'")
    connection.execute(
        """
        UPDATE organizations
        SET    status = 'deleting', status_before_deletion = status, deletes_at = created_at
        WHERE  slug = 'gone'
        """
    )
    mall.world.customer(mall.services["busy"], mall.ids["visitors"])
    mall.world.customer(mall.services["busy"], mall.ids["globex"])
    mall.world.customer(mall.services["paused"], mall.ids["globex"], paused_by=["vendor"])
    mall.world.customer(mall.services["assigned"], mall.ids["globex"], access="assigned")
    mall.world.customer(mall.services["barred"], mall.ids["globex"])
    await visitor.sign_in()

    # For individuals, the service `busy` is closed to the people of its customers.
    assert names_of(await visitor.open(PAGE)) == ["App of busy of Busy, for Globex"]


async def test_what_a_proved_mail_domain_says_counts_before_it_is_confirmed(mall: Mall, visitor: Visitor) -> None:
    mall.vendor("acme")
    mall.belongs_to("acme", is_confirmed=False)
    mall.vendor("desk", individuals="none")
    mall.organization("globex")
    mall.belongs_to("globex", is_confirmed=False)
    mall.world.customer(mall.services["desk"], mall.ids["globex"])
    await visitor.sign_in()
    for slug in ("acme", "globex"):
        mall.world.connection.execute("DELETE FROM domain_routes")
        mall.world.mail_domain(mall.ids[slug], EMAIL.partition("@")[2])
        names = {"acme": ["App of acme of Acme"], "globex": ["App of desk of Desk, for Globex"]}
        assert names_of(await visitor.open(PAGE)) == names[slug]
    # A session that is older than the proof of the address may belong to another person.
    mall.world.connection.execute("UPDATE sessions SET created_at = created_at - interval '1 hour'")
    mall.world.connection.execute("UPDATE users SET email_verified_at = created_at")
    assert tiles_of(await visitor.open(PAGE)) == []


async def test_every_tile_is_open_by_the_rules_of_signing_in_and_every_other_way_is_not(
    mall: Mall, visitor: Visitor
) -> None:
    for number, individuals in enumerate(("none", "others", "all") * 3):
        slug = f"v{number}"
        mall.vendor(slug, individuals=individuals)
        if number >= 3:
            mall.uses(slug)
        if number >= 6:
            mall.belongs_to(slug)
    for slug in ("globex", "initech"):
        mall.organization(slug)
        mall.belongs_to(slug)
    mall.suspend("initech")
    customers = {
        (number, slug): mall.world.customer(
            mall.services[f"v{number}"],
            mall.ids[slug],
            access="assigned" if number == 4 else "members",
            paused_by=["customer"] if number == 5 else (),
        )
        for number in (1, 4, 5, 8)
        for slug in ("globex", "initech")
    }
    await visitor.sign_in()
    shown = {address for _, _, address in tiles_of(await visitor.open(PAGE))}

    def is_open(uow: UnitOfWork, slug: str, named: str) -> bool:
        place = uow.sign_in_places.defer(mall.user_id, slug, f"{slug}-app")()
        choice = customer_choices.choose(place.service, place.customers, named, None, on_page=True)
        return not place.is_suspended and not isinstance(choice, NotOpen)

    ways = [(f"v{number}", AS_INDIVIDUAL) for number in range(9)]
    ways += [(f"v{number}", str(customer_id)) for (number, _), customer_id in customers.items()]
    for slug, named in ways:
        is_known = named != AS_INDIVIDUAL or int(slug[1:]) >= 3
        opens = await mall.world.installation.database.transact(is_open, slug, named)
        address = f"/auth/start/{mall.services[slug].client_id}?customer={named}"
        assert (address in shown) == (opens and is_known), (slug, named)


async def test_saml_opens_what_has_no_page_to_begin_at(mall: Mall, visitor: Visitor) -> None:
    makers, world = SamlWorld(mall.world), mall.world
    paths = dict[str, str]()
    for slug, settings in (("acme", {}), ("bank", {}), ("desk", {}), ("edge", {"members_only": False})):
        mall.vendor(slug, starts=False, **({"individuals": "all"} if slug in {"desk", "edge"} else {}))
        service_id = mall.services[slug].id
        made = await makers.configured(mall.ids[slug], service_id, slug, f"{slug}-app", **settings)
        paths[slug] = f"/api/organizations/{slug}/services/{slug}-app/saml/login"
        assert made.service_id == service_id
    mall.belongs_to("acme")
    mall.organization("globex")
    mall.belongs_to("globex")
    globex = world.customer(mall.services["desk"], mall.ids["globex"])
    for slug in ("bank", "desk", "edge"):
        mall.uses(slug)
    await visitor.sign_in()

    # A person who only uses the service gets no assertion from a service for members, or no sign-in that begins here.
    assert tiles_of(await visitor.open(PAGE)) == [
        ("App of acme", "of Acme", paths["acme"]),
        ("App of bank", f"of Bank, {OPENED_BY_ITSELF}", ""),
        ("App of desk", f"of Desk, for yourself, {OPENED_BY_ITSELF}", ""),
        ("App of desk", "of Desk, for Globex", f"{paths['desk']}?customer={globex}"),
        ("App of edge", "of Edge, for yourself", f"{paths['edge']}?customer="),
    ]
    same_origin = {"Sec-Fetch-Site": "same-origin"}
    assert "SAMLResponse" in (await visitor.send("GET", paths["acme"], headers=same_origin)).text
    world.connection.execute("UPDATE service_users SET origin = 'key'")
    assert (f"{paths['desk']}?customer=") in {address for _, _, address in tiles_of(await visitor.open(PAGE))}
    world.connection.execute("UPDATE saml_certificates SET is_active = false")
    assert {address for _, _, address in tiles_of(await visitor.open(PAGE))} == {""}


async def test_a_confined_session_shows_what_it_may_open(mall: Mall, visitor: Visitor) -> None:
    mall.vendor("acme")
    mall.vendor("bank")
    mall.vendor("desk", individuals="others")
    mall.organization("globex")
    for slug in ("acme", "bank", "globex"):
        mall.belongs_to(slug)
    mall.uses("desk")
    mall.world.customer(mall.services["desk"], mall.ids["globex"])
    await visitor.sign_in()
    expected: list[tuple[str, str | None, list[str]]] = [
        ("acme", None, ["App of acme of Acme"]),
        ("globex", None, ["App of desk of Desk, for Globex"]),
        ("desk", None, []),
        ("bank", "acme", []),
        ("bank", "bank", ["App of bank of Bank"]),
    ]
    for slug, service, names in expected:
        mall.world.connection.execute(
            "UPDATE sessions SET confined_to = %s, confined_to_service = %s",
            (mall.ids[slug], mall.services[service].id if service is not None else None),
        )
        page = await visitor.open(PAGE)
        assert names_of(page) == names, slug
        assert "You have signed in for one organization alone" in page.text


async def test_a_page_has_a_hundred_tiles_and_goes_on_in_one_statement_each(mall: Mall, visitor: Visitor) -> None:
    organization_id = mall.organization("acme")
    mall.belongs_to("acme")
    for number in range(TILES_MAX + 5):
        mall.world.service(organization_id, f"app-{number:03}", name=f"App {number // 2:03}")
    await visitor.sign_in()

    with recorded_statements() as statements:
        first = await visitor.open(PAGE)
    [address] = re.findall(rf'href="({PAGE}\?after=[^"]*)"', first.text)
    second = await visitor.open(unescape(address))

    assert sum("my_applications" in one or "customer_organization_id" in one for one in map(str, statements)) == 1
    assert len(tiles_of(first)) == TILES_MAX
    assert len(tiles_of(second)) == 5
    every = [name for name, _, _ in [*tiles_of(first), *tiles_of(second)]]
    assert every == sorted(every)
    assert 'aria-label="Pages of the list"' in second.text
    # A damaged place is the beginning.
    assert tiles_of(await visitor.open(f"{PAGE}?after=nonsense")) == tiles_of(first)


def test_a_place_is_written_and_read() -> None:
    some = UUID(int=7)
    for position in (
        TilePosition(name="a_b", service_id=some, customer_id=None),
        TilePosition(name="", service_id=some, customer_id=UUID(int=9)),
    ):
        assert position_of(str(position)) == position
    for text in ("", "x", f"{some}_x_name"):
        assert position_of(text) is None


async def test_the_navigation_and_the_search_lead_to_the_page(mall: Mall, visitor: Visitor) -> None:
    await visitor.sign_in()

    page = await visitor.open(PAGE)
    found = await visitor.open("/app/account/search?q=launcher")

    assert mall.user_id
    assert "There is no application that you can open from here." in page.text
    assert f'href="{PAGE}"' in found.text
