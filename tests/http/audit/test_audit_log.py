"""Reading the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from adapters.postgres.database import PostgresDatabase
from core.audit import audit_log
from core.events.actions import AuditAction
from core.events.events import EventType
from tests.application import Answer
from tests.statements import recorded_statements
from tests.world.builder import EMAIL, new_id
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

PATH = "/api/organizations/acme/audit-log"
TARGET = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
OTHER = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd33")


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization."""
    return world.organization()


@pytest.fixture
async def ada(world: World, acme: UUID) -> Tokens:
    """The owner of the organization, signed in."""
    world.member(acme, world.user(), "owner")
    return await world.sign_in()


def write(
    world: World,
    organization_id: UUID,
    action: AuditAction = AuditAction.SERVICE_UPDATED,
    target_id: UUID = TARGET,
    *,
    actor: UUID | None = None,
    details: dict[str, Any] | None = None,
    times: int = 1,
) -> list[str]:
    """Insert entries; return their ids, newest first."""
    entry_ids: list[str] = []
    for _ in range(times):
        entry_id = new_id()
        world.connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                                       user_agent, success, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, '192.0.2.7', 'curl/8.5.0', true, %s, %s)
            """,
            (
                entry_id,
                organization_id,
                actor,
                action.value,
                action.target_type,
                str(target_id),
                Jsonb(details or {}),
                world.clock(),
            ),
        )
        entry_ids.insert(0, str(entry_id))
    return entry_ids


async def read(world: World, ada: Tokens, query: str = "") -> Answer:
    return await world.client.get(PATH + query, token=ada.access_token)


async def count(world: World, database: PostgresDatabase, *, expected: int) -> None:
    """Count the entries in advance, at a time when they have settled; their ids carry the real time."""
    now = world.clock.now
    world.clock.now = datetime.now(UTC) + 2 * audit_log.SETTLES_AFTER
    assert await database.transact(audit_log.count_next, 100) == expected
    world.clock.now = now


def ids(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.text
    return [entry["id"] for entry in answer.json["logs"]]


class TestEntries:
    """What an entry shows."""

    async def test_an_entry_has_the_documented_fields(self, world: World, ada: Tokens, acme: UUID) -> None:
        ada_id = world.value("SELECT id FROM users")
        [entry_id] = write(world, acme, actor=ada_id, details={"service_slug": "shop"})

        answer = await read(world, ada)

        assert answer.json == {
            "logs": [
                {
                    "id": entry_id,
                    "org_id": str(acme),
                    "actor": {"id": str(ada_id), "email": EMAIL, "is_platform_owner": False},
                    "action": "service.updated",
                    "target_type": "service",
                    "target_id": str(TARGET),
                    "ip_address": "192.0.2.7",
                    "user_agent": "curl/8.5.0",
                    "success": True,
                    "details": {"service_slug": "shop"},
                    "created_at": "2026-02-03T04:05:06Z",
                }
            ],
            "pagination": {
                "page": 1,
                "limit": 50,
                "total": 1,
                "total_pages": 1,
                "has_next": False,
                "has_prev": False,
            },
        }

    async def test_the_entry_of_a_change_is_listed(self, world: World, ada: Tokens, acme: UUID) -> None:
        body = {"current_password": "correct horse battery", "new_password": "another horse battery"}
        changed = await world.client.post("/api/user/change-password", token=ada.access_token, body=body)
        assert changed.status == 200, changed.text

        [entry] = (await read(world, ada)).json["logs"]

        assert (entry["action"], entry["target_type"]) == ("security.password.changed", "user")
        assert entry["target_id"] == entry["actor"]["id"] == str(world.value("SELECT id FROM users"))

    async def test_a_platform_owner_is_shown_as_one(self, world: World, ada: Tokens, acme: UUID) -> None:
        write(world, acme, actor=world.user("root@example.com", is_platform_owner=True))

        [entry] = (await read(world, ada)).json["logs"]

        assert entry["actor"]["is_platform_owner"] is True

    async def test_a_deleted_actor_is_shown_by_id(self, world: World, ada: Tokens, acme: UUID) -> None:
        write(world, acme, actor=OTHER)

        [entry] = (await read(world, ada)).json["logs"]

        assert entry["actor"] == {"id": str(OTHER), "email": "deleted-user@unknown", "is_platform_owner": False}

    async def test_background_work_is_shown_as_done_by_the_system_without_an_address(
        self, world: World, ada: Tokens, acme: UUID, database: PostgresDatabase
    ) -> None:
        await database.transact(lambda uow: uow.audit(AuditAction.INVITATION_EXPIRED, TARGET, organization_id=acme))

        [entry] = (await read(world, ada)).json["logs"]

        assert entry["actor"] == {"id": "system", "email": "system@unknown", "is_platform_owner": False}
        assert (entry["ip_address"], entry["user_agent"]) == (None, None)

    async def test_what_a_setup_link_did_names_the_link(
        self, world: World, ada: Tokens, acme: UUID, database: PostgresDatabase
    ) -> None:
        action = AuditAction.UPSTREAM_CONNECTION_UPDATED
        link_id = str(OTHER)
        await database.transact(lambda uow: uow.audit(action, acme, organization_id=acme, setup_link_id=link_id))

        [entry] = (await read(world, ada)).json["logs"]

        assert entry["actor"] == {"id": f"setup_link:{OTHER}", "email": "", "is_platform_owner": False}
        assert (entry["action"], entry["details"]) == ("upstream_connection.updated", {"setup_link_id": link_id})


class TestPages:
    """Pages by number, newest first."""

    async def test_the_newest_entries_come_first(self, world: World, ada: Tokens, acme: UUID) -> None:
        entry_ids = write(world, acme, times=5)

        assert ids(await read(world, ada)) == entry_ids

    async def test_pages_are_consecutive_and_report_their_neighbours(
        self, world: World, ada: Tokens, acme: UUID
    ) -> None:
        entry_ids = write(world, acme, times=5)

        pages = [await read(world, ada, f"?limit=2&page={page}") for page in (1, 2, 3)]

        assert [ids(page) for page in pages] == [entry_ids[:2], entry_ids[2:4], entry_ids[4:]]
        assert [page.json["pagination"] for page in pages] == [
            {"page": 1, "limit": 2, "total": 5, "total_pages": 3, "has_next": True, "has_prev": False},
            {"page": 2, "limit": 2, "total": 5, "total_pages": 3, "has_next": True, "has_prev": True},
            {"page": 3, "limit": 2, "total": 5, "total_pages": 3, "has_next": False, "has_prev": True},
        ]

    async def test_an_empty_log_has_no_pages(self, world: World, ada: Tokens) -> None:
        answer = await read(world, ada)

        assert ids(answer) == []
        assert answer.json["pagination"] == {
            "page": 1,
            "limit": 50,
            "total": 0,
            "total_pages": 0,
            "has_next": False,
            "has_prev": False,
        }

    async def test_a_page_after_the_last_one_is_empty(
        self, world: World, ada: Tokens, acme: UUID, subtests: pytest.Subtests
    ) -> None:
        write(world, acme, times=3)

        for page in ("4", "1000000000", "9" * 40):
            with subtests.test(page=page):
                answer = await read(world, ada, f"?limit=1&page={page}")

                assert ids(answer) == []
                assert (answer.json["pagination"]["total"], answer.json["pagination"]["has_next"]) == (3, False)

    async def test_a_page_has_at_most_a_hundred_entries(self, world: World, ada: Tokens, acme: UUID) -> None:
        write(world, acme, times=101)

        answer = await read(world, ada, "?limit=1000")

        assert (len(ids(answer)), answer.json["pagination"]["limit"]) == (100, 100)

    async def test_an_invalid_page_or_limit_is_refused(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        for query in ("?page=0", "?limit=0", "?page=-1", "?limit=x"):
            with subtests.test(query=query):
                assert_refused(await read(world, ada, query), 400, "BAD_REQUEST")

    async def test_entries_counted_in_advance_are_counted_once(
        self, world: World, ada: Tokens, acme: UUID, database: PostgresDatabase
    ) -> None:
        write(world, acme, times=3)
        write(world, acme, AuditAction.PLAN_CREATED)
        await count(world, database, expected=4)
        write(world, acme, times=2)

        answers = [
            await read(world, ada, query)
            for query in ("", "?action=service.updated", "?target_type=plan", "?action=plan.deleted")
        ]

        assert [answer.json["pagination"]["total"] for answer in answers] == [6, 5, 1, 0]
        assert [len(ids(answer)) for answer in answers] == [6, 5, 1, 0]

    async def test_a_page_takes_two_statements(self, world: World, ada: Tokens, acme: UUID) -> None:
        write(world, acme, times=3)

        with recorded_statements() as statements:
            await read(world, ada)

        assert [statement.split()[0] for statement in statements] == ["SELECT", "WITH"]


class TestFilters:
    """By action, by type of target, by target."""

    @pytest.fixture
    def names_by_id(self, world: World, acme: UUID) -> dict[str, str]:
        """Entries of several kinds: the name of each, by its id."""
        kinds = {
            "created": (AuditAction.SERVICE_CREATED, TARGET),
            "updated": (AuditAction.SERVICE_UPDATED, TARGET),
            "updated other": (AuditAction.SERVICE_UPDATED, OTHER),
            "plan": (AuditAction.PLAN_CREATED, TARGET),
        }
        return {write(world, acme, action, target)[0]: name for name, (action, target) in kinds.items()}

    async def test_filters_select_entries_and_combine(
        self, world: World, ada: Tokens, names_by_id: dict[str, str], subtests: pytest.Subtests
    ) -> None:
        for query, expected in (
            ("", ["plan", "updated other", "updated", "created"]),
            ("?action=service.updated", ["updated other", "updated"]),
            ("?target_type=service", ["updated other", "updated", "created"]),
            ("?target_type=plan", ["plan"]),
            (f"?target_type=service&target_id={TARGET}", ["updated", "created"]),
            (f"?target_type=plan&target_id={TARGET}", ["plan"]),
            (f"?target_type=service&target_id={TARGET}&action=service.created", ["created"]),
            ("?target_type=service&target_id=no-such-thing", []),
            ("?target_type=service&action=service.created", ["created"]),
            ("?target_type=plan&action=service.created", []),
            (f"?target_type=plan&target_id={TARGET}&action=service.created", []),
            ("?action=plan.deleted", []),
            ("?target_type=branding", []),
            ("?success=true&order=x", ["plan", "updated other", "updated", "created"]),
        ):
            with subtests.test(query=query, expected=expected):
                answer = await read(world, ada, query)

                assert [names_by_id[entry_id] for entry_id in ids(answer)] == expected
                assert answer.json["pagination"]["total"] == len(expected)

    @pytest.mark.parametrize("query", [f"?target_id={TARGET}", f"?target_id={TARGET}&action=service.created"])
    async def test_a_target_id_requires_its_type(self, world: World, ada: Tokens, query: str) -> None:
        answer = await read(world, ada, query)

        assert_refused(answer, 400, "BAD_REQUEST")
        assert [detail["field"] for detail in answer.json["details"]] == ["target_type"]

    async def test_an_unknown_filter_value_is_refused(
        self, world: World, ada: Tokens, subtests: pytest.Subtests
    ) -> None:
        for query, field in (
            ("?action=service.exploded", "action"),
            ("?action=", "action"),
            ("?action=user.login.success", "action"),
            ("?target_type=tenant", "target_type"),
        ):
            with subtests.test(query=query, field=field):
                answer = await read(world, ada, query)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert [detail["field"] for detail in answer.json["details"]] == [field]


class TestTenancy:
    """Who may read the log of an organization."""

    async def test_the_log_of_another_organization_is_not_readable(self, world: World, ada: Tokens, acme: UUID) -> None:
        bolt = world.organization("bolt")
        write(world, bolt)
        write(world, bolt, AuditAction.PLAN_CREATED)

        for query in ("", "?action=service.updated", "?target_type=plan", f"?target_type=service&target_id={TARGET}"):
            answer = await read(world, ada, query)
            assert (ids(answer), answer.json["pagination"]["total"]) == ([], 0)
        answer = await world.client.get("/api/organizations/bolt/audit-log", token=ada.access_token)
        assert_refused(answer, 403, "FORBIDDEN")

    @pytest.mark.parametrize("path", [PATH, f"{PATH}/event-types"])
    async def test_an_auditor_can_read_the_log_and_a_plain_member_cannot(
        self, world: World, acme: UUID, path: str
    ) -> None:
        world.custom_role(acme, "auditor", "audit_logs.view")
        world.member(acme, world.user("member@example.com"))
        world.member(acme, world.user("auditor@example.com"), "auditor")

        answers = [
            await world.client.get(path, token=(await world.sign_in(email)).access_token)
            for email in ("member@example.com", "auditor@example.com")
        ]

        assert [answer.status for answer in answers] == [403, 200]


class TestEventTypes:
    """The vocabulary of the log."""

    async def test_every_action_is_listed_with_a_label_and_a_description(self, world: World, ada: Tokens) -> None:
        answer = await world.client.get(f"{PATH}/event-types", token=ada.access_token)

        assert answer.status == 200
        assert [row["value"] for row in answer.json] == [action.value for action in AuditAction]
        assert answer.json[0] == {
            "value": "user.invited",
            "label": "User invited",
            "category": "User management",
            "description": "Someone was invited to the organization.",
        }
        assert all(row["label"] == EventType(row["value"]).label for row in answer.json)
