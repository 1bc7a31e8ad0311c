"""A connection that a vendor has made for a customer signs in to that service in that customer's context alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.sessions.origins import BACKGROUND
from core.sign_in.lookup_email import MOVES_AFTER
from core.sign_in.upstream.domains import domain_routes
from tests.application import Answer, serving, with_mail_limits
from tests.shown_text import shows
from tests.world import internal
from tests.world.authorization import address_of, led_back
from tests.world.builder import Service
from tests.world.openid_acme import Acme
from tests.world.relying_party import REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.revocations import Revoker
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ADA = "ada@anybody.example"
ALLOW = "/auth/authorize/allow"
CODE = "/app/sign-in/address-code"
HOPS_MAX = 10
COUNTED = "SELECT key, sent_at FROM mail_counts ORDER BY key"


class Made:
    """A customer `globex` of the service `shop` of `vendor`, with a connection that the vendor has made for it."""

    def __init__(self, acme: Acme, party: RelyingParty, customer_id: UUID, internal_id: UUID) -> None:
        self.acme, self.party, self.customer_id, self.internal_id = acme, party, customer_id, internal_id
        self.world = acme.world

    async def arrive(self, visitor: Visitor, *, email: str = ADA, subject: str = "ada") -> Answer:
        """Sign in at the provider on the way of a request that names the customer, and return what follows."""
        answer = await visitor.send("GET", address_of(self.party, customer=str(self.customer_id)))
        return await self.follow(visitor, answer, email=email, subject=subject)

    async def follow(self, visitor: Visitor, answer: Answer, *, email: str = ADA, subject: str = "ada") -> Answer:
        for _ in range(HOPS_MAX):
            if any(form.action == ALLOW for form in forms_of(answer)):
                answer = await visitor.submit(answer, ALLOW, is_followed=False)
            location = answer.headers.get("Location") or answer.headers.get("Refresh", "").partition("; url=")[2]
            if not location or location.startswith(REDIRECT_URI):
                return answer
            if location.startswith(self.acme.provider.url):
                self.acme.provider.claims = {"sub": subject, "email": email, "email_verified": True}
                location = self.acme.provider.sign_in(location)
            answer = await visitor.send("GET", location.removeprefix("http://localhost:8000"))
        raise AssertionError("the browser was led in a circle")

    async def type_code(self, visitor: Visitor, page: Answer, code: str | None = None, **others: str) -> Answer:
        answer = await visitor.submit(page, CODE, code=code or await self.code(), is_followed=False)
        return await self.follow(visitor, answer, **others)

    async def code(self) -> str:
        [*_, mail] = [one for one in await self.world.mails() if one.template == "address_code"]
        return str(mail.values["code"])

    async def claims(self, answer: Answer) -> dict[str, Any]:
        return claims_of((await self.party.redeem(led_back(answer)["code"])).json["access_token"])

    async def come(self, visitor: Visitor, **others: str) -> dict[str, Any]:
        page = await self.arrive(visitor, **others)
        return await self.claims(await self.type_code(visitor, page, **others))


@pytest.fixture
async def made(acme: Acme, world: World) -> Made:
    party = insert_relying_party(world, slug="vendor")
    service = Service(id=party.service_id, client_id=party.client_id)
    world.serve_customers(service, "editor")
    customer_id = world.customer(service, world.organization("globex"))
    internal_id = await internal.internal_of(world, customer_id)
    internal.give_connection(world, acme.connection_id, internal_id)
    return Made(acme, party, customer_id, internal_id)


async def test_who_comes_by_it_types_a_mailed_code_once_and_is_admitted(made: Made, visitor: Visitor) -> None:
    first = await made.come(visitor)
    visitor.cookies.clear()
    again = await made.claims(await made.arrive(visitor))

    for claims in (first, again):
        assert (claims["customer"], claims["customer_id"]) == ("globex", str(made.customer_id))
        assert claims["customer_role"] is None
        assert (claims["service_roles"], claims["email"]) == ([], ADA)
    user_id = made.world.user_id(ADA)
    assert made.world.rows("SELECT organization_id, made_for FROM memberships WHERE user_id = %s", user_id) == [
        (made.internal_id, made.customer_id)
    ]
    assert made.world.value("SELECT email_verified_at IS NOT NULL FROM users WHERE id = %s", user_id)
    assert made.world.rows("SELECT DISTINCT confined_to FROM sessions WHERE user_id = %s", user_id) == [
        (made.internal_id,)
    ]


async def test_it_asks_alike_whether_an_account_has_the_address(made: Made, visitor: Visitor) -> None:
    page = await made.arrive(visitor)
    visitor.cookies.clear()
    eve = made.world.user("eve@anybody.example")
    other = await made.arrive(visitor, email="eve@anybody.example", subject="eve")

    assert [form.action for form in forms_of(page)] == [form.action for form in forms_of(other)]
    assert made.world.value("SELECT count(*) FROM users WHERE email = %s", ADA) == 0
    assert made.world.value("SELECT count(*) FROM sessions WHERE user_id = %s", eve) == 0


async def test_a_wrong_code_signs_nobody_in_and_five_end_the_sign_in(made: Made, visitor: Visitor) -> None:
    page = await made.arrive(visitor)
    right = await made.code()
    wrong = f"{(int(right) + 1) % 10**6:06}"

    for _ in range(5):
        refused = await visitor.submit(page, CODE, code=wrong)
        assert refused.status == 400
    over = await visitor.submit(page, CODE, code=right)

    assert over.status == 400
    assert made.world.value("SELECT count(*) FROM sessions") == 1
    assert made.world.value("SELECT count(*) FROM identities") == 0


async def test_what_is_no_code_uses_up_no_try(made: Made, visitor: Visitor) -> None:
    page = await made.arrive(visitor)
    code = await made.code()

    for _ in range(6):
        refused = await visitor.submit(page, CODE, code="soon")
        assert (refused.status, "This code is wrong" in refused.text) == (400, True)

    assert (await made.claims(await made.type_code(visitor, page, code)))["email"] == ADA


async def test_right_codes_are_not_counted_among_the_wrong_ones_of_a_network(made: Made, world: World) -> None:
    visitor = Visitor(serving(with_mail_limits(world.installation)))
    page = await made.arrive(visitor)
    code = await made.code()

    await visitor.submit(page, CODE, code=f"{(int(code) + 1) % 10**6:06}")
    counted = world.rows(COUNTED)
    answer = await made.type_code(visitor, page, code)

    assert led_back(answer)["code"]
    assert [one for one in world.rows(COUNTED) if one in counted] == counted


async def test_a_code_that_the_limits_of_its_address_keep_back_signs_nobody_in(made: Made, world: World) -> None:
    visitor = Visitor(serving(with_mail_limits(world.installation)))
    for _ in range(5):
        await made.arrive(visitor)
        visitor.cookies.clear()
    page = await made.arrive(visitor)
    # As an attacker knows it who guesses long enough.
    assert world.connection.execute("UPDATE mails SET state = 'queued' WHERE state = 'discarded'").rowcount == 1

    refused = await visitor.submit(page, CODE, code=await made.code())

    assert refused.status == 400
    assert world.value("SELECT count(*) FROM users WHERE email = %s", ADA) == 0


async def test_the_code_of_an_account_opens_nothing_else_of_it(made: Made, visitor: Visitor, world: World) -> None:
    ada = world.user(ADA)
    own = world.organization("initech")
    world.member(own, ada, "owner")

    claims = await made.come(visitor)
    page = await visitor.open("/app/organizations")
    elsewhere = await visitor.send("GET", "/app/organizations/initech")

    assert claims["sub"] == str(ada)
    assert not shows(page.text, "initech")
    assert elsewhere.status != 200
    assert world.rows("SELECT organization_id, connection_id::text FROM identities") == [
        (made.internal_id, made.acme.connection_id)
    ]


async def test_its_word_changes_nothing_of_an_account_that_is_used_nowhere_else(
    made: Made, visitor: Visitor, world: World
) -> None:
    world.user(ADA)
    await made.come(visitor)
    # As its provider comes from then on, without a code.
    visitor.cookies.clear()
    code = led_back(await made.arrive(visitor))["code"]
    token = (await made.party.redeem(code)).json["access_token"]
    await world.mails()

    page = await visitor.open("/app/account/email")
    by_service = [
        await world.client.request("PATCH", "/api/user", token=token, body={"email": "eve@elsewhere.example"}),
        await world.client.request("POST", "/api/user/mfa/setup", token=token),
    ]

    assert not any(form.action == "/app/account/email" for form in forms_of(page))
    assert [answer.status for answer in by_service] == [403, 403]
    assert await world.mails() == []


async def test_a_vendor_that_has_no_room_admits_nobody(made: Made, visitor: Visitor, world: World) -> None:
    world.connection.execute(
        "UPDATE organizations SET max_users = 1 WHERE id = (SELECT vendor_id FROM service_customers WHERE id = %s)",
        (made.customer_id,),
    )
    world.member(made.party.organization_id, world.user("owner@vendor.example"), "owner")

    page = await made.arrive(visitor)
    refused = await visitor.submit(page, CODE, code=await made.code())

    assert refused.status == 400
    assert "as many members as it may have" in refused.text
    assert world.value("SELECT count(*) FROM memberships WHERE made_for IS NOT NULL") == 0


async def test_it_leads_nowhere_else(made: Made, visitor: Visitor, world: World) -> None:
    for query in ("", "&org=globex", f"&org=internal:{made.customer_id}", "&org=vendor"):
        answer = await visitor.open(f"/auth/upstream?connection_id={made.acme.connection_id}{query}")
        assert answer.status == 404, query


async def test_its_link_leads_to_the_service_and_names_the_customer(made: Made, visitor: Visitor) -> None:
    asked = address_of(made.party).partition("?")[2]
    path = f"/auth/upstream?connection_id={made.acme.connection_id}&org=vendor&service=shop&{asked}"

    page = await made.follow(visitor, await visitor.send("GET", path))
    back = led_back(await made.type_code(visitor, page))

    token = (await made.party.redeem(back["code"])).json["access_token"]
    assert claims_of(token)["customer_id"] == str(made.customer_id)


async def test_its_link_leads_nowhere_when_the_service_serves_no_customers(
    made: Made, visitor: Visitor, world: World
) -> None:
    world.connection.execute("UPDATE services SET customers = 'none'")

    answer = await visitor.open(f"/auth/upstream?connection_id={made.acme.connection_id}&org=vendor&service=shop")

    assert answer.status == 404


async def test_a_mail_domain_leads_to_it_at_the_service_alone(made: Made, visitor: Visitor, world: World) -> None:
    internal.add_mail_domain(world, made.acme.connection_id, made.internal_id, "anybody.example")
    body = {"email": ADA}
    here = {"org_slug": "vendor", "service_slug": "shop"}

    at_service = (await world.client.post("/api/auth/lookup-email", body={**body, **here})).json
    anywhere = (await world.client.post("/api/auth/lookup-email", body=body)).json

    assert (at_service["auth_method"], at_service["connection_id"]) == ("upstream", made.acme.connection_id)
    assert (at_service["organization"], at_service["sso_required"]) == ("vendor", False)
    assert anywhere["auth_method"] == "password"
    methods = await visitor.submit(await visitor.open(address_of(made.party)), "/app/sign-in", email=ADA)
    [link] = [part.split('"')[0] for part in methods.text.split('href="')[1:] if part.startswith("/auth/upstream")]
    page = await made.follow(visitor, await visitor.send("GET", link.replace("&amp;", "&")))
    claims = await made.claims(await made.type_code(visitor, page))
    assert claims["customer_id"] == str(made.customer_id)


async def test_a_suspended_membership_of_the_customer_goes_before_it(
    made: Made, visitor: Visitor, world: World
) -> None:
    ada = world.user(ADA)
    world.member(world.value("SELECT id FROM organizations WHERE slug = 'globex'"), ada, "member")
    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (ada,))

    page = await made.arrive(visitor)
    answer = await made.type_code(visitor, page)

    assert not answer.headers.get("Location", "").startswith(REDIRECT_URI), answer.headers
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0


async def session_states(made: Made) -> dict[str, bool]:
    """Return whether the sessions in the context of the customer, of the browser that came, and others are alive."""
    rows = made.world.rows(
        """
        SELECT CASE WHEN customer_id IS NOT NULL THEN 'customer' WHEN confined_to IS NOT NULL THEN 'browser'
                    ELSE 'elsewhere' END, bool_or(revoked_at IS NULL)
        FROM   sessions
        WHERE  user_id = %s
        GROUP  BY 1
        """,
        made.world.user_id(ADA),
    )
    return dict(rows)


async def test_switching_it_off_ends_the_sessions_that_began_by_it_and_no_others(
    made: Made, visitor: Visitor, world: World
) -> None:
    world.user(ADA)
    await made.come(visitor)
    await world.sign_in(ADA)
    boss = world.user("boss@vendor.example")
    world.member(made.party.organization_id, boss, "owner")
    world.connection.execute("UPDATE service_customers SET vendor_setup = '{upstream}'")
    token = (await world.sign_in("boss@vendor.example")).access_token
    path = f"/api/organizations/vendor/services/shop/customers/{made.customer_id}/connections"

    off = await world.client.patch(f"{path}/{made.acme.connection_id}", token=token, body={"enabled": False})

    assert off.status == 200, off.text
    assert await session_states(made) == {"customer": False, "browser": False, "elsewhere": True}
    visitor.cookies.clear()
    refused = await visitor.send("GET", address_of(made.party, customer=str(made.customer_id)))
    assert made.acme.provider.url not in refused.headers.get("Location", "")


async def test_its_provider_ends_what_a_person_holds_in_that_context_alone(
    made: Made, visitor: Visitor, world: World
) -> None:
    world.user(ADA)
    await made.come(visitor)
    await world.sign_in(ADA)

    answer = await Revoker(world, made.acme.provider, str(made.acme.connection_id)).revoke_subject("ada")

    assert answer.status == 204, answer.text
    assert await session_states(made) == {"customer": False, "browser": False, "elsewhere": True}


async def test_its_provider_ends_nothing_by_the_address_of_a_person_whom_it_does_not_know(
    made: Made, visitor: Visitor, world: World
) -> None:
    world.user(ADA)
    await world.sign_in(ADA)
    internal.add_mail_domain(world, made.acme.connection_id, made.internal_id, "anybody.example")

    answer = await Revoker(world, made.acme.provider, str(made.acme.connection_id)).revoke(format="email", email=ADA)

    assert answer.status == 204, answer.text
    assert await session_states(made) == {"elsewhere": True}


async def test_the_customers_log_names_who_came_in_by_it(made: Made, visitor: Visitor, world: World) -> None:
    await made.come(visitor)
    visitor.cookies.clear()
    await made.arrive(visitor)

    entries = world.rows(
        """
        SELECT target_id, actor_user_id, details FROM audit_entries
        WHERE  organization_id = (SELECT id FROM organizations WHERE slug = 'globex')
          AND  action = 'customer.user_added'
        """
    )
    [[target_id, actor, details]] = entries
    assert (target_id, actor) == (str(world.user_id(ADA)), None)
    assert (details["user_email"], details["by"], details["vendor_slug"]) == (ADA, "vendor", "vendor")
    assert details["connection_id"] == str(made.acme.connection_id)


async def test_its_mail_domain_leads_elsewhere_a_week_after_an_organization_has_proved_it(
    made: Made, world: World
) -> None:
    internal.add_mail_domain(world, made.acme.connection_id, made.internal_id, "anybody.example")
    body = {"email": ADA, "org_slug": "vendor", "service_slug": "shop"}
    owner = world.user("head@anybody.example")
    initech = world.organization("initech")
    world.member(initech, owner, "owner")
    world.mail_domain(initech, "anybody.example")

    async def leads_to_it() -> bool:
        answer = (await world.client.post("/api/auth/lookup-email", body=body)).json
        return answer.get("connection_id") == made.acme.connection_id

    assert await leads_to_it()
    world.clock.advance(MOVES_AFTER - timedelta(seconds=1))
    assert await leads_to_it()
    world.clock.advance(timedelta(seconds=1))
    assert not await leads_to_it()


async def test_the_vendor_is_told_at_once_that_an_organization_has_proved_its_mail_domain(
    made: Made, world: World
) -> None:
    internal.add_mail_domain(world, made.acme.connection_id, made.internal_id, "anybody.example")
    team = world.team("initech")
    team.add("head", "owner")
    world.mail_domain(team.organization_id, "other.example")
    connection_id = world.value("SELECT id FROM upstream_connections WHERE organization_id = %s", team.organization_id)
    body = {"domain": "anybody.example", "provider_id": str(connection_id)}
    added = await team.request("head", "POST", "/domain-routes", body=body)
    assert added.status == 200, added.text
    route_id, value = world.rows(
        "SELECT id, value FROM domain_routes WHERE organization_id = %s AND domain = 'anybody.example'",
        team.organization_id,
    )[0]
    session_id = world.value("SELECT id FROM sessions WHERE user_id = %s", team.ids["head"])
    database = world.installation.database.on_behalf_of(BACKGROUND, session_id)

    await database.transact(domain_routes.verify, "initech", route_id, [value])

    [(organization_id, data)] = world.rows(
        "SELECT organization_id, data FROM events WHERE type = 'customer.domain_lost'"
    )
    assert organization_id == made.party.organization_id
    assert (data["customer_id"], data["domain"]) == (str(made.customer_id), "anybody.example")
    assert data["reason"] == "proved_by_organization"
    assert not shows(str(data), "initech")
