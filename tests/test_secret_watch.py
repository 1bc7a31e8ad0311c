"""The watch finds secrets in the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from core.secrets import Secret
from tests.secret_watch import SecretWatch

log = structlog.get_logger(__name__)

PASSWORD = "correct horse battery"


@pytest.fixture
def caught(secret_watch: SecretWatch) -> Iterator[SecretWatch]:
    """The watch, which this test expects to find leaks; they are deleted afterwards."""
    yield secret_watch
    secret_watch.begin()


def test_the_value_of_a_secret_is_found(caught: SecretWatch) -> None:
    secret = Secret("a-token-of-some-length")

    log.info("careless", value=secret.reveal())

    assert len(caught.leaks()) == 1


def test_a_masked_secret_is_not_found(caught: SecretWatch) -> None:
    log.info("careful", value=Secret("a-token-of-some-length"))

    assert len(caught.lines) == 1
    assert caught.leaks() == []


@pytest.mark.parametrize("body", [{"password": PASSWORD}, {"more": [{"backup_codes": ["x", PASSWORD]}]}])
def test_the_value_of_a_secret_field_of_a_body_is_found(caught: SecretWatch, body: object) -> None:
    caught.see(body)

    log.info("careless", text=f"they sent {PASSWORD!r}")

    assert len(caught.leaks()) == 1


def test_the_value_of_a_secret_header_is_found(caught: SecretWatch) -> None:
    caught.see_headers({"Authorization": "Bearer abc.def.ghi-jkl", "Accept": "text/html"})

    log.info("careless", token="abc.def.ghi-jkl")
    log.info("careful", accepts="text/html")

    assert len(caught.leaks()) == 1


def test_a_secret_in_a_traceback_is_found(caught: SecretWatch) -> None:
    caught.add(PASSWORD)

    try:
        raise ValueError(PASSWORD)
    except ValueError:
        log.exception("failed")

    assert len(caught.leaks()) == 1


def test_a_percent_encoded_secret_in_a_url_is_found(caught: SecretWatch) -> None:
    caught.add(PASSWORD)

    log.info("request", url="/somewhere?password=correct%20horse%20battery")

    assert len(caught.leaks()) == 1


def test_a_secret_in_the_log_of_a_library_is_found(caught: SecretWatch) -> None:
    caught.add(PASSWORD)

    logging.getLogger("some.library").warning("They sent %s", PASSWORD)

    assert len(caught.leaks()) == 1


def test_a_short_code_is_found_only_as_a_whole_word(caught: SecretWatch) -> None:
    caught.add("123456")

    log.info("took", seconds="0.123456", id="99123456")
    assert caught.leaks() == []

    log.info("careless", code="123456")
    assert len(caught.leaks()) == 1
