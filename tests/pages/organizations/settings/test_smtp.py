"""The pages of the mail server of an organization."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.application import Answer
from tests.mail_server import PostOffice
from tests.secret_watch import WATCH
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/mail"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"
SERVER = {"host": "127.0.0.1", "port": "587", "tls": "none", "from_name": "Acme", "from_email": "post@acme.example"}
LOGIN = {**SERVER, "tls": "starttls", "username": "acme", "password": "of the mail server"}


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("cid", "member")
    WATCH.add(LOGIN["password"])
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def saved(ann: Visitor, **fields: str) -> Answer:
    """Fill in the form of the mail server, and send it."""
    return await ann.submit(await ann.open(PAGE), PAGE, filled={**SERVER, **fields})


async def test_the_server_is_set_and_a_test_shows_its_own_words(ann: Visitor, office: PostOffice) -> None:
    before = await ann.open(PAGE)

    page = await saved(ann, port=str(office.port))
    tested = await ann.submit(page, f"{PAGE}/test", to="ann@example.com")
    office.answers["RCPT"] = "550 <b>no</b> such box"
    refused = await ann.submit(tested, f"{PAGE}/test", to="bob@example.com")
    later = await ann.open(PAGE)
    saved_again = await saved(ann, port=str(office.port), from_name="Acme Inc.")

    assert "No mail server of your own is set." in before.text
    assert f"{PAGE}/removal" not in before.text
    assert "The mail server is saved." in page.text
    assert "Not tried yet" in page.text
    assert (tested.status, refused.status) == (200, 200)
    assert "The mail server took the test mail." in tested.text
    assert "The mail server answered: 250 " in tested.text
    assert "The mail server did not take the test mail." in refused.text
    assert "The mail server answered: 550 &lt;b&gt;no&lt;/b&gt; such box" in refused.text
    assert 'value="bob@example.com"' in refused.text
    assert "Last test" not in page.text
    assert "The last test failed" not in tested.text
    for failed in (refused, later):
        assert "The last test failed" in failed.text
        assert "Answer to the test" in failed.text
    assert "The mail server answered: 550 &lt;b&gt;no&lt;/b&gt; such box" in later.text
    assert "Last test" not in saved_again.text
    assert [one.recipients for one in office.received] == [("ann@example.com",)]


async def test_a_password_is_kept_for_the_same_server_and_never_shown(acme: Team, ann: Visitor) -> None:
    await saved(ann, **LOGIN)

    page = await ann.open(PAGE)
    kept = await saved(ann, **(LOGIN | {"password": "", "from_name": "Acme & Sons"}))
    other = await saved(ann, **(LOGIN | {"password": "", "host": "mail.example.com"}))

    assert "A password is stored." in page.text
    assert LOGIN["password"] not in page.text
    assert "The mail server is saved." in kept.text
    assert other.status == 400
    assert "the server or the login has changed" in other.text
    assert 'value="mail.example.com"' in other.text
    assert acme.world.value("SELECT host FROM mail_servers") == "127.0.0.1"


async def test_all_wrong_fields_are_marked_and_what_was_typed_stays_without_the_password(ann: Visitor) -> None:
    refused = await saved(
        ann, **(LOGIN | {"host": "", "port": "x" * 5000, "from_name": HOSTILE, "from_email": "acme", "tls": "tls"})
    )
    odd = await saved(ann, tls="rot13")

    assert refused.status == 400
    assert refused.text.count('aria-invalid="true"') == 3
    assert "A port is a number from 1 to 65535." in refused.text
    assert HOSTILE not in refused.text
    assert "&lt;b onclick" in refused.text
    assert LOGIN["password"] not in refused.text
    assert "Choose one of these kinds of encryption." in odd.text


async def test_an_odd_port_is_refused_at_its_field(ann: Visitor) -> None:
    for port in ("0", "65536", "99999", "-1", "²", "9" * 5000):
        assert "A port is a number from 1 to 65535." in (await saved(ann, port=port)).text, port


async def test_a_server_that_another_person_has_changed_meanwhile_is_not_overwritten(acme: Team, ann: Visitor) -> None:
    form = await ann.open(PAGE)
    await saved(ann, from_name="Of the other")

    refused = await ann.submit(form, PAGE, filled=SERVER | {"from_name": "Mine"})
    again = await ann.submit(refused, PAGE)

    assert refused.status == 409
    assert "Another person has changed the mail server meanwhile." in refused.text
    assert 'value="Mine"' in refused.text
    assert "The mail server is saved." in again.text
    assert acme.world.value("SELECT from_name FROM mail_servers") == "Mine"


async def test_removing_it_says_what_happens_in_numbers(acme: Team, ann: Visitor) -> None:
    await saved(ann, **LOGIN)
    acme.world.connection.execute(
        "UPDATE mail_servers SET failures = 3, failing_since = now(), last_error = %s",
        ("The mail server did not answer in time.",),
    )

    failing = await ann.open(PAGE)
    asked = await ann.open(f"{PAGE}/removal")
    acme.world.clock.advance(timedelta(minutes=1))
    await saved(ann, **(LOGIN | {"from_name": "Of the other"}))
    refused = await ann.submit(asked, f"{PAGE}/removal")
    removed = await ann.submit(await ann.open(f"{PAGE}/removal"), f"{PAGE}/removal")
    gone = await ann.submit(asked, f"{PAGE}/removal")

    assert "Failing since" in failing.text
    assert "The mail server did not answer in time." in failing.text
    assert "No mail waits for it." in asked.text
    assert "The stored password is deleted." in asked.text
    assert refused.status == 409
    assert "The mail server is removed." in removed.text
    assert gone.status == 404
    assert acme.world.value("SELECT count(*) FROM mail_servers") == 0
    assert (await ann.open(f"{PAGE}/removal")).status == 404


async def test_a_test_without_a_server_or_to_no_address_is_refused_on_the_page(ann: Visitor) -> None:
    page = await saved(ann)
    nowhere = await ann.submit(page, f"{PAGE}/test", to="nowhere")
    await ann.submit(await ann.open(f"{PAGE}/removal"), f"{PAGE}/removal")

    unset = await ann.submit(page, f"{PAGE}/test", to="ann@example.com")

    assert nowhere.status == 400
    assert 'value="nowhere"' in nowhere.text
    assert unset.status == 404
    assert "has no mail server of its own" in unset.text


async def test_a_member_finds_it_closed(acme: Team, visitor: Visitor) -> None:
    await visitor.sign_in("cid@example.com")

    answers: list[Any] = [await visitor.open(path) for path in (PAGE, f"{PAGE}/removal")]

    assert [answer.status for answer in answers] == [403, 403]
    overview = await visitor.open("/app/organizations/acme")
    assert f'href="{PAGE}"' not in overview.text
    assert "Mail server" in overview.text
