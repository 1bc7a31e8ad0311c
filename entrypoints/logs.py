"""The log: one line for each event, as JSON or in colour for a terminal.

Messages of libraries, which use the standard library's logging, have the same format and go to the same output.
"""

from __future__ import annotations

import atexit
import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime
from io import UnsupportedOperation
from typing import Any, Final, TextIO

import msgspec
import structlog

from entrypoints.log_lines import DroppedLines, Level, LogLines, Rank, print_within
from entrypoints.log_outlets import outlet_of

# The name of the logger of lines that say what became of a request.
REQUESTS: Final = "requests"
# These log every connection or request at level info; our own lines already cover that.
_VERBOSE_LIBRARIES: Final = ("hypercorn", "httpx", "httpcore", "aiosmtpd", "mail.log")
_LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
# The event of a finished request, and the longest line for it in development mode; files of pages get no line.
_OF_REQUESTS: Final = frozenset({"request", "request.abandoned"})
_BRIEF_CHARACTERS_MAX: Final = 100
_FILES: Final = "/assets/"
_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)
_DROPPED_ADVICE: Final = "What reads the log was too slow, or its disk is full."

_dropped = DroppedLines()
_lines: LogLines | None = None


def configure(*, log_format: str, log_level: str, output: TextIO = sys.stdout, is_brief: bool = False) -> None:
    """Configure the log; call this before the first line is written.

    For a terminal one that `is_brief` has a short line for each request, and none for the files of pages.
    """
    global _lines  # noqa: PLW0603 - the log is of the process, as its output is
    add_time = structlog.processors.TimeStamper(fmt="iso", utc=True)
    shared: list[Any] = [structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, add_time]
    # A traceback never shows the values of variables, because they include passwords and keys.
    if log_format == "json":
        render: Any = _rendered_as_json
        last = [structlog.processors.format_exc_info, render]
    else:
        show_traceback = structlog.dev.plain_traceback
        render = structlog.dev.ConsoleRenderer(colors=output.isatty(), exception_formatter=show_traceback)
        last = [_brief(render) if is_brief else render]

    def report_dropped(dropped: Mapping[str, int], since: datetime) -> bytes:
        fields = {"event": "log.lines_dropped", "dropped": dict(dropped), "since": since.isoformat()}
        fields |= {"advice": _DROPPED_ADVICE, "level": "warning"}
        return _ended(render(None, "warning", add_time(None, "warning", fields)))

    _lines = LogLines(outlet_of(output.fileno()), report_dropped=report_dropped, dropped=_dropped)
    atexit.register(_lines.finish)
    loggers = {is_request: _Logger(_lines, is_request=is_request) for is_request in (False, True)}
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[log_level]),
        logger_factory=lambda *names: loggers[names == (REQUESTS,)],
        # A logger that was used would keep this output and this level, also in a worker that has others.
        cache_logger_on_first_use=False,
    )

    root = logging.getLogger()
    root.handlers = [_LibraryHandler()]
    root.setLevel(logging.WARNING)
    for name in _VERBOSE_LIBRARIES:
        logging.getLogger(name).setLevel(logging.ERROR)


def begin_worker(number: int) -> None:
    """Write the lines of a worker, which was forked just now, apart from those of its parent."""
    _dropped.take_place_of(number)
    if _lines is not None:
        _lines.renew()


def allow_thread() -> None:
    """Let a thread wait for the reader of the log, if that is needed; for a process that forks no other."""
    if _lines is not None:
        # It keeps this log to its end, so each logger is made once.
        structlog.configure(cache_logger_on_first_use=True)
        _lines.allow_thread()


def catch_up() -> None:
    """Write what waits for the reader of the log, without waiting; for a process that may have no thread."""
    if _lines is not None:
        _lines.catch_up()


def finish() -> None:
    """Write what waits, if it is read now; a process that ends without Python's cleanup calls this."""
    if _lines is not None:
        _lines.finish()


def print_last(text: str, output: TextIO) -> None:
    """Print why a process ends; one whose output is not read ends all the same."""
    try:
        outlet = outlet_of(output.fileno())
    except UnsupportedOperation:
        # No file of the system.
        output.write(text)
        return
    output.flush()
    print_within(outlet, text.encode())
    outlet.close()


def dropped_lines() -> Mapping[str, int]:
    """Return how many lines this process and the processes that share its log have dropped, by level."""
    return _dropped.by_level()


class _Logger:
    """What structlog writes to: a method for each level."""

    def __init__(self, lines: LogLines, *, is_request: bool) -> None:
        self.debug = self.msg = _writer(lines, Level.DEBUG, is_request=is_request)
        self.info = _writer(lines, Level.INFO, is_request=is_request)
        self.warning = _writer(lines, Level.WARNING, is_request=is_request)
        self.error = self.critical = _writer(lines, Level.ERROR, is_request=is_request)


def _writer(lines: LogLines, level: Level, *, is_request: bool) -> Callable[[str | bytes], None]:
    rank, put = Rank.of(level, is_request=is_request), lines.put

    def write(line: str | bytes) -> None:
        put(line + b"\n" if isinstance(line, bytes) else _ended(line), level, rank)

    return write


def _ended(line: str | bytes) -> bytes:
    return (line.encode() if isinstance(line, str) else line) + b"\n"


class _LibraryHandler(logging.Handler):
    """Passes the messages of libraries on to our log."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger(record.name).log(
            record.levelno, "library.message", logger=record.name, text=record.getMessage(), exc_info=record.exc_info
        )


def _brief(render: Any) -> Callable[[Any, str, MutableMapping[str, Any]], str]:
    """Return a last processor that renders requests in a short line of their own, such as `200 GET /app 57ms`."""

    def rendered(logger: Any, method: str, fields: MutableMapping[str, Any]) -> str:
        if fields["event"] not in _OF_REQUESTS:
            return render(logger, method, fields)
        if str(fields["route"]).startswith(_FILES):
            raise structlog.DropEvent
        told = [fields.get("status", "gone"), fields["method"], fields["route"], f"{fields['duration_ms']:.0f}ms"]
        told += [fields[name] for name in ("error_code", "reason") if name in fields]
        line = " ".join(map(str, told))
        return line if len(line) <= _BRIEF_CHARACTERS_MAX else f"{line[: _BRIEF_CHARACTERS_MAX - 1]}…"

    return rendered


def _rendered_as_json(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> bytes:
    """Return a line; the last processor of structlog."""
    return _ENCODER.encode(fields)
