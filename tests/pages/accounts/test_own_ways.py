"""The pages of the account show how their person signs in, and what the session cannot change."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.openid_provider import OpenIdProvider, running_openid_provider
from tests.world.builder import EMAIL
from tests.world.openid_acme import Acme, openid_acme
from tests.world.visitor import Visitor
from tests.world.world import World

OVERVIEW = "/app/account"
PASSWORD = "/app/account/password"
PASSKEYS = "/app/account/passkeys"


@pytest.fixture
def provider() -> Generator[OpenIdProvider]:
    """The identity provider of Acme."""
    with running_openid_provider() as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, provider: OpenIdProvider) -> Acme:
    """Acme, whose people sign in by its connection and join as members."""
    made = await openid_acme(world, visitor, provider)
    await made.change(joins_as="member")
    return made


async def test_who_comes_by_a_connection_is_told_so_and_is_not_asked_for_a_password(acme: Acme) -> None:
    await acme.sign_in()
    await acme.sign_in_confirmed()

    overview, password = await acme.visitor.open(OVERVIEW), await acme.visitor.open(PASSWORD)

    assert "You signed in by" in overview.text
    assert "Not needed: your organization signs you in." in overview.text
    assert "You sign in with a passkey" not in overview.text
    assert "Not set" not in overview.text.partition(">How you sign in</h2>")[2]
    # A password is allowed: the organization does not require its sign-in.
    assert "Set a password" in password.text


async def test_where_the_organization_requires_its_sign_in_no_other_is_offered(acme: Acme) -> None:
    await acme.sign_in()
    await acme.enforce()
    await acme.sign_in_confirmed()

    overview, password = await acme.visitor.open(OVERVIEW), await acme.visitor.open(PASSWORD)
    passkeys = await acme.visitor.open(PASSKEYS)

    assert "Acme requires you to sign in by" in overview.text
    assert "Acme requires you to sign in by" in password.text
    assert 'name="new_password"' not in password.text
    assert "/app/account/passkeys/new" not in passkeys.text


async def test_a_session_by_the_word_of_a_connection_says_what_confirms_it(acme: Acme) -> None:
    await acme.sign_in()

    for path in (OVERVIEW, PASSWORD, PASSKEYS, "/app/account/second-factor", "/app/account/email"):
        page = await acme.visitor.open(path)

        assert "So far only your organization says that this account is yours." in page.text, path


async def test_a_session_for_one_organization_says_why_it_changes_nothing_of_the_account(
    world: World, acme: Acme
) -> None:
    await acme.sign_in()
    world.member(world.organization("globex"), world.user_id("ada@acme.example"))
    await acme.sign_in_confirmed()

    email, factor = await acme.visitor.open("/app/account/email"), await acme.visitor.open("/app/account/second-factor")

    for page in (email, factor):
        assert "This session is for one organization alone" in page.text
    assert 'action="/app/account/email"' not in email.text
    assert 'action="/app/account/second-factor/setup"' not in factor.text


async def test_the_overview_counts_what_there_is(world: World, visitor: Visitor) -> None:
    user_id = world.user()
    organization_id = world.organization()
    world.member(organization_id, user_id)
    service = world.service(organization_id, "shop")
    world.subscription(world.plan(organization_id, service.id), user_id)
    await world.sign_in(org_slug="acme", service_slug="shop")
    await visitor.sign_in()

    page = await visitor.open(OVERVIEW)

    for words in (
        EMAIL,
        "2 sessions.",
        "You have signed in to one application.",
        "You belong to one organization.",
        "You have one subscription.",
    ):
        assert words in page.text


@pytest.mark.parametrize(
    ("identities", "told"),
    [
        (False, "You have none. You sign in with a mailed link."),
        (True, "You have none. You sign in with a linked account or a mailed link."),
    ],
)
async def test_who_has_no_password_is_told_how_they_sign_in(
    world: World, visitor: Visitor, *, identities: bool, told: str
) -> None:
    user_id = world.user()
    await visitor.sign_in()
    world.remove_password()
    if identities:
        world.connection.execute(
            """
            INSERT INTO identities (id, user_id, provider, subject, linked_at, used_at)
            VALUES (gen_random_uuid(), %s, 'codehost', '1', now(), now())
            """,
            (user_id,),
        )

    assert told in (await visitor.open(OVERVIEW)).text
