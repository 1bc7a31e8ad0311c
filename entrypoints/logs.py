"""The log: one line for each event, as JSON or in colour for a terminal.

Messages of libraries, which use the standard library's logging, have the same format and go to the same output.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, Final, TextIO

import msgspec
import structlog

# These log every connection or request at level info; our own lines already cover that.
_VERBOSE_LIBRARIES: Final = ("hypercorn", "httpx", "httpcore", "aiosmtpd", "mail.log")
_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(*, log_format: str, log_level: str, output: TextIO = sys.stdout) -> None:
    """Configure the log; call this before the first line is written."""
    writer = _LineWriter(output.fileno())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # A traceback never shows the values of variables, because they include passwords and keys.
    if log_format == "json":
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_to_json)]
    else:
        show_traceback = structlog.dev.plain_traceback
        last = [structlog.dev.ConsoleRenderer(colors=output.isatty(), exception_formatter=show_traceback)]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[log_level]),
        logger_factory=lambda *_: writer,
        cache_logger_on_first_use=True,
    )

    root = logging.getLogger()
    root.handlers = [_LibraryHandler()]
    root.setLevel(logging.WARNING)
    for name in _VERBOSE_LIBRARIES:
        logging.getLogger(name).setLevel(logging.ERROR)


class _LineWriter:
    """Writes each line with one system call, so that the lines of several processes do not mix."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def msg(self, line: str | bytes) -> None:
        # A full disk or a closed pipe must not stop the service, and there is no other place to report it.
        with suppress(OSError):
            os.write(self._descriptor, (line.encode() if isinstance(line, str) else line) + b"\n")

    debug = info = warning = error = critical = msg


class _LibraryHandler(logging.Handler):
    """Passes the messages of libraries on to our log."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(
            record.levelno, "library.message", logger=record.name, text=record.getMessage(), exc_info=record.exc_info
        )


def _to_json(fields: MutableMapping[str, Any], **_options: Any) -> bytes:
    return msgspec.json.encode(fields, enc_hook=str)
