"""A provider whose word on addresses does not count, and what else its users may be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrypoints.settings import Settings
from tests.openid_provider import OpenIdProvider
from tests.world.added_providers import BASE, Added, providers_file, settings_with
from tests.world.builder import EMAIL
from tests.world.world import World


@pytest.fixture
def settings(tmp_path: Path, acme_id: OpenIdProvider, other_id: OpenIdProvider) -> Settings:
    """Development mode, with providers whose word on addresses does not count."""
    issuers = {"acme": acme_id.url, "other": other_id.url}
    return settings_with(providers_file(tmp_path, issuers, trusts_email=False))


async def test_its_address_makes_no_account_although_the_provider_calls_it_verified(world: World, added: Added) -> None:
    page = await added.sign_in()

    assert page.status == 403
    assert "This account is not linked to one here yet" in page.text
    assert "Sign in in another way" in page.text
    assert world.value("SELECT count(*) FROM users") == 0


@pytest.mark.parametrize("is_verified", [True, False])
async def test_its_address_neither_opens_nor_confirms_an_account_that_has_it(
    world: World, added: Added, *, is_verified: bool
) -> None:
    world.user(is_verified=is_verified)
    missing = await added.sign_in()
    added.acme.claims["email"] = "nobody@example.com"
    none = await added.sign_in()

    # An outsider learns no address.
    assert (missing.status, none.status) == (403, 403)
    assert "This account is not linked to one here yet" in missing.text
    assert world.value("SELECT email_verified_at IS NOT NULL FROM users") is is_verified
    assert world.value("SELECT count(*) FROM identities") == 0
    assert await world.mails() == []


async def test_what_its_user_has_linked_signs_in(world: World, added: Added) -> None:
    user = await world.signed_in_user()
    await added.visitor.sign_in()
    asked = await user.post("/api/user/identities/acme/link")
    await added.come_back(asked.json["authorization_url"].removeprefix(BASE))
    added.visitor.cookies.clear()

    await added.sign_in()

    assert added.visitor.has_session
    assert world.value("SELECT provider FROM sessions ORDER BY created_at DESC, id DESC LIMIT 1") == "acme"
    assert world.value("SELECT count(*) FROM users WHERE email = %s", EMAIL) == 1


async def test_german_says_it_too(added: Added) -> None:
    back = added.acme.sign_in(await added.depart())

    page = await added.visitor.send("GET", back, headers={"Accept-Language": "de"})

    assert "Dieses Konto ist hier noch mit keinem verknüpft" in page.text
