"""What a tenant reads of people who have confirmed nothing does not tell whether their accounts existed before.

One person had an account for a year, with a name, a proved address, a second factor and sessions; the other one is new.
An organization adds both in the same way, reads every list, record, file and page that shows people, and compares.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from tests.clock import SettableClock
from tests.world.backend import Backend
from tests.world.visitor import Visitor

OLD = "zelda.one@example.com"
NEW = "quentin.one@example.com"
YEAR = timedelta(days=365)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NONCE = re.compile(r"(nonce|form_token|value)=\"[^\"]*\"")


def normalized(text: str, user_id: str, email: str) -> str:
    """Return a text with placeholders for the person, for other ids and for the protection of forms."""
    given = email.partition("@")[0].partition(".")[0]
    text = text.replace(user_id, "USER").replace(email, "EMAIL").replace(quote(email), "EMAIL")
    text = text.replace(given.title(), "Given").replace(given, "given")
    # The first letters of the address stand in place of a picture.
    text = re.sub(r'(class="face"[^>]*>)\w+', r"\1", text)
    return _NONCE.sub("", _ID.sub("ID", text))


def of_person(answer: Any, user_id: str) -> Any:
    """Return what an answer has of one person: the items of its lists that name them, else all of it."""
    if isinstance(answer, dict):
        return {name: of_person(value, user_id) for name, value in answer.items()}
    if isinstance(answer, list):
        return [one for one in answer if user_id in str(one)]
    return answer


async def test_nothing_differs_between_an_old_account_and_a_new_one(backend: Backend, clock: SettableClock) -> None:
    world = backend.world
    old_id = world.user(OLD, has_mfa=True)
    world.connection.execute("UPDATE users SET name = 'Old Name', updated_at = updated_at WHERE id = %s", (old_id,))
    clock.advance(YEAR)
    owner = await world.signed_in_member(backend.organization_id, role="owner", email="owner@example.com")
    ids: dict[str, str] = {}
    added: list[Any] = []
    for email in (OLD, NEW):
        answer = await backend.request("POST", "/users", body={"email": email})
        assert answer.status == 200, answer.text
        ids[email] = answer.json["id"]
        added.append(normalized(answer.text, ids[email], email))
    world.connection.execute("UPDATE users SET mfa_enabled_at = created_at WHERE email = %s", (NEW,))
    world.connection.execute("UPDATE users SET updated_at = now() WHERE email = %s", (OLD,))
    for user_id in ids.values():
        world.connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at)
            VALUES (gen_random_uuid(), %s, %s, 'member', %s)
            """,
            (backend.organization_id, user_id, clock()),
        )
    assert added[0] == added[1]

    lists = ("members", "users", "users?search=one", "audit-log")
    records = ("users/{id}", "users/{id}/sign-ins", "why?email={email}")
    for path in (*lists, *records):
        seen: list[str] = []
        for email, user_id in ids.items():
            answer = await owner.get(f"/api/organizations/acme/{path.format(id=user_id, email=quote(email))}")
            assert answer.status == 200, answer.text
            shown = of_person(answer.json, user_id) if path in lists else answer.json
            seen.append(normalized(str(shown), user_id, email))
        assert seen[0] == seen[1], path
    for path in ("/users", "/users/{id}"):
        seen = []
        for email, user_id in ids.items():
            answer = await backend.request("GET", path.format(id=user_id))
            assert answer.status == 200, answer.text
            seen.append(normalized(str(of_person(answer.json, user_id)), user_id, email))
        assert seen[0] == seen[1], path
    for email, user_id in ids.items():
        events = [data for _, _, data in world.events("user.signup.success") if data["user_id"] == user_id]
        assert len(events) == 1, email

    browser = Visitor(world.client)
    await browser.sign_in("owner@example.com")
    for path in (
        "people",
        "people/{id}",
        "people/members.csv",
        "people/end-users",
        "people/end-users/{id}",
        "people/end-users/end-users.csv",
        "why?email={email}",
    ):
        pages: list[list[str]] = []
        for email, user_id in ids.items():
            page = await browser.open(f"/app/organizations/acme/{path.format(id=user_id, email=quote(email))}")
            assert page.status == 200, path
            text = normalized(page.text, user_id, email)
            is_list = "{" not in path
            pages.append([line for line in text.splitlines() if not is_list or "EMAIL" in line or "USER" in line])
        assert pages[0], path
        assert pages[0] == pages[1], path
