"""The page of the invitations of an organization."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from core.organizations.bulk_jobs import ROWS_MAX
from entrypoints.pages.invitations.found_invitations import LINES_MAX, NAMED_MAX
from tests.application import Answer
from tests.world.inviter import GUEST, INVITER, Inviter
from tests.world.jobs import work_off
from tests.world.visitor import Visitor, forms_of

ACCEPT = "/app/invitations/accept"
PAGE = "/app/organizations/acme/people/invited"
HOSTILE = "<b>bolt</b>@example.com"


@pytest.fixture
async def olga(inviter: Inviter, visitor: Visitor) -> Visitor:
    """The browser of the owner, who invites."""
    assert inviter.organization_id
    await visitor.sign_in(INVITER)
    return visitor


async def act(visitor: Visitor, page: Answer, path: str) -> Answer:
    """Press the button of a page that sends its form to this path."""
    [form] = [one for one in forms_of(page) if one.id == "act"]
    assert f'formaction="{path}"' in page.text
    return await visitor.post(path, form.fields)


async def test_many_are_invited_and_each_line_has_its_result(inviter: Inviter, olga: Visitor) -> None:
    lines = f"one@example.com\r\n\r\n {HOSTILE}\r\none@example.com\r\n{INVITER}\r\nTwo@Example.com"

    page = await olga.submit(await olga.open(PAGE), PAGE, emails=lines, role="member")

    assert page.status == 200
    assert page.text.count(">Invited</span>") == 2
    assert page.text.count(">Not invited</span>") == 2
    assert "This person is already a member of the organization." in page.text
    assert HOSTILE not in page.text
    # What was refused is kept, to be corrected.
    kept = page.text.partition("<textarea")[2].partition("</textarea>")[0].partition(">")[2]
    assert kept.split("\n") == ["&lt;b&gt;bolt&lt;/b&gt;@example.com", INVITER]
    assert inviter.world.rows("SELECT email FROM invitations ORDER BY 1") == [
        ("one@example.com",),
        ("two@example.com",),
    ]


@pytest.mark.parametrize("others", [0, LINES_MAX])
async def test_a_name_of_the_list_is_filled_in_on_the_page_of_acceptance(
    inviter: Inviter, olga: Visitor, others: int
) -> None:
    world = inviter.world
    lines = ["Emma Stone <emma@example.com>", "<b>Bob</b> https://evil.example <bob@example.com>"]
    await olga.submit(
        await olga.open(PAGE),
        PAGE,
        emails="\n".join([*lines, *(f"{number}@example.com" for number in range(others))]),
        role="member",
    )
    if others:
        await work_off(world.installation)
    emma = Visitor(world.client)

    [mailed] = [one for one in await world.mails() if one.to == "emma@example.com"]
    link = f"{ACCEPT}?token={mailed.values['token']}"
    page = await emma.open(f"{link}&proof={mailed.values['proof']}")

    assert 'value="Emma Stone"' in page.text
    assert 'value="Emma Stone"' not in (await emma.open(link)).text
    assert world.rows("SELECT name FROM invitations WHERE name IS NOT NULL") == [("Emma Stone",)]


async def test_a_name_of_the_list_is_forgotten_with_the_answer(inviter: Inviter, olga: Visitor) -> None:
    invitation = await inviter.invite()
    inviter.world.connection.execute("UPDATE invitations SET name = 'Emma Stone'")

    await act(olga, await olga.open(PAGE), f"{PAGE}/{invitation.id}/withdraw")

    assert inviter.world.rows("SELECT status, name FROM invitations") == [("cancelled", None)]


async def test_a_row_has_one_button_and_a_menu(inviter: Inviter, olga: Visitor) -> None:
    await inviter.invite()

    page = await olga.open(PAGE)

    [row] = re.findall(r'<div class="row-line">(.*?)</div></details>\s*</div>', page.text, re.DOTALL)
    shown, _, menu = row.partition("<details")
    assert re.findall(r"<button.*?>(.*?)</button>", shown) == ["Send again"]
    assert re.findall(r">([\w ]+)</(?:a|button)>", menu) == ["Add at once", "Withdraw"]


async def test_when_all_are_invited_the_page_says_so(olga: Visitor) -> None:
    page = await olga.submit(await olga.open(PAGE), PAGE, emails="one@example.com\ntwo@example.com", role="admin")

    assert "The invitations are sent." in page.text
    assert "2 found" in page.text


async def test_no_line_and_too_many_lines_are_refused(inviter: Inviter, olga: Visitor) -> None:
    nothing = await olga.submit(await olga.open(PAGE), PAGE, emails=" \r\n ", role="member")
    many = "\n".join(f"{number}@example.com" for number in range(ROWS_MAX + 1))
    too_many = await olga.submit(await olga.open(PAGE), PAGE, emails=many, role="member")
    # Repeated lines count as lines, before any is looked into.
    repeated = await olga.submit(await olga.open(PAGE), PAGE, emails="a\n" * (ROWS_MAX + 1), role="member")

    assert (nothing.status, too_many.status, repeated.status) == (400, 400, 400)
    assert "Enter at least one address." in nothing.text
    assert "A job has at most 10000 rows." in too_many.text
    assert "A job has at most 10000 rows." in repeated.text
    assert "10000@example.com" in too_many.text
    assert inviter.world.value("SELECT count(*) FROM invitations") == 0


async def test_what_is_merged_or_taken_as_a_name_is_named(inviter: Inviter, olga: Visitor) -> None:
    lines = ("Ada,Lovelace,ada@example.com", "Ada@Example.com", "nothing, here")

    page = await olga.submit(await olga.open(PAGE), PAGE, emails="\n".join(lines), role="member")

    assert "In the list more than once, so invited once: Ada@Example.com" in page.text
    assert "taken as names and not invited: Ada, Lovelace" in page.text
    assert page.text.partition("<textarea")[2].partition("</textarea>")[0].endswith("nothing, here")
    assert inviter.world.rows("SELECT email FROM invitations") == [("ada@example.com",)]


async def test_a_page_names_some_of_what_is_left_out_and_counts_the_others(inviter: Inviter, olga: Visitor) -> None:
    names = ",".join(f"name-{number}" for number in range(NAMED_MAX + 2))

    page = await olga.submit(await olga.open(PAGE), PAGE, emails=f"{names},ada@example.com", role="member")

    assert f"name-{NAMED_MAX - 1}, + 2" in page.text
    assert inviter.world.value("SELECT count(*) FROM invitations") == 1


async def test_invitations_are_found_by_address_and_status(inviter: Inviter, olga: Visitor) -> None:
    first = await inviter.invite("ada@example.com")
    await inviter.invite("bea@example.com")
    await inviter.revoke(first)

    everything = (await olga.open(PAGE)).text
    withdrawn = (await olga.open(f"{PAGE}?status=cancelled")).text
    by_address = (await olga.open(f"{PAGE}?search=BEA&status=nonsense")).text

    assert everything.index("bea@example.com") < everything.index("ada@example.com")
    assert "ada@example.com" in withdrawn
    assert "bea@example.com" not in withdrawn
    assert "One found" in by_address
    assert "ada@example.com" not in by_address


async def test_a_long_list_goes_on_after_its_last_row(inviter: Inviter, olga: Visitor) -> None:
    for number in range(30):
        await inviter.invite(f"guest-{number:02}@example.com")

    first = await olga.open(PAGE)
    link = first.text.partition('aria-label="Pages of the list"')[2].partition('href="')[2].partition('"')[0]
    second = await olga.open(link.replace("&amp;", "&"))

    assert len(first.text.encode()) < 40 * 1024
    assert "guest-29@" in first.text
    assert "guest-04@" not in first.text
    assert "guest-04@" in second.text
    assert "guest-05@" not in second.text
    assert "30 found" in second.text


async def test_an_invitation_is_withdrawn_and_a_second_withdrawal_says_so(inviter: Inviter, olga: Visitor) -> None:
    invitation = await inviter.invite()
    form = await olga.open(PAGE)

    done = await act(olga, form, f"{PAGE}/{invitation.id}/withdraw")
    again = await act(olga, form, f"{PAGE}/{invitation.id}/withdraw")

    assert "The invitation is withdrawn." in done.text
    assert again.status == 404
    assert "There is no such pending invitation." in again.text
    assert inviter.status(invitation) == "cancelled"


async def test_an_invitation_is_sent_again_with_a_new_link(inviter: Inviter, olga: Visitor) -> None:
    invitation = await inviter.invite()
    form = await olga.open(PAGE)

    done = await act(olga, form, f"{PAGE}/{invitation.id}/send-again")
    again = await act(olga, form, f"{PAGE}/{invitation.id}/send-again")

    assert "A new invitation is sent." in done.text
    assert inviter.status(invitation) == "cancelled"
    assert inviter.world.value("SELECT count(*) FROM invitations WHERE email = %s AND status = 'pending'", GUEST) == 1
    assert again.status == 404
    assert "no longer waits for an answer" in again.text


async def test_an_expired_invitation_is_sent_again_and_not_accepted_on_behalf(inviter: Inviter, olga: Visitor) -> None:
    invitation = await inviter.invite()
    inviter.world.clock.advance(timedelta(days=8))
    await olga.sign_in(INVITER)

    page = await olga.open(PAGE)
    accepting = await olga.open(f"{PAGE}/{invitation.id}/accept")
    done = await act(olga, page, f"{PAGE}/{invitation.id}/send-again")

    assert ">Expired</span>" in page.text
    assert accepting.status == 404
    assert "A new invitation is sent." in done.text
    assert inviter.status(invitation) == "expired"


async def test_another_organization_s_invitation_is_not_found(inviter: Inviter, olga: Visitor) -> None:
    invitation = await inviter.invite()
    globex = inviter.world.organization("globex")
    inviter.world.connection.execute("UPDATE invitations SET organization_id = %s", (globex,))

    for action in ("send-again", "withdraw"):
        token = (await olga.open(PAGE)).text.partition('name="form_token" value="')[2].partition('"')[0]
        answer = await olga.post(f"{PAGE}/{invitation.id}/{action}", {"form_token": token})
        assert answer.status == 404, action
    assert inviter.status(invitation) == "pending"
    assert GUEST not in (await olga.open(PAGE)).text


async def test_an_invited_person_is_added_at_once(inviter: Inviter, olga: Visitor) -> None:
    invitation = await inviter.invite()
    page = f"{PAGE}/{invitation.id}/accept"

    listed = await olga.open(PAGE)
    form = await olga.open(page)
    done = await olga.submit(form, page)
    again = await olga.submit(form, page)

    assert f'href="{page}"' in listed.text
    assert "becomes a member at once" in form.text
    assert GUEST in form.text
    assert "The person is a member now" in done.text
    assert inviter.role_of() == "member"
    assert inviter.status(invitation) == "accepted"
    assert again.status == 404
    assert (await olga.open(page)).status == 404


async def test_a_member_who_may_not_give_a_role_does_not_accept_an_invitation_to_it(
    inviter: Inviter, visitor: Visitor
) -> None:
    await inviter.sign_in_with_role("inviters", "org.members.manage")
    invitation = await inviter.invite(role="admin")
    await visitor.sign_in("inviters@example.com")
    page = f"{PAGE}/{invitation.id}/accept"

    refused = await visitor.submit(await visitor.open(page), page)

    assert refused.status == 403
    assert "What this means" in refused.text
    assert inviter.status(invitation) == "pending"


async def test_the_list_comes_first_and_the_form_is_open_where_nothing_is_listed_or_something_was_refused(
    inviter: Inviter, olga: Visitor
) -> None:
    is_open = '<details class="creating" id="invite" open>'
    empty = (await olga.open(PAGE)).text
    await inviter.invite("ada@example.com")
    page = await olga.open(PAGE)
    filtered = (await olga.open(f"{PAGE}?search=nothing")).text
    refused = (await olga.submit(page, PAGE, emails="nonsense", role="member")).text

    assert 'id="invite-form"' in empty
    assert "<details" not in empty.partition('id="invite-form"')[0].partition("<main")[2]
    assert '<details class="creating" id="invite">' in page.text
    assert is_open not in filtered
    assert is_open in refused


async def test_the_form_includes_services_and_a_message(inviter: Inviter, olga: Visitor) -> None:
    world = inviter.world
    for slug in ("shop", "till"):
        world.service(inviter.organization_id, slug)
    refused = await olga.submit(
        await olga.open(PAGE), PAGE, emails=GUEST, role="member", services="shop", message="See evil.example"
    )
    assert refused.status == 400
    assert "A message cannot contain an address of the web" in refused.text
    assert 'value="shop" checked' in refused.text

    await olga.submit(refused, PAGE, emails=GUEST, role="member", services="shop", message="Hi <i>you</i>")
    page = await olga.open(PAGE)
    assert "with shop" in page.text
    assert "“Hi &lt;i&gt;you&lt;/i&gt;”" in page.text
    # Sent again, it includes the same.
    [(first,)] = world.rows("SELECT id FROM invitations")
    await act(olga, page, f"{PAGE}/{first}/send-again")
    assert world.rows(
        """
        SELECT i.status, i.message, s.slug
        FROM   invitations i
        JOIN   services s ON s.id = ANY (i.service_ids)
        ORDER  BY i.created_at, i.id
        """
    ) == [("cancelled", "Hi <i>you</i>", "shop"), ("pending", "Hi <i>you</i>", "shop")]


async def test_who_may_not_link_people_to_services_is_offered_none(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.service(inviter.organization_id, "shop")
    await inviter.sign_in_with_role("lesser", "org.members.manage", "services.view")
    await inviter.invite(services=["shop"])
    await visitor.sign_in("lesser@example.com")

    page = await visitor.open(PAGE)

    assert "You can only invite without applications." in page.text
    assert 'name="services"' not in page.text
    # The invitation with services is not theirs to send again, nor to accept.
    assert "/send-again" not in page.text
    assert (await visitor.submit(page, PAGE, emails="a@example.com", services="shop")).status == 403
