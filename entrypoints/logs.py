"""The log: one line for each thing that happened, as JSON for machines or in colour for a person at a terminal.

What libraries say through the standard library's logging joins the same stream in the same shape.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TextIO

import msgspec
import structlog

if TYPE_CHECKING:
    from collections.abc import MutableMapping

# These tell, at info, of every connection or every request; our own line says it better.
_TALKATIVE: Final = ("hypercorn", "httpx", "httpcore", "aiosmtpd", "mail.log")
_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(*, log_format: str, log_level: str, output: TextIO = sys.stdout) -> None:
    """Set the log up, before anything is written."""
    lines = _Lines(output.fileno())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # A traceback never shows the values of variables: passwords and keys are among them.
    if log_format == "json":
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_to_json)]
    else:
        show_traceback = structlog.dev.plain_traceback
        last = [structlog.dev.ConsoleRenderer(colors=output.isatty(), exception_formatter=show_traceback)]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[log_level]),
        logger_factory=lambda *_: lines,
        cache_logger_on_first_use=True,
    )

    root = logging.getLogger()
    root.handlers = [_ToOurLog()]
    root.setLevel(logging.WARNING)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.ERROR)


class _Lines:
    """Writes each line in one piece, so that those of several processes do not mix."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def msg(self, line: str | bytes) -> None:
        # A full disk or a reader that went away must not stop the service, and nobody else would hear a complaint.
        with suppress(OSError):
            os.write(self._descriptor, (line.encode() if isinstance(line, str) else line) + b"\n")

    debug = info = warning = error = critical = msg


class _ToOurLog(logging.Handler):
    """Passes on what a library says."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(
            record.levelno, "library.message", logger=record.name, text=record.getMessage(), exc_info=record.exc_info
        )


def _to_json(fields: MutableMapping[str, Any], **_options: Any) -> bytes:
    return msgspec.json.encode(fields, enc_hook=str)
