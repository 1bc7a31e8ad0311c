"""The image and the compose file: what they expose, and what restarts them."""

from __future__ import annotations

import re
import tomllib

from entrypoints import settings
from tests.documents import ROOT

FILES = ("Dockerfile", "compose.yaml", "failover/Dockerfile", "failover/compose.yaml")


def test_the_health_check_of_the_image_is_liveness() -> None:
    [check] = re.findall(r"^HEALTHCHECK .*\n.*$", (ROOT / "ops/Dockerfile").read_text(), re.MULTILINE)

    assert "/health/live" in check
    assert "/health/ready" not in check


def test_the_compose_file_takes_secrets_from_files_that_exist_as_settings() -> None:
    compose = (ROOT / "ops/compose.yaml").read_text()

    files = dict(re.findall(r"^ +(GATEHOUSE_\w+_FILE): /run/secrets/(\w+)$", compose, re.MULTILINE))

    assert "GATEHOUSE_MASTER_KEYS_FILE" in files
    assert files.keys() <= set(settings.names())
    assert all(f"\n  {secret}:\n    file: secrets/" in compose for secret in files.values())


def test_every_image_is_of_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    lines = "\n".join((ROOT / "ops" / name).read_text() for name in FILES)

    images = re.findall(r"^(?:FROM| +image:) (\S+)", lines, re.MULTILINE)

    names = {"python", "postgres", "debian", "gatehouse", "gatehouse-failover"}
    assert {image.partition(":")[0] for image in images} == names
    for image in images:
        # Three numbers of Python and of Gatehouse, two of PostgreSQL and of Debian, or whatever a digest names.
        assert re.search(r":(\d+\.\d+\.\d+|1[2-9]\.\d+)(-[a-z-]+)?$|@sha256:[0-9a-f]{64}$", image), image
    assert {image.partition(":")[2] for image in images if image.startswith("gatehouse")} == {version}


def test_the_server_of_the_compose_file_has_no_password_but_its_own() -> None:
    compose = (ROOT / "ops/compose.yaml").read_text()
    example = (ROOT / "ops/gatehouse.env.example").read_text()
    services = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", compose, re.MULTILINE))
    passwords = {"POSTGRES_PASSWORD", "OWNER_ROLE_PASSWORD", "SERVER_ROLE_PASSWORD"}

    assert passwords == set(re.findall(r"^(\w+_PASSWORD)=$", example, re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+_PASSWORD)\}", services["gatehouse"])) == {"SERVER_ROLE_PASSWORD"}
    assert set(re.findall(r'(\w+_PASSWORD): ""', services["gatehouse"])) == passwords
    assert set(re.findall(r"\$\{(\w+_PASSWORD)\}", services["migrate"])) == {"OWNER_ROLE_PASSWORD"}
    assert "env_file" not in services["migrate"]


def test_a_machine_of_the_failover_gives_each_program_the_passwords_that_it_needs() -> None:
    compose = (ROOT / "ops/failover/compose.yaml").read_text()
    example = (ROOT / "ops/failover/node.env.example").read_text()
    services = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", compose, re.MULTILINE))

    given = {name: set(re.findall(r"\$\{(\w+_PASSWORD)\}", text)) for name, text in services.items()}

    assert given["gatehouse"] == {"SERVER_ROLE_PASSWORD"}
    assert given["migrate"] == {"OWNER_ROLE_PASSWORD"}
    assert given["database"] == {"SUPERUSER_PASSWORD", "OWNER_ROLE_PASSWORD", "SERVER_ROLE_PASSWORD"}
    assert given["etcd"] == given["haproxy"] == set()
    named = set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    assert named == set(re.findall(r"\$\{(\w+)", compose))
