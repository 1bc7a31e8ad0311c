"""What is ready for a certification: services that an installation takes, and logs that name the tests of today."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from ops.certification import prepare
from ops.certification.conditions import FAILED, PASSED, log_of, modules_of, version
from ops.certification.profiles import FOLDER, PROFILES, Profile
from tests.account_site import running_site
from tests.application import key_pairs
from tests.documents import MANUAL
from tests.shown_text import shows
from tests.world.builder import TIERS, Builder
from tests.world.organization_keys import KEY, insert_organization_key

__all__ = ["key_pairs"]

RENEW = "run .venv/bin/python -m ops.certification.conditions"
LINE = re.compile(r"passed  (\S+)  (\S+)")


def is_current(profile: Profile, text: str) -> bool:
    """Return whether a log is one of this version and of the tests that there are, which have all passed."""
    head, _, lines = text.partition("\n\n")
    logged = [match.groups() if (match := LINE.fullmatch(line)) else None for line in lines.splitlines()]
    return (
        head.startswith(f"Gatehouse {version()}: {profile.name}\nPlan: {profile.plan}\n")
        and logged == [(module.name, module.node) for module in modules_of(profile)]
        and logged != []
    )


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.folder)
def test_the_log_of_a_profile_names_the_tests_of_its_modules(profile: Profile) -> None:
    assert is_current(profile, profile.log.read_text()), RENEW


def test_a_log_of_other_tests_of_another_version_or_with_a_failure_is_not_current() -> None:
    profile = next(one for one in PROFILES if one.folder == "rp-initiated-logout")
    modules = modules_of(profile)
    outcomes = dict.fromkeys([module.node for module in modules], PASSED)
    text = log_of(profile, outcomes)

    assert is_current(profile, text)
    assert not is_current(profile, text.replace(modules[3].test, "test_that_is_gone"))
    assert not is_current(profile, "\n".join(text.splitlines()[:-1]))
    assert not is_current(profile, text.replace(version(), "0.0.1"))
    failed = log_of(profile, outcomes | {modules[3].node: FAILED})
    assert not is_current(profile, failed)
    assert f"{len(modules) - 1} of {len(modules)} passed" in failed


def test_the_modules_of_the_plans_are_found_above_tests_and_in_them() -> None:
    found = {profile.folder: {module.name for module in modules_of(profile)} for profile in PROFILES}

    assert len(found["basic"]) == 38
    assert found["form-post"] == found["basic"]
    assert "fapi2-security-profile-final-par-attempt-reuse-request_uri" in found["fapi2"]
    assert "fapi2-security-profile-final-ensure-authorization-request-with-long-state" in found["fapi2"]
    assert len(found["fapi2"]) > 40
    assert modules_of(replace(PROFILES[0], tests=("tests/openid_conformance/conftest.py",))) == []


def test_every_profile_has_its_folder_and_its_plan_in_the_documents() -> None:
    overview = (FOLDER / "README.md").read_text()

    for profile in PROFILES:
        assert f"| {profile.name} | [{profile.folder}]({profile.folder}/README.md) |" in overview
        assert profile.plan in (FOLDER / profile.folder / "README.md").read_text()
    folders = {path.parent.name for path in FOLDER.glob("*/config.json")}
    assert folders == {profile.folder for profile in PROFILES}
    assert "../certification/README.md" in (MANUAL / "openid.md").read_text()


def test_every_profile_is_prepared_at_an_installation(
    database_url: str,
    key_pairs: tuple[KeyPair, KeyPair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    monkeypatch.setenv("GATEHOUSE_KEY", KEY)
    with psycopg.connect(database_url, autocommit=True) as connection:
        builder = Builder(Connection(connection), lambda: datetime.now(UTC))
        organization_id, owner_id = builder.organization("certification"), builder.user()
        builder.member(organization_id, owner_id, "owner")
        insert_organization_key(builder, organization_id, owner_id)
        connection.execute("UPDATE organizations SET tier_id = %s", (TIERS["enterprise"],))
    with running_site(database_url, key_pairs) as site:
        for profile in PROFILES:
            with subtests.test(profile.folder):
                file = tmp_path / f"{profile.folder}.json"
                options = ["--base-url", site.url, "--organization", "certification", "--into", str(file)]

                assert prepare.main([profile.folder, *options]) == 0

                text = file.read_text()
                assert "${" not in text
                assert not shows(text, "null")
                assert json.loads(text)["server"]["discoveryUrl"].startswith(site.url)
                assert file.stat().st_mode & 0o777 == 0o600
                assert prepare.main([profile.folder, *options]) == 1


def test_without_a_key_the_preparation_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("GATEHOUSE_KEY", raising=False)

    status = prepare.main(["basic", "--base-url", "https://a", "--organization", "b", "--into", str(tmp_path / "c")])

    assert status == 1
    assert "GATEHOUSE_KEY is not set. Create a key" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("base_url", "organization", "said"),
    [
        ("http://id.example.com", "b", "The base URL is not an https address."),
        ("https://id.example.com@evil.example", "b", "The base URL is not an https address."),
        ("https://id.example.com?x=", "b", "The base URL is not an https address."),
        ("https://id.example.com", "../platform", "The organization is no slug."),
        ("https://id.example.com", "b", "c.json exists already."),
    ],
)
def test_the_key_goes_to_no_other_address_and_the_secrets_into_no_other_file(
    base_url: str,
    organization: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("GATEHOUSE_KEY", "no key")
    into, elsewhere = tmp_path / "c.json", tmp_path / "elsewhere"
    into.symlink_to(elsewhere)

    status = prepare.main(["basic", "--base-url", base_url, "--organization", organization, "--into", str(into)])

    assert status == 1
    assert said in capsys.readouterr().err
    assert not elsewhere.exists()
