"""The explanation of sign-ins for programs: the answers, what is recorded, and how often an organization may ask."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from core.accounts.sign_in_failures import FAILURES_FROM_NETWORK_MAX
from core.mail import mail
from core.mail.limits import MailLimit
from core.mail.mail import MailTemplate
from core.networks import typed_network
from core.platform.sign_in_checks import RuleVerdict, SignInWay
from core.rate_limits import RateLimit
from core.sign_in.rules import Rule
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import serving_with_rate_limits, with_mail_limits
from tests.world.builder import EMAIL
from tests.world.explaining import check_of, explained_to_platform, walk_by
from tests.world.platform import PLATFORM_OWNER
from tests.world.signing_in import SignedInUser
from tests.world.support import SupportDesk
from tests.world.world import World

ACME = "/api/organizations/acme/why"
PLATFORM = "/api/platform/why"


def refusals(answer: Any) -> dict[str, str | None]:
    """Return the rule that refuses each way."""
    return {one["way"]: one["refused_by"] for one in answer.json["ways"]}


@pytest.fixture
def settings() -> Settings:
    """Return settings with rate limits on; without them failed sign-ins limit nothing."""
    return Settings(dev=True)


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization with a service."""
    organization_id = world.organization("acme")
    world.service(organization_id, "shop")
    return organization_id


@pytest.fixture
async def owner(world: World, acme: UUID) -> SignedInUser:
    """The owner of Acme."""
    return await world.signed_in_member(acme, email="owner@example.com")


async def test_an_organization_reads_the_rules_in_their_order(world: World, acme: UUID, owner: SignedInUser) -> None:
    world.member(acme, world.user(password_hash=None))
    await world.log_in(org_slug="acme")

    answer = await world.client.request("GET", f"{ACME}?email={EMAIL}&service=shop", token=owner.tokens.access_token)

    assert answer.status == 200, answer.text
    assert answer.json["account"]["email"] == EMAIL
    assert refusals(answer) == {"password": "credential", "link": None, "passkey": "credential"}
    [password] = [way for way in answer.json["ways"] if way["way"] == "password"]
    told = [(one["rule"], one["verdict"]) for one in password["rules"]]
    assert told[:5] == [
        ("organization", "passes"),
        ("failures", "passes"),
        ("account", "passes"),
        ("activated", "passes"),
        ("credential", "refuses"),
    ]
    assert {verdict for _, verdict in told[5:]} == {"not_reached"}
    [credential] = [one for one in password["rules"] if one["rule"] == "credential"]
    assert (credential["reason"], credential["networks"], credential["until"]) == ("no_password", [], None)
    assert credential["reason_text"]
    assert [one["reason"] for one in answer.json["attempts"]] == ["no_password"]


async def test_the_platform_asks_by_address_or_id(world: World, desk: SupportDesk) -> None:
    user_id = world.user(password_hash=None)

    for query in (
        f"email={EMAIL}",
        f"user_id={user_id}",
        f"email={EMAIL}&organization=nowhere",
        f"user_id={user_id}&way=link",
    ):
        answer = await desk.request("GET", f"{PLATFORM}?{query}")
        assert answer.status == 200, answer.text
        assert answer.json["account"]["id"] == str(user_id)

    assert refusals(answer) == {"link": None}
    assert world.platform_audit_entries("user.opened") == [
        (desk.person.id, str(user_id), {"part": "sign_in_rules"}) for _ in range(4)
    ]


async def test_a_question_of_an_owner_about_an_unknown_address_or_about_an_owner_is_not_recorded(
    world: World, desk: SupportDesk
) -> None:
    world.user()

    by_owner = await desk.platform.request("GET", f"{PLATFORM}?email={EMAIL}")
    unknown = await desk.request("GET", f"{PLATFORM}?email=unknown@example.com")
    hidden = await desk.request("GET", f"{PLATFORM}?user_id={desk.platform.owner_id}")

    assert by_owner.json["account"]["email"] == EMAIL
    assert unknown.json["account"] is hidden.json["account"] is None
    assert unknown.json == hidden.json
    assert world.platform_audit_entries("user.opened") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "email"), ("email=", "email"), ("email=a@example.com&network=here", "network"), ("way=knocking", "way")],
)
async def test_a_question_that_cannot_be_read_is_refused(desk: SupportDesk, query: str, field: str) -> None:
    answer = await desk.request("GET", f"{PLATFORM}?{query}")

    assert answer.status == 400
    assert [detail["field"] for detail in answer.json["details"]] == [field]


async def test_an_organization_can_ask_only_so_often(installation: Installation, owner: SignedInUser) -> None:
    limited = serving_with_rate_limits(installation)

    statuses = [
        (await limited.request("GET", f"{ACME}?email={EMAIL}", token=owner.tokens.access_token)).status
        for _ in range(RateLimit.EXPLANATION.burst + 1)
    ]

    assert statuses == [200] * RateLimit.EXPLANATION.burst + [429]


async def test_the_limit_of_mailed_links_is_told_with_its_end(world: World, installation: Installation) -> None:
    root = await world.signed_in_platform_owner("root@example.com")
    world.user()

    async def check(*, are_limits_on: bool = True) -> tuple[RuleVerdict, Any]:
        explained = await explained_to_platform(world, root, way=SignInWay.LINK, are_limits_on=are_limits_on)
        found = check_of(walk_by(explained, SignInWay.LINK), Rule.MAIL_LIMIT)
        return found.verdict, found.until

    async def mails(number: int) -> None:
        for _ in range(number):
            await with_mail_limits(installation).database.transact(mail.send, EMAIL, MailTemplate.MAGIC_LINK, token="t")

    none = await check()
    await mails(MailLimit.TO_ADDRESS.mails_max - 1)
    one_left = await check()
    await mails(2)

    until = world.clock() + MailLimit.TO_ADDRESS.period
    assert (none, one_left) == ((RuleVerdict.PASSES, None), (RuleVerdict.PASSES, None))
    assert await check() == (RuleVerdict.DEPENDS, until)
    assert await check(are_limits_on=False) == (RuleVerdict.PASSES, None)
    world.clock.advance(MailLimit.TO_ADDRESS.period)
    assert await check() == (RuleVerdict.PASSES, None)


@pytest.mark.parametrize(
    ("typed", "network"),
    [
        ("192.0.2.7", "192.0.2.0/24"),
        (" 192.0.2.0/24 ", "192.0.2.0/24"),
        ("192.0.2.0/30", "192.0.2.0/24"),
        ("2001:DB8::1", "2001:db8::/64"),
        ("2001:db8:0:0:1::/80", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("192.0.2", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_a_typed_network_is_the_one_that_is_counted(typed: str, network: str | None) -> None:
    assert typed_network(typed) == network


async def test_support_learns_nothing_of_the_failed_sign_ins_of_a_platform_owner(
    world: World, desk: SupportDesk
) -> None:
    for number in range(FAILURES_FROM_NETWORK_MAX):
        await world.log_in(PLATFORM_OWNER, "wrong", address=f"203.0.113.{number}")
        await world.log_in("unknown@example.com", "wrong", address=f"203.0.113.{number}")

    async def verdict(email: str) -> str:
        query = f"email={email}&way=password&network=203.0.113.1"
        [way] = (await desk.request("GET", f"{PLATFORM}?{query}")).json["ways"]
        return next(one["verdict"] for one in way["rules"] if one["rule"] == "failures")

    assert await verdict("unknown@example.com") == "refuses"
    assert await verdict(PLATFORM_OWNER) == "passes"
