"""The pages of an invitation's link: its redirect, and that only a button answers it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from core.rate_limits import RateLimit
from entrypoints.installation import Installation
from tests.application import Answer, Client, serving, serving_with_rate_limits
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, INVITER, Invitation, Inviter
from tests.world.visitor import Visitor, forms_of

LINK = "/invitations/accept"
ACCEPT = "/app/invitations/accept"
DECLINE = "/app/invitations/decline"
FORM = "application/x-www-form-urlencoded"
UNKNOWN = "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11"
WEEK = timedelta(days=7)


async def press(client: Client, path: str, *, media_type: str = FORM, by: str = "mail", **fields: str) -> Answer:
    """Submit the form of a button in a browser of its own."""
    visitor = Visitor(client)
    page = await visitor.open("/app/forgot-password")
    sent = {"by": by, **fields, "form_token": forms_of(page)[0].fields["form_token"]}
    return await visitor.post(path, sent, headers={"Content-Type": media_type}, is_followed=False)


def fields_of(page: str, action: str) -> dict[str, str]:
    """Return the hidden fields of the form on a page."""
    [form] = re.findall(f'<form method="post" action="{action}">(.*?)</form>', page, re.DOTALL)
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))


async def opened(inviter: Inviter, invitation: Invitation) -> str:
    """Return the page to which an invitation's mailed link redirects."""
    redirect = await inviter.world.client.get(LINK + invitation.link)
    parts = urlsplit(redirect.headers["Location"])
    answer = await inviter.world.client.get(f"{parts.path}?{parts.query}")
    assert answer.status == 200, answer.text
    return answer.text


async def test_the_mailed_link_redirects_to_our_page(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answer = await inviter.world.client.get(LINK + invitation.link)

    assert answer.status == 301
    assert answer.headers["Location"] == f"http://localhost:8000{ACCEPT}{invitation.link}"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_the_mailed_link_redirects_to_the_frontend_if_one_is_set(inviter: Inviter) -> None:
    settings = replace(inviter.world.installation.settings, frontend_url="https://app.example.com/team")
    client = serving(replace(inviter.world.installation, settings=settings))

    answer = await client.get(f"{LINK}?token={UNKNOWN}")

    assert answer.headers["Location"] == f"https://app.example.com/team/invitations/accept?token={UNKNOWN}"


async def test_the_redirect_keeps_only_the_token_and_the_proof_and_encodes_them(
    inviter: Inviter, subtests: pytest.Subtests
) -> None:
    for given, kept in (
        ({"token": "a", "next": "https://evil.example", "proof": "b"}, {"token": ["a"], "proof": ["b"]}),
        ({"token": "a&proof=b#c"}, {"token": ["a&proof=b#c"]}),
        ({"token": "a\r\nSet-Cookie: b=c"}, {"token": ["a\r\nSet-Cookie: b=c"]}),
        ({"token": "//evil.example/é"}, {"token": ["//evil.example/é"]}),
    ):
        with subtests.test(given=given, kept=kept):
            answer = await inviter.world.client.get(f"{LINK}?{urlencode(given)}")

            parts = urlsplit(answer.headers["Location"])
            assert (parts.scheme, parts.netloc, parts.path, parts.fragment) == ("http", "localhost:8000", ACCEPT, "")
            assert parse_qs(parts.query) == kept
            assert "Set-Cookie" not in answer.headers


async def test_the_page_of_a_link_without_a_token_says_what_to_do(inviter: Inviter) -> None:
    for path in (LINK, ACCEPT):
        answer = await inviter.world.client.get(path)

        assert answer.status == 400, path
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8", path
        assert "Open it exactly as it appears in the mail" in answer.text, path


async def test_the_page_shows_the_inviter_and_the_organization(inviter: Inviter) -> None:
    page = await opened(inviter, await inviter.invite(role="admin"))

    assert all(words in page for words in (INVITER, "Join Acme?", "as admin", GUEST, "10 February 2026, 04:05 UTC"))
    assert page.count("<script") == 1
    assert page.count('<button class="button') == 2


async def test_opening_the_link_changes_nothing(inviter: Inviter, clock: SettableClock) -> None:
    invitation, late = await inviter.invite(), await inviter.invite("late@example.com")
    before = inviter.world.rows("SELECT * FROM invitations ORDER BY id")
    for one in (invitation, late):
        for path in (LINK, ACCEPT):
            for method in ("HEAD", "GET", "GET"):
                await inviter.world.client.request(method, path + one.link)
        clock.advance(WEEK)

    assert inviter.world.rows("SELECT * FROM invitations ORDER BY id") == before
    assert inviter.world.rows("SELECT FROM memberships WHERE role <> 'owner'") == []
    assert inviter.audit_entries("invitation.expired") == []


async def test_a_deleted_inviter_is_not_named(inviter: Inviter) -> None:
    invitation = await inviter.invite()
    inviter.world.rows("UPDATE invitations SET invited_by = NULL RETURNING id")

    assert "You are invited" in await opened(inviter, invitation)


async def test_an_inviter_is_not_named_by_an_unverified_address(inviter: Inviter) -> None:
    invitation = await inviter.invite()
    [(owner,)] = inviter.world.rows("SELECT email FROM users WHERE id = %s", inviter.owner_id)
    inviter.world.set_unproved_address(owner, "president@example.com")

    page = await inviter.world.client.get(f"/app/invitations/accept{invitation.link}")

    assert "You are invited" in page.text
    assert "president@example.com" not in page.text


@pytest.mark.parametrize("has_account", [False, True])
async def test_without_the_proof_the_page_leads_to_the_mail_and_does_not_tell_who_has_an_account(
    inviter: Inviter, has_account: bool
) -> None:
    if has_account:
        inviter.world.user(GUEST)
    invitation = await inviter.invite()

    answer = await press(inviter.world.client, ACCEPT, token=invitation.token, proof="")

    assert answer.status == 200
    assert f"Open the link in the mail that we are sending to {GUEST}, then sign in." in answer.text
    assert (await inviter.world.mail()).to == GUEST
    assert inviter.role_of() == "member"


async def test_declining_is_confirmed_and_adds_no_member(inviter: Inviter) -> None:
    invitation = await inviter.invite()
    fields = fields_of(await opened(inviter, invitation), DECLINE)

    answer = await press(inviter.world.client, DECLINE, **fields)

    assert answer.status == 200
    assert "You declined the invitation" in answer.text
    assert (inviter.status(invitation), inviter.role_of()) == ("rejected", None)


async def test_the_page_of_an_unknown_token_says_what_to_do(inviter: Inviter, subtests: pytest.Subtests) -> None:
    for token in ("", UNKNOWN, "<script>"):
        with subtests.test(token=token):
            shown = await inviter.world.client.get(f"{ACCEPT}?{urlencode({'token': token})}")
            pressed = [await press(inviter.world.client, path, token=token) for path in (ACCEPT, DECLINE)]

            for answer in (shown, *pressed):
                assert answer.status == 400
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
                assert "is not valid" in answer.text
                assert "in the mail, or" in answer.text


async def test_a_wrong_proof_is_refused_like_an_unknown_token(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    answer = await press(inviter.world.client, ACCEPT, token=invitation.token, proof="<nonsense>")

    assert answer.status == 400
    assert "This invitation is not valid" in answer.text
    assert inviter.status(invitation) == "pending"


async def test_an_answered_invitation_has_its_own_page(inviter: Inviter) -> None:
    accepted, withdrawn = [await inviter.invite(f"guest{n}@example.com") for n in range(2)]
    await inviter.accept(accepted)
    await inviter.revoke(withdrawn)

    await inviter.accept(accepted, is_proved=True)

    for invitation in (accepted, withdrawn):
        shown = await inviter.world.client.get(ACCEPT + invitation.link)
        pressed = [await press(inviter.world.client, path, token=invitation.token) for path in (ACCEPT, DECLINE)]

        for answer in (shown, *pressed):
            assert answer.status == 400
            assert "This invitation was already answered, or it was withdrawn" in answer.text


async def test_an_expired_invitation_has_its_own_page(inviter: Inviter, clock: SettableClock) -> None:
    invitation = await inviter.invite()
    clock.advance(WEEK)

    shown = await inviter.world.client.get(ACCEPT + invitation.link)
    pressed = await press(inviter.world.client, ACCEPT, token=invitation.token)
    shown_again = await inviter.world.client.get(ACCEPT + invitation.link)

    for answer in (shown, pressed, shown_again):
        assert answer.status == 400
        assert "This invitation has expired" in answer.text
        assert "ask the person who invited you for a new one" in answer.text
    assert inviter.status(invitation) == "expired"


async def test_the_page_of_an_inactive_organization_says_so(inviter: Inviter) -> None:
    invitation = await inviter.invite()
    inviter.world.set_organization_status(inviter.organization_id, "suspended")

    shown = await inviter.world.client.get(ACCEPT + invitation.link)
    pressed = [await press(inviter.world.client, path, token=invitation.token) for path in (ACCEPT, DECLINE)]

    for answer in (shown, *pressed):
        assert answer.status == 403
        assert "This organization is not active" in answer.text
    assert inviter.status(invitation) == "pending"


async def test_another_media_type_than_a_form_is_refused(inviter: Inviter) -> None:
    invitation = await inviter.invite()

    for path in (ACCEPT, DECLINE):
        sent = await press(inviter.world.client, path, token=invitation.token, media_type="text/plain")
        assert sent.status == 415, path
    assert inviter.status(invitation) == "pending"


async def test_pages_and_api_share_the_rate_limit_of_answers(installation: Installation) -> None:
    client = serving_with_rate_limits(installation)
    for _ in range(RateLimit.INVITATION_ANSWER.burst):
        assert (await press(client, DECLINE, token=UNKNOWN)).status == 400

    assert (await press(client, ACCEPT, token=UNKNOWN)).status == 429
    assert (await client.post("/api/invitations/accept", body={"token": UNKNOWN})).status == 429


async def test_the_page_confirms_or_declines_what_a_manager_has_accepted(inviter: Inviter) -> None:
    staying, leaving = [await inviter.invite(f"guest{n}@example.com") for n in range(2)]
    for invitation in (staying, leaving):
        await inviter.accept_on_behalf(invitation)

    visitor = Visitor(inviter.world.client)
    confirmed = await visitor.submit(await visitor.open(ACCEPT + staying.link), ACCEPT, password=PASSWORD)
    declined = await press(inviter.world.client, DECLINE, **fields_of(await opened(inviter, leaving), DECLINE))

    assert "You are a member of Acme" in confirmed.text
    assert "You declined the invitation" in declined.text
    assert inviter.world.rows("SELECT email FROM memberships JOIN users ON users.id = user_id ORDER BY email") == [
        ("guest0@example.com",),
        (INVITER,),
    ]
    assert inviter.world.value("SELECT count(*) FROM memberships WHERE confirmed_at IS NULL") == 0
    for invitation in (staying, leaving):
        assert (await inviter.world.client.get(ACCEPT + invitation.link)).status == 400


async def test_services_and_a_message_show_with_the_proof_alone(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.service(inviter.organization_id, "shop", name="Shop & Co")
    message = "Hi <script>you</script>, see you"
    invitation = await inviter.invite(services=["shop"], message=message)

    without = await visitor.open(f"/app/invitations/accept?token={invitation.token}")
    with_proof = await visitor.open(f"/app/invitations/accept{invitation.link}")

    assert not shows(without.text, "Shop")
    assert "see you" not in without.text
    assert "<li>Shop &amp; Co</li>" in with_proof.text
    assert "A message from Acme" in with_proof.text
    assert '<blockquote dir="auto">Hi &lt;script&gt;you&lt;/script&gt;, see you</blockquote>' in with_proof.text

    # The person who is signed in has proved the address too.
    inviter.world.user(GUEST)
    await visitor.sign_in(GUEST)
    assert "see you" in (await visitor.open(f"/app/invitations/accept?token={invitation.token}")).text
    waiting = await visitor.open("/app/account/organizations")
    assert "With access to: Shop &amp; Co" in waiting.text
    assert "see you" in waiting.text
