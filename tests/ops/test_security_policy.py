"""SECURITY.md, what a program reads of it, and the advisories: they name what exists, and agree with each other."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import date

import pytest

from tests.documents import ROOT, RUNBOOKS, SECURITY
from tests.peers import peer
from tests.shown_text import shows

INSIGHTS = ROOT / "security-insights.yml"
ADVISORIES = ROOT / "ops" / "security" / "advisories"
TEMPLATE = ROOT / "ops" / "security" / "advisory-template.md"
RELEASES = ROOT / "ops" / "releases"
CONTACT = "security@gatehouse.example"
READ = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1])), default=str))"


def headings(text: str) -> list[str]:
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def fields(text: str) -> list[str]:
    return re.findall(r"^\| ([A-Z]\w+(?: \w+)?) \|", text, re.MULTILINE)


def is_complete(advisory: str) -> bool:
    """Return whether an advisory has every section and every field of the template, filled in."""
    template = TEMPLATE.read_text()
    return (
        headings(advisory) == headings(template)
        and fields(advisory) == fields(template)
        and "…" not in advisory
        and not shows(advisory, "YYYY")
        and not re.search(r"\| +\|$", advisory.replace("| | |\n", ""), re.MULTILINE)
    )


def test_every_release_is_supported_or_not() -> None:
    released = {line.split(" ")[0].rpartition(".")[0] for line in RELEASES.read_text().splitlines() if line[0] != "#"}

    rows = set(re.findall(r"^\| (\d+\.\d+) \|", SECURITY.read_text(), re.MULTILINE))

    assert released
    assert released <= rows


def test_the_hours_of_the_policy_are_those_of_the_runbook() -> None:
    [runbook] = [path for path in RUNBOOKS if path.name == "vulnerability.md"]
    promised = re.findall(r"^\| (\d+ (?:hours|days)) \|", SECURITY.read_text(), re.MULTILINE)

    assert promised == ["24 hours", "72 hours", "14 days", "90 days"]
    assert headings(runbook.read_text())[:3] == [f"Within {time}" for time in promised[:3]]


def test_the_commands_of_the_runbook_begin_at_the_oldest_supported_version_and_check_the_signature() -> None:
    [runbook] = [path.read_text() for path in RUNBOOKS if path.name == "vulnerability.md"]
    oldest = re.findall(r"^\| (\d+\.\d+) \| until", SECURITY.read_text(), re.MULTILINE)[-1]
    [find] = re.findall(r'git worktree add \S+ "\$\((.+)\)"', runbook)

    done = subprocess.run(["sh", "-c", find], check=True, cwd=ROOT, capture_output=True, timeout=60)

    [line] = [line for line in RELEASES.read_text().splitlines() if line.endswith(f" {done.stdout.decode().strip()}")]
    assert line.startswith(f"{oldest}.")
    assert re.findall(r"ops/release verify (?!.*--public-key).*", runbook) == []


def test_what_a_program_reads_names_files_that_exist_and_the_contact_of_the_policy() -> None:
    text = INSIGHTS.read_text()
    named = re.findall(r"https://gatehouse\.example/(\S+)", text)

    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert set(re.findall(r"email: (\S+)", text)) == {CONTACT}
    assert f"<{CONTACT}>" in SECURITY.read_text()
    assert all(date.fromisoformat(one) for one in re.findall(r"(?:last-updated|last-reviewed|date): '(.*)'", text))


# PyYAML comes with this peer.
@pytest.mark.long
def test_what_a_program_reads_is_yaml_of_the_format() -> None:
    done = peer("kubernetes-validate").run("python", "-c", READ, str(INSIGHTS), folder=ROOT)

    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    assert read.keys() == {"header", "project", "repository"}
    assert read["header"].keys() >= {"schema-version", "last-updated", "last-reviewed", "url"}
    assert read["project"].keys() >= {"name", "administrators", "repositories", "vulnerability-reporting"}
    required = {"url", "status", "accepts-change-request", "accepts-automated-change-request", "core-team", "license"}
    assert read["repository"].keys() >= required | {"security"}
    assert read["repository"]["security"]["assessments"]["self"].keys() >= {"comment"}
    assert all(one["primary"] in {True, False} for one in read["project"]["administrators"])


def test_every_advisory_has_all_that_operators_need() -> None:
    for advisory in ADVISORIES.glob("*.md"):
        assert is_complete(advisory.read_text()), advisory
    assert not is_complete(TEMPLATE.read_text())


def test_an_advisory_that_lacks_something_is_not_complete() -> None:
    text = complete_advisory()

    assert is_complete(text)
    assert not is_complete(text.replace("## What to do\n", ""))
    assert not is_complete(text.replace("| Affected |", "| Concerned |"))
    assert not is_complete(text.replace("| Answered | 2026-11-26 |", "| Answered | |"))
    assert not is_complete(f"{text}\nFound by …\n")


def complete_advisory() -> str:
    """Return the template with a value in every place."""
    text = re.sub(r"^(\| [A-Z]\w+(?: \w+)? \|).*$", r"\1 2026-11-26 |", TEMPLATE.read_text(), flags=re.MULTILINE)
    return text.replace("…", "something").replace("YYYY-MM-DD", "2026-11-26").replace("YYYY-N", "2026-1")
