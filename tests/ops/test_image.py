"""The image, the compose file and the examples for proxies: what they expose, and what restarts them."""

from __future__ import annotations

import re

from entrypoints import settings
from tests.documents import MANUAL, ROOT


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


def test_no_example_of_a_proxy_passes_on_what_is_internal_or_traces_of_strangers() -> None:
    text = (MANUAL / "reverse-proxy.md").read_text()

    examples = re.findall(r"^```(?:caddyfile|nginx|haproxy)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)

    assert len(examples) == 3
    assert all("/metrics" in example and "/internal/" in example and "404" in example for example in examples)
    assert all("traceparent" in example for example in examples)
