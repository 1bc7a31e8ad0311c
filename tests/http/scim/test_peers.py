"""Clients of SCIM 2.0 by others work with a running server: scim2-tester and scim2-cli."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.peers import peer
from tests.processes import Service, Services, services
from tests.world.builder import Builder
from tests.world.directory import TOKEN, insert_scim_token
from tests.world.fixtures import builder

__all__ = ["builder", "services"]

pytestmark = pytest.mark.long

CHECKS_MIN = 45


@pytest.fixture
def service(services: Services, builder: Builder) -> Service:
    """A server with an organization that has an owner and a SCIM token."""
    organization_id = builder.organization()
    builder.connection.execute("UPDATE organizations SET max_users = 1000")
    builder.member(organization_id, builder.user("owner@example.com"), "owner")
    insert_scim_token(builder, organization_id, TOKEN)
    return services.ready(DEV="on")


def url(service: Service) -> str:
    return f"http://127.0.0.1:{service.port}/scim/v2"


def test_the_tester_finds_no_error_apart_from_groups_that_cannot_be_created(service: Service, tmp_path: Path) -> None:
    tester = peer("scim2")

    done = tester.run(
        "python",
        str(tester.files / "check_server.py"),
        folder=tmp_path,
        environment={"SCIM_URL": url(service), "SCIM_TOKEN": TOKEN},
    )

    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) > CHECKS_MIN
    bad = [result for result in results if result["status"] not in {"SUCCESS", "SKIPPED"}]
    # A group is an organization, so SCIM cannot create one (501), and each of these checks begins by creating one.
    assert [result for result in bad if "finds the organization as one group" not in result["reason"]] == []
    assert {result["type"] for result in bad} == {"Group"}
    skipped = {result["check"] for result in results if result["status"] == "SKIPPED"}
    assert skipped <= {"search_with_attributes"}


def test_the_tester_finds_no_error_at_a_token_that_manages_groups(
    service: Service, builder: Builder, tmp_path: Path
) -> None:
    builder.connection.execute("UPDATE scim_tokens SET groups = 'directory'")
    tester = peer("scim2")

    done = tester.run(
        "python",
        str(tester.files / "check_server.py"),
        folder=tmp_path,
        environment={"SCIM_URL": url(service), "SCIM_TOKEN": TOKEN},
    )

    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) > CHECKS_MIN
    assert [result for result in results if result["status"] not in {"SUCCESS", "SKIPPED"}] == []
    assert "Group" in {result["type"] for result in results if result["status"] == "SUCCESS"}
    skipped = {result["check"] for result in results if result["status"] == "SKIPPED"}
    assert skipped <= {"search_with_attributes"}


def test_the_command_line_creates_and_deletes_a_group(service: Service, builder: Builder, tmp_path: Path) -> None:
    builder.connection.execute("UPDATE scim_tokens SET groups = 'directory'")
    member = builder.user("ada@example.com")
    builder.member(builder.value("SELECT id FROM organizations"), member)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"SCIM_CLI_URL": url(service), "SCIM_CLI_HEADERS": f"Authorization: Bearer {TOKEN}"}
        return peer("scim2").run("scim", *arguments, folder=tmp_path, environment=environment)

    def answer(*arguments: str) -> Any:
        done = run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    members = json.dumps([{"value": str(member)}])
    created = answer("create", "group", "--display-name", "Sales", "--members", members)
    found = answer("query", "group", "--filter", 'displayName eq "sales"')
    deleted = run("delete", "group", created["id"])

    assert [one["value"] for one in created["members"]] == [str(member)]
    assert [one["id"] for one in found["Resources"]] == [created["id"]]
    assert deleted.returncode == 0, deleted.stderr


def test_the_command_line_creates_reads_changes_and_deletes_a_user(service: Service, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"SCIM_CLI_URL": url(service), "SCIM_CLI_HEADERS": f"Authorization: Bearer {TOKEN}"}
        return peer("scim2").run("scim", *arguments, folder=tmp_path, environment=environment)

    def answer(*arguments: str) -> Any:
        done = run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    created = answer(
        *("create", "user", "--user-name", "ada@example.com", "--active", "true"),
        *("--emails", '[{"value": "ada@example.com", "type": "work", "primary": true}]'),
    )
    found = answer("query", "user", "--filter", 'userName eq "ADA@example.com"')
    shown = answer("query", "user", created["id"], "--attribute", "userName")
    replaced = answer(
        *("replace", "user", "--id", created["id"], "--user-name", "ada@example.com", "--display-name", "Ada"),
        *("--active", "false", "--emails", '[{"value": "ada@example.com"}]'),
    )
    deleted = run("delete", "user", created["id"])
    gone = run("query", "user", created["id"])

    assert [user["id"] for user in found["Resources"]] == [created["id"]]
    assert shown["userName"] == "ada@example.com"
    assert (replaced["displayName"], replaced["active"]) == ("Ada", False)
    assert deleted.returncode == 0, deleted.stderr
    assert "404" in gone.stdout + gone.stderr
