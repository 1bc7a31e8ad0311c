"""The pages of the organizations of the platform: the list, one in detail, and the decisions about it."""

from __future__ import annotations

import csv
import re
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import pytest

from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.pages.copied import copied
from tests.world.builder import TIERS
from tests.world.callers import Callers
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/platform/organizations"
CHOSEN = 'name="ids"[^>]* checked>'
HOSTILE = "<b onclick=alert(1)>Bolt</b>"
NAMES = ("harbour", "orchard", "quarry")


@pytest.fixture
def fleet(world: World, clock: SettableClock) -> dict[str, UUID]:
    """Three organizations: an active one with an owner and domains, a pending one, and a suspended one."""
    statuses = dict(zip(NAMES, ("active", "pending", "suspended"), strict=True))
    made: dict[str, UUID] = {}
    for slug, status in statuses.items():
        made[slug] = world.organization(slug, name=f"The {slug.title()}", status=status)
        clock.advance(timedelta(seconds=1))
    world.member(made["harbour"], world.user("hanna@harbour.example"), "owner")
    world.member(made["orchard"], world.user("otto@orchard.example"), "owner")
    world.mail_domain(made["harbour"], "mail.harbour.example")
    world.rows("UPDATE organizations SET tier_id = %s WHERE id = %s RETURNING id", TIERS["enterprise"], made["quarry"])
    return made


def listed(text: str) -> list[str]:
    """List the organizations of the fleet that a page lists."""
    return [slug for slug in NAMES if f"<code>{slug}</code>" in text.partition("<table")[2]]


async def status_of(world: World, organization_id: UUID) -> str:
    [(status,)] = world.rows("SELECT status FROM organizations WHERE id = %s", organization_id)
    return status


async def test_organizations_are_found_by_what_is_known_of_them(
    fleet: dict[str, UUID], platform_owner: Visitor, subtests: pytest.Subtests
) -> None:
    for query, found in (
        ("", list(NAMES)),
        ("?search=%20THE%20Qu", ["quarry"]),
        ("?search=rchar", ["orchard"]),
        ("?search=ar", ["harbour", "orchard", "quarry"]),
        ("?search=MAIL.harb", ["harbour"]),
        ("?search=hanna@harbour.example", ["harbour"]),
        ("?search=hanna@harbour", []),
        ("?search=%25", []),
        ("?status=pending", ["orchard"]),
        (f"?tier={TIERS['enterprise']}", ["quarry"]),
        (f"?tier={TIERS['enterprise']}&status=pending", []),
        (f"?search=r%27y&tier={TIERS['free']}", []),
        ("?status=odd&tier=odd&after=odd", list(NAMES)),
    ):
        with subtests.test(query=query):
            answer = await platform_owner.open(PAGE + query)

            assert answer.status == 200
            assert listed(answer.text) == found


async def test_a_whole_address_fits_into_the_fields_that_need_one(platform_owner: Visitor) -> None:
    for page, field, characters in (
        ("organizations", "search", 254),
        ("users", "search", 254),
        ("mail", "email", 1000),
    ):
        text = (await platform_owner.open(f"/app/platform/{page}")).text

        assert re.search(rf'<input id="{field}" [^>]*maxlength="{characters}"', text), page


async def test_support_reads_the_list_and_sees_what_is_for_owners(
    world: World, fleet: dict[str, UUID], callers: Callers, support: Visitor
) -> None:
    world.member(fleet["quarry"], world.user("boss@example.com", is_platform_owner=True), "owner")

    text = (await support.open(f"{PAGE}?status=suspended")).text
    waiting = (await support.open(f"{PAGE}?status=pending")).text
    one = (await support.open(f"{PAGE}/{fleet['quarry']}")).text

    assert "boss@example.com" not in text + one
    assert listed((await support.open(f"{PAGE}?search=boss@example.com")).text) == []
    assert "otto@orchard.example" in waiting
    assert "Only platform owners approve and reject organizations." in waiting
    assert '<input class="choose"' not in waiting
    assert "Only platform owners change organizations." in one
    assert '<form method="post"' not in one.partition("<main")[2].partition("</main>")[0]
    for path in ("suspension", "deletion"):
        assert (await support.open(f"{PAGE}/{fleet['harbour']}/{path}")).status == 403


async def test_a_long_list_goes_on_and_stays_small(world: World, platform_owner: Visitor) -> None:
    for number in range(60):
        made = world.organization(f"{'x' * 40}-{number:02}", name=HOSTILE + "y" * 70, status="pending")
        world.member(made, world.user(f"{'z' * 60}-{number:02}@{'y' * 60}.example.com"), "owner")

    page, seen, sizes = f"{PAGE}?status=pending", set[str](), list[int]()
    while page:
        answer = await platform_owner.open(page)
        assert "<b onclick" not in answer.text
        sizes.append(len(answer.text.encode()))
        seen |= {number for number in map("{:02}".format, range(60)) if f"-{number}</code>" in answer.text}
        links = answer.text.partition('aria-label="Pages of the list"')[2].partition("</nav>")[0].split('href="')[1:]
        page = next((link.partition('"')[0].replace("&amp;", "&") for link in links if "after=" in link), "")

    assert len(seen) == 60
    assert len(sizes) == 3
    assert max(sizes) < 40 * 1024


async def test_the_list_is_a_file_for_spreadsheets(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    world.organization("formula", name="=1+1")

    answer = await platform_owner.open(f"{PAGE}/organizations.csv?search=r")

    rows = list(csv.DictReader(answer.text.splitlines()))
    assert [row["slug"] for row in rows] == ["formula", "quarry", "orchard", "harbour"]
    assert rows[0]["name"] == "'=1+1"
    assert rows[3]["owner"] == "hanna@harbour.example"


async def test_a_pending_organization_is_approved_with_a_tier(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    page = f"{PAGE}/{fleet['orchard']}"
    shown = await platform_owner.open(page)

    done = await platform_owner.submit(shown, f"{page}/approve", tier=str(TIERS["enterprise"]))

    assert "The organization is approved." in done.text
    [(status, tier)] = world.rows("SELECT status, tier_id FROM organizations WHERE id = %s", fleet["orchard"])
    assert (status, tier) == ("active", TIERS["enterprise"])
    assert "Approved on" in done.text


async def test_of_two_owners_the_second_learns_what_the_first_did_and_keeps_what_was_typed(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    page = f"{PAGE}/{fleet['orchard']}"
    shown = await platform_owner.open(page)
    await platform_owner.submit(shown, f"{page}/approve", tier=str(TIERS["free"]))

    refused = await platform_owner.submit(shown, f"{page}/reject", reason="A copy of the old orchard.")

    assert refused.status == 409
    assert "Another platform owner has changed this organization meanwhile." in refused.text
    assert copied(refused, "reason") == "A copy of the old orchard."
    assert await status_of(world, fleet["orchard"]) == "active"


async def test_of_two_decisions_at_the_same_time_one_counts(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    page = f"{PAGE}/{fleet['orchard']}"
    shown = await platform_owner.open(page)

    answers = await at_once(
        lambda: platform_owner.submit(shown, f"{page}/approve", tier=str(TIERS["free"]), is_followed=False),
        lambda: platform_owner.submit(shown, f"{page}/reject", reason="No.", is_followed=False),
    )

    assert sorted(answer.status for answer in answers) == [303, 409]
    assert len(world.platform_audit_entries(None, "action")) == 1


async def test_a_rejection_needs_a_reason(world: World, fleet: dict[str, UUID], platform_owner: Visitor) -> None:
    page = f"{PAGE}/{fleet['orchard']}"
    shown = await platform_owner.open(page)

    refused = await platform_owner.submit(shown, f"{page}/reject", reason=" ")
    assert refused.status == 400
    assert "reason-problem" in refused.text

    done = await platform_owner.submit(shown, f"{page}/reject", reason=HOSTILE)
    assert "&lt;b onclick" in done.text
    assert await status_of(world, fleet["orchard"]) == "rejected"


async def test_suspending_says_what_stops_and_activating_ends_it(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    page = f"{PAGE}/{fleet['harbour']}"
    asked = await platform_owner.open(f"{page}/suspension")
    assert "<dt>Members</dt><dd>1</dd>" in asked.text

    refused = await platform_owner.submit(asked, f"{page}/suspension", reason=" ")
    assert refused.status == 400
    suspended = await platform_owner.submit(asked, f"{page}/suspension", reason="Unpaid since May.")
    again = await platform_owner.submit(asked, f"{page}/suspension", reason="Too late.")

    assert "Unpaid since May." in suspended.text
    assert again.status == 409
    assert copied(again, "reason") == "Too late."
    active = await platform_owner.submit(suspended, f"{page}/activate")
    assert "The organization is active again." in active.text
    assert await status_of(world, fleet["harbour"]) == "active"


async def test_tier_and_limits_are_changed_and_a_concurrent_change_is_told(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    page = f"{PAGE}/{fleet['harbour']}"
    shown = await platform_owner.open(page)
    fields = {"tier": str(TIERS["enterprise"]), "max_services": "7", "max_users": ""}

    for wrong in ("-1", "x", "1000001", "²"):
        refused = await platform_owner.submit(shown, f"{page}/tier-and-limits", {**fields, "max_users": wrong})
        assert refused.status == 400
        assert "Enter a whole number up to 1,000,000" in refused.text

    done = await platform_owner.submit(shown, f"{page}/tier-and-limits", fields)
    assert "The tier and the limits are saved." in done.text
    assert "0 of 7" in done.text
    conflicting = await platform_owner.submit(shown, f"{page}/tier-and-limits", {**fields, "max_users": "4711"})
    assert conflicting.status == 409
    assert 'value="4711"' in conflicting.text
    sent_again = await platform_owner.submit(conflicting, f"{page}/tier-and-limits", {**fields, "max_users": "4711"})
    assert "The tier and the limits are saved." in sent_again.text
    assert world.rows("SELECT max_services, max_users FROM organizations WHERE id = %s", fleet["harbour"]) == [
        (7, 4711)
    ]


async def test_a_deletion_takes_the_slug_and_a_reason_and_a_fresh_sign_in(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor, clock: SettableClock
) -> None:
    page = f"{PAGE}/{fleet['harbour']}"
    asked = await platform_owner.open(f"{page}/deletion")

    for slug, reason in (("orchard", "Asked for it."), ("harbour", " ")):
        refused = await platform_owner.submit(asked, f"{page}/deletion", slug=slug, reason=reason)
        assert refused.status == 400
        assert f'value="{slug}"' in refused.text
    clock.advance(timedelta(minutes=11))
    sent = await platform_owner.submit(
        asked, f"{page}/deletion", slug="harbour", reason="Asked for it.", is_followed=False
    )
    assert sent.headers["Location"].startswith("/app/sign-in-again")
    clock.advance(-timedelta(minutes=11))

    done = await platform_owner.submit(asked, f"{page}/deletion", slug="harbour", reason="Asked for it.")

    assert "The organization is deleted for good." in done.text
    assert world.rows("SELECT 1 FROM organizations WHERE id = %s", fleet["harbour"]) == []
    [(details,)] = world.platform_audit_entries("organization.deleted", "details")
    assert details["reason"] == "Asked for it."
    assert (await platform_owner.open(page)).status == 404


async def test_many_are_decided_about_at_once_each_with_a_result(
    world: World, fleet: dict[str, UUID], platform_owner: Visitor
) -> None:
    more = [world.organization(f"grove-{number}", status="pending") for number in range(3)]
    form = (await platform_owner.open(f"{PAGE}?status=pending&choose=all")).text
    assert len(re.findall(CHOSEN, form)) == 4
    action = f"{PAGE}/approvals?status=pending"
    assert f'action="{action}"' in form
    token = form.partition('name="form_token" value="')[2].partition('"')[0]

    async def send(decision: str, reason: str, *ids: UUID) -> tuple[int, str]:
        fields = [("form_token", token), ("decision", decision), ("reason", reason), *(("ids", str(i)) for i in ids)]
        answer = await platform_owner.send(
            "POST",
            action,
            data=urlencode(fields).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        return answer.status, answer.text

    status, text = await send("reject", " ", *more[:2])
    assert (status, len(re.findall(CHOSEN, text))) == (400, 2)
    assert (
        await send(
            "approve",
            "",
        )
    )[0] == 400
    assert (await send("", "", *more))[0] == 400
    assert (await send("approve", "", *[fleet["orchard"]] * 150))[0] == 200
    status, text = await send("reject", "A copy.", *more, fleet["orchard"])
    assert status == 200
    assert text.count(">Done<") == 3
    assert text.count("Another platform owner has changed this organization meanwhile.") == 1
    assert {await status_of(world, one) for one in more} == {"rejected"}
    assert await status_of(world, fleet["orchard"]) == "active"


async def test_the_page_of_an_organization_has_its_products_and_the_customers_of_its_services(
    fleet: dict[str, UUID], platform_owner: Visitor, world: World
) -> None:
    logs, tides = (world.service(fleet["harbour"], slug, name=f"{slug} {HOSTILE}") for slug in ("logs", "tides"))
    world.serve_customers(tides)
    world.customer(logs, fleet["orchard"])
    world.customer(logs, fleet["quarry"], paused_by=["vendor"])

    harbour, orchard, quarry = [(await platform_owner.open(f"{PAGE}/{fleet[slug]}")).text for slug in NAMES]

    assert HOSTILE not in harbour + orchard
    served = harbour.partition('id="customers"')[2].partition("</section>")[0]
    assert re.findall(r"<td[^>]*>(\d+)</td>", served) == ["2", "0"]
    assert 'id="products"' not in harbour
    assert 'id="customers"' not in orchard
    used = orchard.partition('id="products"')[2].partition("</section>")[0]
    assert f'href="{PAGE}/{fleet["harbour"]}">The Harbour</a>' in used
    assert "Active" in used
    assert "Paused" in quarry.partition('id="products"')[2].partition("</section>")[0]


async def test_an_organization_that_nobody_owns_yet_says_so_and_who_has_made_it(
    world: World, platform_owner: Visitor
) -> None:
    vendor = world.organization("vendor", name="Vendor & Sons")
    customer_id, internal_id = world.made_customer(world.service(vendor, "shop", name="The Shop"))
    made = world.value("SELECT organization_id FROM service_customers WHERE id = %s", customer_id)

    every = await platform_owner.open(PAGE)
    one = await platform_owner.open(f"{PAGE}/{made}")
    internal = await platform_owner.open(f"{PAGE}/{internal_id}")

    table = every.text.partition("<table")[2]
    assert "Unclaimed" in table
    assert "No owner yet" in table
    assert "internal:" not in table
    assert all(text in one.text for text in ("No owner yet", "Vendor &amp; Sons", "The Shop", f"{PAGE}/{vendor}"))
    assert internal.status == 404
    assert "Unclaimed" in (await platform_owner.open("/app/platform")).text


async def test_an_ended_one_that_nobody_owned_is_not_said_to_be_deleted_by_its_owner(
    world: World, platform_owner: Visitor, clock: SettableClock
) -> None:
    vendor = world.organization("vendor", name="Vendor & Sons")
    customer_id, _ = world.made_customer(world.service(vendor, "shop"))
    made = world.value("SELECT organization_id FROM service_customers WHERE id = %s", customer_id)
    world.rows(
        """
        UPDATE service_customers
        SET    organization_id = NULL, accepted_at = NULL, ended_at = %s, ended_organization_id = organization_id
        WHERE  id = %s
        RETURNING id
        """,
        *(clock(), customer_id),
    )
    world.rows(
        """
        UPDATE organizations SET status = 'deleting', status_before_deletion = 'pending', deletes_at = %s
        WHERE  id = %s
        RETURNING id
        """,
        *(clock() + timedelta(days=14), made),
    )

    every = await platform_owner.open(PAGE)
    one = await platform_owner.open(f"{PAGE}/{made}")

    assert "Deleted by its owner" not in every.text + one.text
    assert "Deleted, can be restored" in every.text
    assert "Its vendor has ended this customer" in one.text
    assert "Vendor &amp; Sons" in one.text
