"""Names that appear in mails and on pages of the platform contain no web address."""

from __future__ import annotations

from typing import Any

import pytest

from core.mail import mail
from core.mail.mail import MailMessage, MailTemplate
from core.platform import doctor
from tests.shown_text import shows
from tests.world.acme_shop import AcmeShop
from tests.world.team import Team
from tests.world.world import World

BAD = "URGENT https://evil.example/login"
BAD_NAMES = (BAD, "evil.example", "Your bank\u3002com", "www.evil", "Call 203.0.113.7")
GOOD_NAMES = ("Shop 2.0", "Acme Inc.", "J.P. Ltd.")
CONNECTION = {
    "type": "oidc",
    "issuer": "https://idp.acme.example",
    "client_id": "gatehouse",
    "client_secret": "the-secret-of-acme",
}


@pytest.fixture
def shop(team: Team) -> Team:
    """The team with a service."""
    team.world.service(team.organization_id)
    return team


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/services", {"slug": "books", "service_type": "web"}),
        ("PATCH", "/services/shop", {}),
        ("POST", "/services/shop/plans", {"price_cents": 990}),
        ("PATCH", "/services/shop/plans/:plan", {}),
        ("POST", "/upstream-providers", CONNECTION),
        ("PATCH", "/upstream-providers/:connection", {}),
        ("PATCH", "", {}),
    ],
    ids=["service", "changed service", "plan", "changed plan", "connection", "changed connection", "organization"],
)
async def test_a_name_with_an_address_of_the_web_is_refused_with_what_to_write_instead(
    shop: Team, method: str, path: str, body: dict[str, Any]
) -> None:
    plan = (await shop.request("owner", "POST", "/services/shop/plans", body={"name": "Pro", "price_cents": 1})).json
    made = (await shop.request("owner", "POST", "/upstream-providers", body={"name": "Idp", **CONNECTION})).json
    path = path.replace(":plan", plan["id"]).replace(":connection", made["id"])

    for name in BAD_NAMES:
        answer = await shop.request("owner", method, path, body={"name": name, **body})
        assert (answer.status, answer.invalid_fields) == (400, ["name"]), name
        assert "Write it without dots" in answer.json["details"][0]["message"]
    if method == "PATCH":
        for name in GOOD_NAMES:
            assert (await shop.request("owner", method, path, body={"name": name})).status == 200, name


async def test_a_service_that_has_such_a_name_keeps_working_and_can_be_changed_and_renamed(shop: Team) -> None:
    shop.world.connection.execute("UPDATE services SET name = %s", (BAD,))

    changed = await shop.request("owner", "PATCH", "/services/shop", body={"codehost_scopes": ["repo"]})
    signed_in = await shop.world.log_in("member@example.com", org_slug="acme", service_slug="shop")
    renamed = await shop.request("owner", "PATCH", "/services/shop", body={"name": "Shop"})

    assert (changed.status, changed.json["name"]) == (200, BAD)
    assert signed_in.status == 200
    assert (renamed.status, renamed.json["name"]) == (200, "Shop")


async def test_no_mail_of_the_platform_shows_the_address_in_an_old_name(world: World, acme_shop: AcmeShop) -> None:
    world.user()
    world.connection.execute("UPDATE services SET name = %s", (BAD,))
    world.connection.execute("UPDATE organizations SET name = 'evil.example'")

    for path, named in (
        ("/api/auth/forgot-password", {}),
        ("/api/auth/magic-link/request", {}),
        ("/api/auth/register", {"email": "new@example.com", "password": "correct horse battery"}),
        ("/api/auth/forgot-password", {"service_slug": None, "redirect_uri": None}),
    ):
        body = {"email": "ada@example.com", **acme_shop.return_request, **named}
        answer = await world.client.post(path, body={name: value for name, value in body.items() if value is not None})
        assert answer.status in {200, 201}, answer.text
        rendered = world.installation.mail_renderer.render(await world.mail())
        assert not shows(rendered.subject + rendered.text + rendered.html, "evil")
        assert "a service" in " ".join(rendered.text.split())


async def test_no_template_shows_an_address_in_a_name(world: World) -> None:
    database = world.installation.database
    values: dict[str, Any] = {
        **dict.fromkeys(mail.NEUTRAL_NAMES, BAD),
        **dict.fromkeys(("token", "proof", "role", "inviter", "ip_address", "at", "until", "link", "domain"), "x"),
        **dict.fromkeys(("record_name", "record_value", "server", "reason", "email", "account", "provider"), "x"),
        **dict.fromkeys(("new_email", "first_proof", "code", "old", "new", "credentials"), "x"),
        **dict.fromkeys(("withdrawn", "made", "changed", "member", "person", "slug", "host", "by", "members"), "x"),
    }
    organization_id = world.organization("globex")
    for template in MailTemplate:
        await database.transact(mail.send, f"{template.value}@example.com", template, **values)
        message = MailMessage(to=f"{template.value}@example.org", template=template, values=values)
        await database.transact(mail.send_each, template, [message], organization_id=organization_id)

    sent = await database.transact(mail.claim, 1000)

    assert len(sent) == 2 * len(MailTemplate)
    for one in sent:
        rendered = world.installation.mail_renderer.render(one.message)
        assert not shows(rendered.subject + rendered.text + rendered.html, "evil"), one.message.template


async def test_names_that_are_older_than_the_rule_are_listed_with_what_they_name(shop: Team) -> None:
    database = shop.world.installation.database
    plan = (await shop.request("owner", "POST", "/services/shop/plans", body={"name": "Pro", "price_cents": 1})).json
    made = (await shop.request("owner", "POST", "/upstream-providers", body={"name": "Idp", **CONNECTION})).json
    assert await database.read(doctor.breaking_the_rule) == []

    shop.world.connection.execute("UPDATE services SET name = %s", (BAD,))
    shop.world.connection.execute("UPDATE plans SET name = 'evil\uff0eexample' WHERE id = %s", (plan["id"],))
    shop.world.connection.execute("UPDATE upstream_connections SET name = 'www.evil'")
    shop.world.connection.execute("UPDATE plans SET name = 'Inc. 2.0' WHERE is_default")

    found = await database.read(doctor.breaking_the_rule)

    assert [one.place for one in found] == [
        f"connection {made['id']} of acme",
        f"plan {plan['id']} of acme/shop",
        "service acme/shop",
    ]
