"""The page of sign-in problems where an organization has a connection: its own, another one's, its mail domain."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from core.sign_in.upstream.connections import failures
from core.sign_in.upstream.provider_problems import ProviderProblem
from tests.shown_text import shows
from tests.world.openid_acme import Acme
from tests.world.visitor import Visitor, without_tokens

ADA = "ada@acme.example"


async def signed_in(acme: Acme, email: str) -> Visitor:
    """Return the browser of a member who signs in by a password."""
    visitor = Visitor(acme.world.client)
    await visitor.sign_in(email)
    return visitor


async def test_the_required_connection_is_named_to_its_own_organization_alone(acme: Acme) -> None:
    ada, bolt = acme.world.user(ADA), acme.world.organization("bolt")
    for organization_id in (acme.organization_id, bolt):
        acme.world.member(organization_id, ada)
    acme.world.member(bolt, acme.world.user("keeper@bolt.example"), "owner")
    await acme.enforce()
    of_acme, of_bolt = [await signed_in(acme, email) for email in (acme.owner.email, "keeper@bolt.example")]

    own = (await of_acme.open(f"/app/organizations/acme/why?email={ADA}")).text
    other = (await of_bolt.open(f"/app/organizations/bolt/why?email={ADA}&way=password")).text

    assert f"Nothing refuses {ADA} by these ways: Connection “Acme”." in own
    assert "Acme requires Acme." in own
    # Acme's requirement refuses nothing at another organization.
    assert f"Nothing refuses {ADA}" in other
    assert not shows(other, "Acme")


async def test_a_connection_that_is_switched_off_is_named(acme: Acme) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    acme.world.connection.execute("UPDATE upstream_connections SET enabled = false")

    page = await (await signed_in(acme, acme.owner.email)).open(
        f"/app/organizations/acme/why?email={ADA}&way=connection"
    )

    assert f"{ADA} cannot sign in by the connection “Acme”." in page.text
    assert "Switch the connection on again" in page.text
    assert 'href="/app/organizations/acme/sign-in">' in page.text


@pytest.mark.parametrize("problem", [ProviderProblem.DECLINED, ProviderProblem.NO_ADDRESS])
async def test_the_problems_of_a_connection_stand_below(acme: Acme, problem: ProviderProblem) -> None:
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    await acme.world.installation.database.transact(
        failures.note, acme.organization_id, UUID(acme.connection_id), problem, request_id="request-of-another"
    )
    browser = await signed_in(acme, acme.owner.email)

    page = (await browser.open(f"/app/organizations/acme/why?email={ADA}")).text
    unknown = (await browser.open("/app/organizations/acme/why?email=unknown@elsewhere.example")).text

    assert "Problems of connections" in page
    assert "request-of-another" in page
    # The page of a setup link says "below"; this one does not.
    assert "below." not in page.partition("Problems of connections")[2]
    assert "request-of-another" not in unknown


def ways(answer: Any) -> dict[str, list[tuple[str, str]]]:
    """Return for each way what its rules answer, without those that are not told or not reached."""
    return {
        one["way"]: [
            (rule["rule"], rule["verdict"])
            for rule in one["rules"]
            if rule["verdict"] not in {"not_told", "not_reached"}
        ]
        for one in answer["ways"]
    }


async def test_an_address_in_a_mail_domain_is_explained_alike_with_an_account_and_without(acme: Acme) -> None:
    world, bolt = acme.world, acme.world.organization("bolt")
    world.service(acme.organization_id, "shop")
    accounts = ["member@acme.example", "closed@acme.example", "unproved@acme.example", "owner-of-all@acme.example"]
    world.member(bolt, world.user(accounts[0]), "owner")
    world.user(accounts[1], is_active=False)
    world.user(accounts[2], is_verified=False, password_hash=None)
    world.connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (world.user(accounts[3]),))
    await world.log_in(accounts[0], "wrong", org_slug="bolt")
    await world.installation.database.transact(
        failures.note, acme.organization_id, UUID(acme.connection_id), ProviderProblem.DECLINED, request_id="request-1"
    )
    browser = await signed_in(acme, acme.owner.email)

    async def alike(query: str = "") -> tuple[str, Any]:
        """Return the page and the answer for programs, which are the same of every address."""
        pages, answers = list[str](), list[Any]()
        for email in (*accounts, "unknown@acme.example"):
            page = without_tokens((await browser.open(f"/app/organizations/acme/why?email={email}{query}")).text)
            for one in (email, quote(email, safe="")):
                page = page.replace(one, "X")
            pages.append(page)
            answers.append((await acme.owner.get(f"/api/organizations/acme/why?email={email}{query}")).json)
        assert set(pages) == {pages[0]}
        assert answers == [answers[0]] * len(answers)
        return pages[0], answers[0]

    page, free = await alike()
    _, at_service = await alike("&service=shop")
    await acme.enforce()
    enforced_page, enforced = await alike()
    [by_password] = (await alike("&way=password"))[1]["ways"]

    # To a person without a membership only the connection is open, since the organization requires nothing.
    assert free["account"] is None
    assert [ways(free)[way] for way in ("password", "link", "passkey")] == [[("account", "refuses")]] * 3
    assert ways(free)["connection"][:3] == [
        ("connection_open", "passes"),
        ("mail_domain", "passes"),
        ("connection_kept", "passes"),
    ]
    assert ("membership", "refuses") in ways(free)["connection"]
    assert ("service", "passes") in ways(at_service)["connection"]
    assert [one["failures"][0]["last_request_id"] for one in free["problems"]] == ["request-1"]
    assert "acme has no member and no end user with the address X." in page.replace("Acme", "acme")
    assert "acme.example is a mail domain of your organization" in page
    assert "Your organization knows no account with this address." in page
    assert "No account has this address." not in page
    assert "request-1" in page
    # What the domain requires refuses every other way to every address in it.
    assert by_password["refused_by"] == "single_sign_on"
    assert {one["refused_by"] for one in enforced["ways"]} == {"single_sign_on", "membership"}
    assert "Acme requires Acme." in enforced_page
