"""Metadata of organizations, of customers and of users of services."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from core.services.api_keys import Permission
from tests.concurrency import at_once, statuses_of
from tests.http.privacy.anonymizing import anonymize
from tests.shown_text import shows
from tests.world.backend import Backend, insert_backend
from tests.world.builder import EMAIL, NO_ID
from tests.world.customer_backend import CustomerBackend, insert_customer_backend
from tests.world.platform import Platform
from tests.world.team import Team
from tests.world.world import World, assert_refused

NOTED = {"plan": "gold", "seats": 5, "ratio": 0.5, "beta": True, "tags": ["a", "b"], "emoji": "\N{GRINNING FACE}"}
VALUE = "not-in-any-log"


@pytest.fixture
def backend(world: World) -> Backend:
    """The backend of a service."""
    return insert_backend(world)


@pytest.fixture
def customers(world: World) -> CustomerBackend:
    """The backend of a service with customers."""
    return insert_customer_backend(world)


async def _note(backend: Backend, user_id: UUID, names: Any) -> Any:
    answer = await backend.request("PATCH", f"/users/{user_id}", body={"metadata": names})
    assert answer.status == 200, answer.text
    return answer.json["metadata"]


async def test_a_service_notes_about_its_user_by_name(backend: Backend) -> None:
    user_id = backend.user(EMAIL)
    assert (await backend.request("GET", f"/users/{user_id}")).json["metadata"] == {}

    assert await _note(backend, user_id, NOTED) == NOTED
    changed = await _note(backend, user_id, {"plan": None, "seats": 6})
    assert changed == {name: value for name, value in {**NOTED, "seats": 6}.items() if name != "plan"}
    shown = (await backend.request("GET", f"/users/{user_id}")).json["metadata"]
    assert shown == changed
    [listed] = (await backend.request("GET", "/users")).json["users"]
    assert listed["metadata"] == shown
    assert (await backend.request("POST", "/users", body={"email": EMAIL})).json["metadata"] == shown
    assert await _note(backend, user_id, None) == {}


async def test_what_is_recorded_are_names(backend: Backend, world: World) -> None:
    user_id = backend.user(EMAIL)
    await _note(backend, user_id, {"secret": VALUE, "old": 1})
    await _note(backend, user_id, {"secret": VALUE, "old": None})
    await _note(backend, user_id, {"secret": VALUE})

    changes = [{"set": ["old", "secret"], "removed": []}, {"set": [], "removed": ["old"]}]
    assert [details["metadata"] for *_, details in world.audit_entries("user.updated")] == changes
    events = [data for *_, data in world.events("user.updated")]
    assert [data["metadata"] for data in events] == changes
    assert [data["user_id"] for data in events] == [str(user_id)] * 2
    assert not shows(str(world.rows("SELECT details FROM audit_entries")), VALUE)
    assert not shows(str(events), VALUE)


async def test_another_service_neither_reads_nor_changes_it(backend: Backend, world: World) -> None:
    user_id = backend.user(EMAIL)
    await _note(backend, user_id, NOTED)
    other = insert_backend(world, "globex", "other", key=f"sk_xyz789_{'o' * 43}")

    for method, body in (("GET", None), ("PATCH", {"metadata": {"plan": "mine"}})):
        assert_refused(await other.request(method, f"/users/{user_id}", body=body), 404, "NOT_FOUND")
    world.link(other.organization_id, other.service_id, user_id)
    assert (await other.request("GET", f"/users/{user_id}")).json["metadata"] == {}
    assert await _note(other, user_id, {"plan": "mine"}) == {"plan": "mine"}
    assert (await backend.request("GET", f"/users/{user_id}")).json["metadata"] == NOTED


async def test_it_ends_with_the_last_link_and_a_new_link_begins_empty(backend: Backend, world: World) -> None:
    user_id = backend.user(EMAIL)
    await _note(backend, user_id, NOTED)

    await backend.request("DELETE", f"/users/{user_id}")

    assert world.rows("SELECT * FROM service_user_metadata") == []
    assert (await backend.request("POST", "/users", body={"email": EMAIL})).json["metadata"] == {}


async def test_a_key_without_the_permission_notes_nothing(backend: Backend, world: World) -> None:
    user_id = backend.user(EMAIL)
    world.connection.execute("UPDATE api_keys SET permissions = %s", ([Permission.READ_USERS.value],))

    answer = await backend.request("PATCH", f"/users/{user_id}", body={"metadata": NOTED})

    assert answer.status == 403


@pytest.mark.parametrize(
    "names",
    [
        {"nul\0": 1},
        {"a": "\0"},
        {"a": {"b": 1}},
        {"a": 1e300},
        {"a": 2**70},
        {"a": "\N{GRINNING FACE}" * 1024},
        {"pl\u0430n": "look-alike"},
        {f"n{number}": 1 for number in range(51)},
        [],
        "text",
    ],
)
async def test_what_cannot_be_is_refused_by_its_name(backend: Backend, names: Any) -> None:
    user_id = backend.user(EMAIL)

    answer = await backend.request("PATCH", f"/users/{user_id}", body={"metadata": names})

    assert answer.status == 400, answer.text
    assert answer.json["details"][0]["field"].startswith("metadata")


async def test_two_changes_at_once_keep_both(backend: Backend) -> None:
    user_id = backend.user(EMAIL)

    path = f"/users/{user_id}"
    answers = await at_once(
        *(partial(backend.request, "PATCH", path, body={"metadata": {name: 1}}) for name in ("one", "two"))
    )

    assert statuses_of(answers) == [200, 200]

    assert (await backend.request("GET", f"/users/{user_id}")).json["metadata"] == {"one": 1, "two": 1}


async def test_a_member_who_manages_end_users_notes_the_same(backend: Backend, world: World) -> None:
    user_id, team = backend.user(EMAIL), Team(world, backend.organization_id, "acme")
    team.add("owner", "owner")
    team.add("member", "member")
    path = f"/services/shop/users/{user_id}"

    answer = await team.request("owner", "PATCH", path, body={"metadata": NOTED})

    assert (answer.status, answer.json["metadata"]) == (200, NOTED), answer.text
    shown = await team.request("owner", "GET", f"/users/{user_id}")
    assert shown.json["services"][0]["metadata"] == NOTED
    assert_refused(await team.request("member", "PATCH", path, body={"metadata": {}}), 403, "FORBIDDEN")
    assert (await team.request("owner", "PATCH", path, body={})).json["metadata"] == NOTED
    unknown = await team.request("owner", "PATCH", f"/services/shop/users/{NO_ID}", body={"metadata": {}})
    assert_refused(unknown, 404, "NOT_FOUND")


async def test_an_organization_notes_about_itself(team: Team) -> None:
    answer = await team.request("owner", "PATCH", "", body={"metadata": {"crm": VALUE, "n": 1}})

    assert answer.json["organization"]["metadata"] == {"crm": VALUE, "n": 1}
    assert (await team.request("member", "GET", "")).json["organization"]["metadata"] == {"crm": VALUE, "n": 1}
    assert_refused(await team.request("member", "PATCH", "", body={"metadata": {}}), 403, "FORBIDDEN")
    renamed = await team.request("owner", "PATCH", "", body={"name": "Acme Two"})
    assert renamed.json["organization"]["metadata"] == {"crm": VALUE, "n": 1}
    assert (await team.request("owner", "PATCH", "", body={"metadata": {"n": None}})).status == 200
    [first, second, third] = team.world.audit_entries("organization.updated")
    assert [details.get("metadata") for *_, details in (first, second, third)] == [
        {"set": ["crm", "n"], "removed": []},
        None,
        {"set": [], "removed": ["n"]},
    ]
    assert not shows(str(team.world.rows("SELECT details FROM audit_entries")), VALUE)


async def test_a_value_of_another_type_is_another_value(team: Team) -> None:
    for value in (1, True, 1.0, 1):
        await team.request("owner", "PATCH", "", body={"metadata": {"n": value}})
        [stored] = team.world.rows("SELECT metadata ->> 'n' FROM organizations")
        assert stored == (str(value).lower(),)


async def test_a_vendor_notes_about_a_customer_who_is_not_told(customers: CustomerBackend, world: World) -> None:
    customer_id = await customers.trade.begin()
    path = f"/customers/{customer_id}"

    changed = await customers.backend.request("PATCH", path, body={"metadata": {"tier": VALUE}})

    assert changed.json["metadata"] == {"tier": VALUE}
    assert (await customers.trade.at_vendor("GET", f"/{customer_id}")).json["metadata"] == {"tier": VALUE}
    [listed] = (await customers.backend.request("GET", "/customers")).json["customers"]
    assert listed["metadata"] == {"tier": VALUE}
    [event] = [data for *_, data in world.events("customer.changed")]
    assert event["metadata"] == {"set": ["tier"], "removed": []}
    seen = await customers.trade.at_customer("GET")
    assert not shows(seen.text, VALUE)
    assert "metadata" not in seen.json
    of_customer = world.rows(
        "SELECT action FROM audit_entries WHERE organization_id = %s", customers.trade.customer.organization_id
    )
    assert ("customer.changed",) not in of_customer
    taken = await customers.trade.at_vendor("PATCH", f"/{customer_id}", body={"metadata": None})
    assert taken.json["metadata"] == {}


async def test_people_of_customers_have_one_for_person_and_service(customers: CustomerBackend, world: World) -> None:
    customer_id = await customers.trade.begin()
    worker = customers.trade.customer.ids["worker"]
    refused = await customers.backend.request("PATCH", f"/users/{worker}", body={"metadata": NOTED})
    assert_refused(refused, 404, "NOT_FOUND")
    await customers.sign_in("worker")

    assert await _note(customers.backend, worker, NOTED) == NOTED

    assert (await customers.backend.request("GET", f"/users/{worker}")).json["metadata"] == NOTED
    [person] = (await customers.people(customer_id)).json["users"]
    assert person["metadata"] == NOTED
    # A link beside it, and its end, leave what is noted.
    backend = customers.backend
    world.link(backend.organization_id, backend.service_id, worker)
    await backend.request("DELETE", f"/users/{worker}")
    assert (await backend.request("GET", f"/users/{worker}")).json["metadata"] == NOTED
    # With the last way to the service it is gone.
    await customers.trade.at_vendor("DELETE", f"/{customer_id}")
    assert world.rows("SELECT * FROM service_user_metadata") == []


async def test_it_is_exported_and_forgotten_with_every_mention_of_the_address(
    backend: Backend, platform: Platform, world: World
) -> None:
    user_id, other = backend.user(EMAIL), backend.user("grace@example.com")
    await _note(backend, user_id, {"note": "first"})
    await _note(backend, other, {"manager": EMAIL, "also": ["x", f"<{EMAIL}>"]})
    world.connection.execute('UPDATE organizations SET metadata = \'{"contact": "ada@example.com"}\'')
    user = await world.sign_in_as(user_id, EMAIL)

    exported = await world.client.get(f"/api/privacy/export/{user_id}", token=user.tokens.access_token)

    assert exported.status == 200, exported.text
    assert exported.json["service_metadata"] == [
        {
            "organization_id": str(backend.organization_id),
            "organization_slug": "acme",
            "service_slug": "shop",
            "metadata": {"note": "first"},
        }
    ]

    assert (await anonymize(platform, user_id)).status == 200
    assert world.rows("SELECT user_id FROM service_user_metadata") == [(other,)]
    noted = (await backend.request("GET", f"/users/{other}")).json["metadata"]
    assert not shows(str(noted), EMAIL)
    assert noted["also"][1].startswith("<anonymized-")
    assert world.value("SELECT metadata ->> 'contact' FROM organizations").startswith("anonymized-")
