"""The manual: its pages are found and lead on, its commands work as pasted, and its tables agree with the code."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.crypto import password_schemes
from core.accounts import user_import
from entrypoints import settings
from entrypoints.operator import cli
from entrypoints.settings_file import SETTINGS_FILE
from tests.documents import DOCUMENTS, MANUAL, PAGES, README, ROOT, RUNBOOKS, anchors, block, links, prose
from tests.processes import Services, services, without_progress

__all__ = ["services"]

SETTINGS = MANUAL / "settings.md"
BEGIN = "<!-- settings: begin; written by tests/test_manual.py, which fails when this table and the code differ -->"
END = "<!-- settings: end -->"
TOUR_SECONDS_MAX = 180.0
ADDRESS = "http://localhost:8000"
SOURCES = ("core", "ports", "adapters", "actors", "entrypoints", "tests", "ops")


def table() -> str:
    rows = settings.rows(settings.Settings())
    lines = ["| Setting | Takes | Default | |", "|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.takes} | {f'`{row.default}`' if row.default else ''} | {row.sentence} |" for row in rows
    ]
    return "\n".join(lines)


def is_broken(document: Path, link: str) -> bool:
    """Return whether a link leads to no file, or to no section of a file."""
    path, _, anchor = link.partition("#")
    target = (document.parent / path).resolve() if path else document
    return not target.exists() or (anchor != "" and anchor not in anchors(target))


def test_a_page_begins_with_one_sentence_on_who_reads_it_and_what_for() -> None:
    for page in PAGES:
        title, sentence, *_ = page.read_text().split("\n\n")

        assert title.startswith("# "), page
        assert re.fullmatch(r"For [^.:]+: [^.]+\.", sentence) is not None, page


def test_every_link_leads_to_a_file_and_to_a_section() -> None:
    followed = {(document, link) for document in DOCUMENTS for link in links(document)}

    assert (README, "ops/docs/production.md#runbooks") in followed
    assert [(document.name, link) for document, link in sorted(followed) if is_broken(document, link)] == []


def test_every_runbook_is_linked_from_the_manual() -> None:
    linked = {link for page in PAGES for link in links(page)}

    assert [runbook.name for runbook in RUNBOOKS if f"../runbooks/{runbook.name}" not in linked] == []


def test_every_document_that_the_code_names_exists() -> None:
    texts = [path.read_text() for folder in SOURCES for path in (ROOT / folder).rglob("*.py")]

    named = {name for text in texts for name in re.findall(r"\bops/(?:docs|runbooks|decisions)/[\w-]+\.md\b", text)}

    assert "ops/docs/database.md" in named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_table_of_settings_agrees_with_the_code() -> None:
    text = SETTINGS.read_text()
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)

    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        SETTINGS.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")
        return

    assert written.strip() == table(), "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_manual.py"


def test_the_page_of_commands_has_a_row_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    listed = capsys.readouterr().out.partition("\ncommands:\n")[2]
    known = re.findall(r"^    ([a-z]+) ", listed, re.MULTILINE)

    rows = "\n".join(
        line for line in (MANUAL / "commands.md").read_text().splitlines() if line.startswith("| `gatehouse")
    )

    assert "doctor" in known
    assert [command for command in known if f"`gatehouse {command}" not in rows] == []


def test_every_setting_that_a_document_names_exists() -> None:
    names = {*settings.names(), SETTINGS_FILE}

    mentioned = {name for page in (README, *PAGES, *RUNBOOKS) for name in re.findall(r"GATEHOUSE_[A-Z_]+", prose(page))}

    assert mentioned - names == set()


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the tour needs curl")
def test_the_tours_and_the_import_work_as_pasted(services: Services, tmp_path: Path) -> None:
    service = services.ready(DEV="on", BASE_URL=ADDRESS, RATE_LIMITS="on")
    # The tours run unchanged; curl connects to the test's own server at the address in the documents.
    (tmp_path / ".curlrc").write_text(f'noproxy = "*"\nconnect-to = "localhost:8000:127.0.0.1:{service.port}"\n')
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / ".gatehouse").symlink_to(service.data_folder)
    importing = MANUAL / "importing-accounts.md"
    (tmp_path / "people.jsonl").write_text(block(importing, "json"))
    script = block(README, "sh", "A tour") + block(MANUAL / "tour.md", "sh") + block(importing, "sh")

    done = subprocess.run(
        ["bash", "-euc", script],
        check=False,
        cwd=tmp_path,
        env=service.environment | {"CURL_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TOUR_SECONDS_MAX,
    )

    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [answer["error_code"] for answer in answers if "error" in answer] == ["UNAUTHORIZED"]
    assert {"status", "email", "refresh_token", "backup_codes", "sessions", "devices"} <= set().union(*answers)
    [first, second] = [answer["logs"] for answer in answers if "logs" in answer]
    assert [entry["action"] for entry in first] == ["organization.updated"] * 2
    assert [entry["action"] for entry in second] == [
        "user.joined",
        "invitation.accepted",
        "user.invited",
        "security.mfa.enabled",
        # Approved, and created.
        "organization.updated",
        "organization.updated",
    ]
    assert "Imported: 3. Skipped, because the address is taken: 0. Left out: 0." in done.stdout


@pytest.mark.skipif(shutil.which("jq") is None and "CI" not in os.environ, reason="the lines for Keycloak need jq")
def test_the_lines_for_keycloak_make_a_file_that_the_import_takes(tmp_path: Path) -> None:
    salt, value = base64.b64encode(b"s" * 16).decode(), base64.b64encode(b"v" * 64).decode()
    argon2 = {"hash": ["32"], "memory": ["7168"], "type": ["id"], "version": ["1.3"], "parallelism": ["1"]}
    stored = [
        ("of23", {"algorithm": "pbkdf2-sha256", "hashIterations": 27_500}),
        ("of24", {"algorithm": "pbkdf2-sha512", "hashIterations": 210_000}),
        ("of25", {"algorithm": "argon2", "hashIterations": 5, "additionalParameters": argon2}),
        ("without", None),
    ]
    common: dict[str, object] = {
        "enabled": True,
        "emailVerified": True,
        "firstName": "Ann",
        "createdTimestamp": 1_620_120_600_123,
    }
    users: list[dict[str, object]] = [
        {
            **common,
            "email": f"{name}@example.com",
            "credentials": [
                {
                    "type": "password",
                    "credentialData": json.dumps(how),
                    "secretData": json.dumps({"salt": salt, "value": value}),
                }
            ]
            if how is not None
            else [],
        }
        for name, how in stored
    ]
    users += [{**common, "email": "disabled@example.com", "enabled": False}, {**common, "username": "nobody"}]
    (tmp_path / "realm.json").write_text(json.dumps({"users": users}))
    (tmp_path / "keycloak.jq").write_text(block(MANUAL / "importing-accounts.md", "jq"))

    lines = subprocess.run(
        ["jq", "--compact-output", "--from-file", "keycloak.jq", "realm.json"],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout.splitlines()
    people = [
        user_import.read(line.encode(), password_schemes.stored_form, str, now=datetime(2026, 1, 1, tzinfo=UTC))
        for line in lines
    ]

    assert [(person.email.partition("@")[0], (person.password_hash or "")[:13]) for person in people] == [
        ("of23", "$pbkdf2-sha25"),
        ("of24", ""),
        ("of25", "$argon2id$v=1"),
        ("without", ""),
        ("disabled", ""),
    ]
    assert [person.email for person in people if person.is_blocked] == ["disabled@example.com"]
    assert {(person.name, person.is_verified) for person in people} == {("Ann", True)}
