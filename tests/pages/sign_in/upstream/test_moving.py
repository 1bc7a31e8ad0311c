"""Moving an organization to another provider while it enforces its connection."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS, ROUTES
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor, forms_of

ADA: Final = "ada@acme.example"
INTEGRATIONS: Final = "integrations.manage"


async def connect(acme: Acme, editor: SignedInUser | None = None, **fields: Any) -> str:
    """Let a member, else the owner, make a second connection; return its id."""
    body = {
        "type": "oidc",
        "name": "Second",
        "issuer": acme.provider.url,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        **fields,
    }
    made = await (editor or acme.owner).post(CONNECTIONS, body)
    assert made.status == 200, made.text
    return made.json["id"]


async def lead(acme: Acme, connection_id: str, editor: SignedInUser | None = None) -> None:
    """Let a member, else the owner, lead the mail domain to a connection."""
    [route] = (await acme.owner.get(ROUTES)).json["domain_routes"]
    led = await (editor or acme.owner).patch(f"{ROUTES}/{route['id']}", {"provider_id": connection_id})
    assert led.status == 200, led.text
    acme.connection_id = connection_id


async def insider(acme: Acme) -> SignedInUser:
    """Return a member who may set connections, and nothing more."""
    acme.world.custom_role(acme.organization_id, "connecting", INTEGRATIONS)
    return await acme.world.signed_in_member(acme.organization_id, "connecting", email="eve@private.example")


def own_account(acme: Acme, email: str = ADA, role: str = "member") -> None:
    """Insert a member whose account the directory of Acme has made, and who has proved the address."""
    user_id = acme.world.user(email, password_hash=None)
    acme.world.member(acme.organization_id, user_id, role)
    acme.world.connection.execute(
        "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (acme.organization_id, user_id)
    )


async def arrived(acme: Acme, **claims: Any) -> tuple[Visitor, bool]:
    """Come back from the provider in a new browser; return it, and whether it is asked to sign in to the account."""
    acme.provider.claims = {"sub": "ada", "email": ADA, **claims}
    browser = Visitor(acme.world.client)
    page = await browser.open(acme.provider.sign_in(await acme.depart(browser)))
    return browser, any(form.action == "/app/sign-in" for form in forms_of(page))


async def test_an_own_account_is_linked_at_once_and_its_user_is_told(acme: Acme) -> None:
    own_account(acme)
    await acme.enforce()

    await lead(acme, await connect(acme))
    browser, is_asked = await arrived(acme)

    assert (browser.has_session, is_asked, acme.identities) == (True, False, 1)
    assert [one.template for one in await acme.world.mails() if one.to == ADA] == ["identity_linked"]
    assert acme.world.value("SELECT confirmed_at FROM identities") is None


async def test_it_opens_no_more_than_the_word_of_a_connection(acme: Acme) -> None:
    acme.world.custom_role(acme.organization_id, "keeper", "services.manage")
    own_account(acme, role="keeper")
    await lead(acme, await connect(acme))

    browser, _ = await arrived(acme)

    assert not browser.has_session
    assert acme.identities == 1
    assert [one.template for one in await acme.world.mails() if one.to == ADA] == ["identity_linked", "magic_link"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE users SET created_by_organization_id = NULL WHERE email = 'ada@acme.example'",
        "UPDATE memberships SET role = 'admin' WHERE user_id = (SELECT id FROM users WHERE email = 'ada@acme.example')",
        "UPDATE users SET disowned_at = now() WHERE email = 'ada@acme.example'",
        "UPDATE users SET closed_at = now() WHERE email = 'ada@acme.example'",
        "DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = 'ada@acme.example')",
        "UPDATE memberships SET suspended_at = now() WHERE user_id IN (SELECT id FROM users WHERE email LIKE 'ada@%')",
        "UPDATE users SET is_platform_support = true WHERE email = 'ada@acme.example'",
    ],
)
async def test_any_other_account_is_linked_by_a_mailed_code(acme: Acme, change: str) -> None:
    own_account(acme)
    await lead(acme, await connect(acme))
    acme.world.connection.execute(change.encode())

    browser, is_asked = await arrived(acme)

    assert (browser.has_session, is_asked, acme.identities) == (False, True, 0)


async def test_an_account_that_is_locked_is_not_linked_at_once(acme: Acme) -> None:
    own_account(acme)
    await lead(acme, await connect(acme))
    acme.world.connection.execute("UPDATE users SET locked_at = now() WHERE email = %s", (ADA,))

    browser, _ = await arrived(acme)

    assert (browser.has_session, acme.identities) == (False, 0)


async def test_who_belongs_elsewhere_too_is_linked_by_a_mailed_code(acme: Acme) -> None:
    own_account(acme)
    acme.world.member(acme.world.organization("bolt"), acme.world.user_id(ADA))
    await lead(acme, await connect(acme))

    assert (await arrived(acme))[1]


async def test_an_address_that_the_provider_has_not_verified_is_linked_by_a_mailed_code(acme: Acme) -> None:
    own_account(acme)
    await lead(acme, await connect(acme))

    assert (await arrived(acme, email_verified=False))[1]
    assert not (await arrived(acme, email_verified=True))[1]


async def test_a_connection_to_which_the_domain_does_not_lead_links_no_account_at_once(acme: Acme) -> None:
    own_account(acme)

    acme.connection_id = await connect(acme)

    assert (await arrived(acme))[1]


async def test_what_an_insider_has_set_links_no_account_at_once(acme: Acme) -> None:
    own_account(acme)
    first = acme.connection_id
    eve = await insider(acme)

    async def is_asked() -> bool:
        browser, is_asked = await arrived(acme)
        assert browser.has_session is not is_asked
        acme.world.connection.execute("DELETE FROM identities")
        return is_asked

    async def change(editor: SignedInUser, **fields: Any) -> None:
        changed = await acme.wish(editor, **fields)
        assert changed.status == 200, changed.text

    # The insider made it, and the owner leads the domain to it.
    await lead(acme, await connect(acme, eve))
    assert await is_asked()
    # The owner says anew where it leads.
    again = {"issuer": acme.provider.url, "client_secret": CLIENT_SECRET}
    await change(acme.owner, **again)
    # The owner does not look at the application there.
    assert await is_asked()
    again["client_id"] = acme.provider.client_id
    await change(acme.owner, **again)
    assert not await is_asked()
    # The insider changes which claim has the address, and back.
    for mapping in ({"email": "nickname"}, {}):
        await change(eve, attribute_mapping=mapping)
    assert await is_asked()
    await change(eve, attribute_mapping={"email": "email"})
    await change(acme.owner, **again)
    # The owner does not look at the mapping.
    assert await is_asked()
    await change(acme.owner, **again, attribute_mapping={})
    assert not await is_asked()
    # Other changes leave that as it is.
    await change(eve, name="Third", scopes=["openid", "email"], **again)
    assert not await is_asked()
    # Switching on what the owner has given up.
    await change(acme.owner, enabled=False)
    await change(eve, enabled=True)
    assert await is_asked()
    await change(acme.owner, **again)
    assert not await is_asked()
    # Leading the domain to what the owner has made.
    second = acme.connection_id
    await lead(acme, first, eve)
    assert await is_asked()
    await lead(acme, second)
    assert not await is_asked()


async def test_who_says_where_a_connection_leads_vouches_for_no_domain_that_others_lead_there(acme: Acme) -> None:
    own_account(acme)
    first = acme.connection_id
    again = {
        "issuer": acme.provider.url,
        "client_id": acme.provider.client_id,
        "client_secret": CLIENT_SECRET,
    }
    await lead(acme, await connect(acme))
    await lead(acme, first, eve := await insider(acme))
    [route] = (await acme.owner.get(ROUTES)).json["domain_routes"]

    assert (await acme.wish(acme.owner, **again)).status == 200
    told = (await acme.owner.patch(f"{ROUTES}/{route['id']}?dry_run=true", {})).json
    _, is_asked = await arrived(acme)

    assert is_asked
    assert (told["at_once"], told["by_code"]) == (0, 2)
    # The owner leads it there too; the insider, who does so once more, changes nothing.
    await lead(acme, first)
    await lead(acme, first, eve)
    browser, is_asked = await arrived(acme)
    assert (browser.has_session, is_asked) == (True, False)


async def test_what_was_under_way_before_somebody_vouched_is_begun_anew(acme: Acme) -> None:
    own_account(acme)
    eve = await insider(acme)
    # What is read of the connection while the provider answers may be what the insider has set.
    assert (await acme.wish(eve, attribute_mapping={"email": "nickname"})).status == 200
    acme.provider.claims = {"sub": "eve", "email": "eve@acme.example", "nickname": ADA}
    browser = Visitor(acme.world.client)
    answer = acme.provider.sign_in(await acme.depart(browser))

    said = {
        "issuer": acme.provider.url,
        "client_id": acme.provider.client_id,
        "client_secret": CLIENT_SECRET,
        "attribute_mapping": {"email": "nickname"},
    }
    assert (await acme.wish(acme.owner, **said)).status == 200
    await browser.open(answer)

    assert (browser.has_session, acme.identities) == (False, 0)
    # Saying it once more changes nothing.
    answer = acme.provider.sign_in(await acme.depart(browser))
    assert (await acme.wish(acme.owner, **said)).status == 200
    await browser.open(answer)
    assert (browser.has_session, acme.identities) == (True, 1)


async def test_both_providers_may_use_the_same_ids(acme: Acme) -> None:
    own_account(acme)
    own_account(acme, "bob@acme.example")
    await arrived(acme)
    assert acme.identities == 1

    await lead(acme, await connect(acme))
    bob, _ = await arrived(acme, sub="ada", email="bob@acme.example")
    ada, _ = await arrived(acme, sub="bob")

    linked = acme.world.rows(
        "SELECT i.subject, u.email FROM identities i JOIN users u ON u.id = i.user_id WHERE connection_id = %s"
        " ORDER BY 1",
        acme.connection_id,
    )
    assert linked == [("ada", "bob@acme.example"), ("bob", ADA)]
    assert bob.has_session
    assert ada.has_session


async def test_a_second_account_of_the_provider_for_one_person_is_refused(acme: Acme) -> None:
    own_account(acme)
    await lead(acme, await connect(acme))
    await arrived(acme)

    browser, is_asked = await arrived(acme, sub="another")

    assert (browser.has_session, is_asked, acme.identities) == (False, False, 1)


async def test_why_says_which_step_a_person_waits_for(acme: Acme) -> None:
    own_account(acme)
    acme.world.member(acme.organization_id, acme.world.user("bob@acme.example"))
    second = await connect(acme)

    async def steps() -> list[str | None]:
        """Return the next step of Ada, and of Bob."""
        answers = [
            await acme.owner.get(f"/api/organizations/acme/why?email={one}") for one in (ADA, "bob@acme.example")
        ]
        found = [answer.json["next_step"] for answer in answers]
        assert {one["connection"]["id"] for one in found if one is not None} <= {acme.connection_id}
        return [one["step"] if one is not None else None for one in found]

    assert await steps() == [None, None]
    await acme.enforce()
    await lead(acme, second)
    assert await steps() == ["connection", "mailed_code"]
    page = await (await signed_in(acme)).open("/app/organizations/acme/why?email=bob@acme.example")
    assert "The next step is the connection “Second”." in page.text
    assert "types a code that is mailed to the address then" in page.text
    # A person with more rights than the connection's word opens confirms the address.
    acme.world.connection.execute("UPDATE memberships SET role = 'admin' WHERE role = 'member'")
    await arrived(acme)
    assert await steps() == ["mailed_code", "mailed_code"]
    # A person who is refused there waits for no step.
    acme.world.connection.execute("UPDATE users SET deactivated_at = now() WHERE email = %s", (ADA,))
    assert await steps() == [None, "mailed_code"]


async def test_why_does_not_tell_the_step_of_a_person_who_has_not_confirmed_to_belong_there(acme: Acme) -> None:
    own_account(acme)
    await acme.enforce()
    acme.world.connection.execute("UPDATE memberships SET confirmed_at = NULL WHERE role = 'member'")

    answer = await acme.owner.get(f"/api/organizations/acme/why?email={ADA}")

    assert answer.json["next_step"] is None
    [link] = [rule for way in answer.json["ways"] for rule in way["rules"] if rule["rule"] == "link"]
    assert link["verdict"] == "not_told"


async def test_a_trial_says_of_an_own_account_that_it_is_linked_without_a_code(acme: Acme) -> None:
    own_account(acme)
    browser, page = await signed_in(acme), f"/app/organizations/acme/sign-in/connections/{acme.connection_id}"
    acme.provider.claims = {"sub": "ada", "email": ADA}

    begun = await browser.submit(await browser.open(page), f"{page}/trial", is_followed=False)
    target = begun.headers.get("Refresh", "").partition("; url=")[2] or begun.headers["Location"]
    shown = await browser.open(acme.provider.sign_in(target))
    acme.world.connection.execute("UPDATE users SET created_by_organization_id = NULL")
    other = await browser.open(f"{page}/trial")

    assert "The first sign-in links the account, without a mailed code." in shown.text
    assert "they also sign in as before, once" in other.text


async def signed_in(acme: Acme) -> Visitor:
    """The browser of the owner, signed in by a password."""
    visitor = Visitor(acme.world.client)
    await visitor.sign_in(acme.owner.email)
    return visitor


async def test_the_console_says_before_a_move_what_becomes_of_how_many_people(acme: Acme) -> None:
    own_account(acme)
    own_account(acme, "keeper@acme.example", "admin")
    bob = acme.world.user("bob@acme.example")
    acme.world.member(acme.organization_id, bob)
    acme.world.member(acme.organization_id, acme.world.user("new@acme.example", is_verified=False, password_hash=None))
    acme.world.member(acme.organization_id, acme.world.user("carl@private.example"))
    acme.world.member(acme.organization_id, acme.world.user("gone@acme.example", is_active=False))
    await arrived(acme)
    second = await connect(acme)
    [route] = (await acme.owner.get(ROUTES)).json["domain_routes"]
    path = f"{ROUTES}/{route['id']}"

    moved = await acme.owner.patch(f"{path}?dry_run=true", {"provider_id": second})
    kept = await acme.owner.patch(f"{path}?dry_run=true", {})
    unknown = await acme.owner.patch(f"{path}?dry_run=true", {"provider_id": route["id"]})
    page = (await (await signed_in(acme)).open(f"/app/organizations/acme/sign-in/mail-domains/{route['id']}")).text
    eve = await insider(acme)
    by_eve = await eve.patch(f"{path}?dry_run=true", {"provider_id": second})

    # The owner and the admin are never linked by the word of a connection alone.
    expected = {"connection_id": second, "connection_name": "Second", "linked": 0, "at_once": 2, "by_code": 3}
    assert moved.json == {**expected, "kept_out": 1}
    assert (kept.json["linked"], kept.json["at_once"], kept.json["by_code"]) == (1, 1, 3)
    assert unknown.status == 400
    assert (by_eve.json["at_once"], by_eve.json["by_code"]) == (1, 4)
    assert "If it leads to Second: 0 are linked, 2 are linked at once, 3 type one mailed code" in page
    assert "Acme, as now: 1 are linked" in page
    assert (await acme.owner.get(ROUTES)).json["domain_routes"] == [route]


async def test_of_a_domain_that_is_not_proved_nobody_is_told_how_its_people_stand(acme: Acme) -> None:
    acme.world.member(acme.organization_id, acme.world.user("carl@private.example"))
    eve = await insider(acme)
    claimed = await eve.post(ROUTES, {"domain": "private.example", "provider_id": acme.connection_id})

    told = await eve.patch(f"{ROUTES}/{claimed.json['id']}?dry_run=true", {})
    page = (
        await (await signed_in(acme)).open(f"/app/organizations/acme/sign-in/mail-domains/{claimed.json['id']}")
    ).text

    assert claimed.status == 200
    assert (told.status, told.json["error_code"]) == (400, "BAD_REQUEST")
    assert "What becomes of the people with such an address" not in page


async def test_a_change_that_ends_links_is_said_before(acme: Acme) -> None:
    own_account(acme)
    acme.world.member(acme.organization_id, acme.world.user("bob@acme.example"))
    await arrived(acme)
    acme.world.connection.execute("UPDATE identities SET confirmed_at = linked_at")
    other = {"attribute_mapping": {"id": "oid"}}
    nothing = {"identities_unlinked": 0, "sessions_ended": 0, "at_once": 0, "by_code": 0, "kept_out": 0}
    browser, page = await signed_in(acme), f"/app/organizations/acme/sign-in/connections/{acme.connection_id}"

    told = await acme.owner.patch(f"{acme.path}?dry_run=true", other)
    renamed = await acme.owner.patch(f"{acme.path}?dry_run=true", {"name": "Other"})
    refused = await acme.owner.patch(f"{acme.path}?dry_run=true", {"issuer": "https://other.example"})
    shown = await browser.open(page)
    asked = await browser.submit(shown, f"{page}/change", claim_of_id="oid")

    assert told.json == {**nothing, "identities_unlinked": 1, "sessions_ended": 1, "at_once": 1}
    assert renamed.json == nothing
    assert refused.status == 400
    assert "This connection has linked 1 accounts" in shown.text
    assert "A new certificate beside the old one ends no link." in shown.text
    assert asked.status == 400
    assert "This change unlinks 1 accounts." in asked.text
    assert acme.identities == 1
    done = await browser.submit(asked, f"{page}/change", claim_of_id="oid", ends_links="on")
    assert done.status == 200
    assert acme.identities == 0
    assert "Unlink these accounts" not in done.text
    await arrived(acme, oid="ada-1")
    assert acme.identities == 1
    acme.provider.client_id = "another"
    again = await browser.submit(
        await browser.open(page),
        page,
        issuer=acme.provider.url,
        client_id="another",
        client_secret=CLIENT_SECRET,
    )
    assert again.status == 400
    assert "This change unlinks 1 accounts." in again.text


async def test_what_is_said_of_people_is_what_becomes_of_them(acme: Acme) -> None:
    own_account(acme)
    own_account(acme, "keeper@acme.example", "admin")
    own_account(acme, "disowned@acme.example")
    own_account(acme, "closed@acme.example")
    own_account(acme, "suspended@acme.example")
    own_account(acme, "elsewhere@acme.example")
    acme.world.custom_role(acme.organization_id, "helper", "services.manage")
    own_account(acme, "helper@acme.example", "helper")
    acme.world.member(acme.organization_id, acme.world.user("plain@acme.example"))
    acme.world.member(acme.world.organization("bolt"), acme.world.user_id("elsewhere@acme.example"))
    for statement in (
        "UPDATE users SET disowned_at = now() WHERE email LIKE 'disowned@%'",
        "UPDATE users SET closed_at = now() WHERE email LIKE 'closed@%'",
        "UPDATE memberships SET suspended_at = now() WHERE user_id = (SELECT id FROM users WHERE email LIKE 'susp%')",
    ):
        acme.world.connection.execute(statement.encode())
    second = await connect(acme)
    [route] = (await acme.owner.get(ROUTES)).json["domain_routes"]
    told = (await acme.owner.patch(f"{ROUTES}/{route['id']}?dry_run=true", {"provider_id": second})).json

    await lead(acme, second)
    at_once, others = list[str](), list[str]()
    for (email,) in acme.world.rows("SELECT email FROM users WHERE email LIKE '%@acme.example' ORDER BY email"):
        browser, _ = await arrived(acme, sub=f"id of {email}", email=email)
        (at_once if browser.has_session else others).append(email)

    assert at_once == [ADA]
    assert (told["at_once"], told["by_code"] + told["kept_out"]) == (len(at_once), len(others))
    assert told["kept_out"] == 2
