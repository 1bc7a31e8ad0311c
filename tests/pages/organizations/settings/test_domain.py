"""The pages of the custom domain of an organization."""

from __future__ import annotations

import re

import pytest

from tests.application import Answer
from tests.name_server import NameServer
from tests.pages.copied import copied
from tests.shown_text import shows
from tests.world.domains import insert_verified
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/domain"
DOMAIN = "id.acme.example"
TXT = f"_gatehouse.{DOMAIN}"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def claimed(ann: Visitor, name: str = DOMAIN) -> Answer:
    """Claim a domain by the form of the page."""
    return await ann.submit(await ann.open(PAGE), PAGE, domain=name)


async def test_a_domain_is_claimed_published_and_verified(ann: Visitor, names: NameServer) -> None:
    page = await claimed(ann, "ID.Acme.Example.")
    [value] = re.findall(r"gatehouse-verification=[\w-]+", page.text)

    unknown = await ann.submit(page, f"{PAGE}/verify")
    names.publish(TXT, HOSTILE)
    other = await ann.submit(page, f"{PAGE}/verify")
    names.publish(TXT, value)
    verified = await ann.submit(other, f"{PAGE}/verify")

    assert "The domain is claimed." in page.text
    assert (copied(page, "txt-name"), copied(page, "cname-value")) == (TXT, "localhost")
    assert unknown.status == 400
    assert "The TXT record was not found." in unknown.text
    assert "know no TXT record of that name" in unknown.text
    assert other.status == 400
    assert "&lt;b onclick" in other.text
    assert HOSTILE not in other.text
    assert "The domain is verified, and its records are in place." in verified.text
    assert "To use another name, give this domain up first." in verified.text
    assert "Claim this domain" not in verified.text


async def test_a_domain_that_another_organization_has_verified_is_refused(
    world: World, ann: Visitor, names: NameServer
) -> None:
    insert_verified(world, world.team("globex").organization_id)
    page = await claimed(ann)
    names.publish(TXT, *re.findall(r"gatehouse-verification=[\w-]+", page.text))

    refused = await ann.submit(page, f"{PAGE}/verify")

    assert refused.status == 409
    assert "Another organization has verified this domain." in refused.text
    assert not shows(refused.text, "globex")


async def test_an_invalid_domain_is_refused_at_its_field(ann: Visitor) -> None:
    for name in ("", HOSTILE, "a" * 300):
        refused = await claimed(ann, name)

        assert refused.status == 400, name
        assert 'aria-invalid="true"' in refused.text
        assert HOSTILE not in refused.text


async def test_a_claim_that_another_person_made_meanwhile_is_not_replaced(acme: Team, ann: Visitor) -> None:
    form = await ann.open(PAGE)
    await claimed(ann, "id.other.example")

    refused = await ann.submit(form, PAGE, domain=DOMAIN)
    again = await ann.submit(refused, PAGE)

    assert refused.status == 409
    assert "Another person has changed the domain meanwhile." in refused.text
    assert f'name="domain" type="text" value="{DOMAIN}"' in refused.text
    assert "The domain is claimed." in again.text
    assert acme.world.value("SELECT domain FROM custom_domains") == DOMAIN


async def test_giving_it_up_says_what_ends_and_takes_the_domain_that_was_shown(acme: Team, ann: Visitor) -> None:
    insert_verified(acme.world, acme.organization_id)
    late = await ann.open(PAGE)

    asked = await ann.open(f"{PAGE}/delete")
    acme.world.connection.execute("DELETE FROM custom_domains")
    insert_verified(acme.world, acme.organization_id, "id.new.example")
    stale = await ann.submit(asked, f"{PAGE}/delete")
    given_up = await ann.submit(await ann.open(f"{PAGE}/delete"), f"{PAGE}/delete")
    gone = await ann.submit(late, f"{PAGE}/verify")

    assert f"Give {DOMAIN} up?" in asked.text
    assert "no longer works under it." in asked.text
    assert stale.status == 404
    assert "The domain is given up." in given_up.text
    assert gone.status == 404
    assert acme.world.value("SELECT count(*) FROM custom_domains") == 0
    assert (await ann.open(f"{PAGE}/delete")).status == 404


async def test_the_overview_leads_there_until_it_is_done(acme: Team, ann: Visitor) -> None:
    before = await ann.open("/app/organizations/acme")
    insert_verified(acme.world, acme.organization_id)
    acme.world.connection.execute("UPDATE custom_domains SET status = 'failing', failing_since = now()")
    failing = await ann.open("/app/organizations/acme")

    assert f'class="button quiet" href="{PAGE}"' in before.text
    assert failing.text.count(f'class="button quiet" href="{PAGE}"') == 1
    assert "The custom domain has failed its checks since" in failing.text


async def test_a_member_finds_it_closed(acme: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    assert [(await visitor.open(path)).status for path in (PAGE, f"{PAGE}/delete")] == [403, 403]
    assert f'href="{PAGE}"' not in (await visitor.open("/app/organizations/acme")).text
