"""Watches the log of every test for what must never be in it: passwords, tokens, codes and other secrets.

The watch finds the secrets itself: every `Secret` that is made, and the value of every secret field or header of a
request or an answer. A test fails when one of them is in its log. `tests/conftest.py` sets the watch up for all tests.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote

import msgspec
import structlog

from core.secrets import Secret

SECRET_FIELDS = frozenset(
    {
        "access_token",
        "backup_codes",
        "client_secret",
        "code",
        "current_password",
        "device_code",
        "device_token",
        "key",
        "new_password",
        "password",
        "preauth_token",
        "refresh_token",
        "secret",
        "token",
    }
)
SECRET_HEADERS = frozenset({"authorization", "cookie", "x-api-key", "x-device-token"})
# A shorter value is in any log by chance.
CHARACTERS_MIN = 6
# Up to this length it may be part of a number or word, so it counts only as a whole word.
SHORT_CHARACTERS_MAX = 12


class SecretWatch:
    """Records the log and the secrets of one test at a time."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.secrets: set[str] = set()

    def begin(self) -> None:
        """Delete the records of the previous test."""
        self.lines.clear()
        self.secrets.clear()

    def remember(self, _logger: Any, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """Record a line as it is printed; a processor of structlog."""
        self.lines.append(msgspec.json.encode(fields, enc_hook=repr).decode())
        return fields

    def add(self, *secrets: str) -> None:
        """Add secrets."""
        self.secrets.update(secret for secret in secrets if len(secret) >= CHARACTERS_MIN)

    def see(self, body: Any) -> None:
        """Add the secrets in the body of a request or an answer."""
        if isinstance(body, dict):
            for name, value in body.items():
                self.add(*(_texts(value) if name in SECRET_FIELDS else ()))
                self.see(value)
        elif isinstance(body, list):
            for value in body:
                self.see(value)

    def see_headers(self, headers: Mapping[str, str]) -> None:
        """Add the secrets in the headers of a request."""
        for name, value in headers.items():
            if name.lower() in SECRET_HEADERS:
                self.add(value.removeprefix("Bearer "))

    def leaks(self) -> list[str]:
        """Return the lines of the log that contain a secret."""
        log = "\n".join(self.lines)
        # Searching for a text is fast and avoids compiling most patterns.
        found = [form for secret in self.secrets for form in {secret, quote(secret, safe="")} if form in log]
        return [line for line in self.lines if any(_pattern(form).search(line) for form in found)]


WATCH = SecretWatch()


def watch_everything() -> None:
    """Configure the log so that the watch records every line, and make every new `Secret` known to it."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            WATCH.remember,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
        cache_logger_on_first_use=False,
    )
    logging.getLogger().addHandler(_WatchedHandler())
    Secret.__init__ = _watched(Secret.__init__)


class _WatchedHandler(logging.Handler):
    """Passes the log of libraries to the watch."""

    def emit(self, record: logging.LogRecord) -> None:
        WATCH.lines.append(f"{record.name} {record.getMessage()} {record.exc_text or ''}")


def _watched(make: Callable[[Secret, str], None]) -> Any:
    def make_watched(self: Secret, value: str) -> None:
        make(self, value)
        WATCH.add(value)

    return make_watched


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _pattern(secret: str) -> re.Pattern[str]:
    text = re.escape(secret)
    return re.compile(rf"(?<![\w.:/-]){text}(?![\w.:-])" if len(secret) <= SHORT_CHARACTERS_MAX else text)
