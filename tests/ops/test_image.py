"""The image and the compose file: what they expose, and what restarts them."""

from __future__ import annotations

import re

from entrypoints import settings
from tests.documents import ROOT


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
