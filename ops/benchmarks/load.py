"""Load: one request, sent over several connections as fast as the answers come, by wrk or by our own small loader.

Both are closed loops: a connection sends its next request when it has its answer. wrk uses less processor time, which
leaves more to the server on a small machine, so figures of different loaders are not comparable.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, TypeAlias

import trio

from ops.benchmarks.operation import WORD, Operation
from ops.benchmarks.servers import ANSWER_SECONDS_MAX, HOST

# How long wrk may run beyond its duration.
WRK_SECONDS_MORE_MAX: Final = 30.0
HEAD_BYTES_MAX: Final = 64 * 1024

# A word for each request. `%` is not special in the result of a function, so words may contain anything.
_WRK_WORDS: Final = """
local first, last = 1, #words
local function put_back(word)
    last = last + 1
    words[last] = word
end
local function filled(text, word)
    return (tostring(text):gsub(placeholder, function() return word end))
end
request = function()
    -- Without a word left the request is refused, and counted as an error.
    local word = words[first] or ""
    words[first] = nil
    first = math.min(first + 1, last + 1)
    if not next_word then put_back(word) end
    local headers = {}
    for name, value in pairs(wrk.headers) do headers[name] = filled(value, word) end
    return wrk.format(nil, nil, headers, filled(wrk.body, word))
end
if next_word then
    response = function(status, headers, body)
        local word = body:match('"' .. next_word .. '":"([^"]+)"')
        if word then put_back(word) end
    end
end
"""
# wrk rounds the figures of its own report; this prints the exact ones.
_WRK_REPORT: Final = """
done = function(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format(
        '\\n{"requests": %d, "seconds": %f, "p50_ms": %f, "p99_ms": %f, "errors": %d}\\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
"""


class LoaderFailed(Exception):
    """The loader itself failed; the message has its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The results of a load; an answer of status 400 and above is an error, and counts as a request."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    errors: int


Loader: TypeAlias = "Callable[[Operation, int, int, float], Load]"


def best_loader() -> str:
    """Return the name of the default loader."""
    return "wrk" if shutil.which("wrk") else "own"


def with_wrk(operation: Operation, port: int, connections: int, seconds: float) -> Load:
    """Send the requests of the operation with wrk."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(wrk_script(operation))
        script.flush()
        command = ["wrk", "--threads=1", f"--connections={connections}", f"--duration={seconds:.0f}s"]
        command += [f"--timeout={ANSWER_SECONDS_MAX:.0f}s", f"--script={script.name}"]
        finished = subprocess.run(
            [*command, f"http://{HOST}:{port}{operation.path}"],
            check=False,
            capture_output=True,
            text=True,
            timeout=seconds + WRK_SECONDS_MORE_MAX,
        )
    if finished.returncode:
        raise LoaderFailed(f"wrk failed: {finished.stdout}{finished.stderr}")
    return parse_wrk(finished.stdout)


def wrk_script(operation: Operation) -> str:
    """Return the script for wrk that sends the operation."""
    lines = [f"wrk.method = {_lua(operation.method.encode())}", f"wrk.body = {_lua(operation.body)}"]
    lines += [
        f"wrk.headers[{_lua(name.encode())}] = {_lua(value.encode())}" for name, value in operation.headers.items()
    ]
    if operation.words:
        lines.append(f"local placeholder = {_lua(WORD.encode())}")
        lines.append(f"local words = {{{', '.join(_lua(word.encode()) for word in operation.words)}}}")
        lines.append(f"local next_word = {_lua(operation.next_word.encode()) if operation.next_word else 'nil'}")
        lines.append(_WRK_WORDS)
    return "\n".join(lines) + _WRK_REPORT


def parse_wrk(output: str) -> Load:
    """Parse the last line, which the script makes wrk print."""
    try:
        load = Load(**json.loads(output.strip().rpartition("\n")[2]))
    except (json.JSONDecodeError, TypeError) as error:
        raise LoaderFailed(f"wrk printed something unexpected: {output}") from error
    if not load.requests:
        raise LoaderFailed(f"wrk got no answer at all: {output}")
    return load


def with_our_own(operation: Operation, port: int, connections: int, seconds: float) -> Load:
    """Send the requests of the operation with our own loader."""
    return trio.run(_load, operation, port, connections, seconds)


LOADERS: Final[dict[str, Loader]] = {"wrk": with_wrk, "own": with_our_own}


@dataclass(slots=True)
class _Tally:
    latencies_ms: list[float] = field(default_factory=list[float])
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer."""

    status: int
    body_bytes: int
    _: KW_ONLY
    is_last: bool
    has_retry_after: bool


async def _load(operation: Operation, port: int, connections: int, seconds: float) -> Load:
    requests = Requests(operation, port)
    tally = _Tally()
    started = trio.current_time()
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for _ in range(connections):
                nursery.start_soon(_connect_and_send, requests, port, tally)
    elapsed_seconds = trio.current_time() - started
    if len(tally.latencies_ms) < 2:
        raise LoaderFailed(f"{operation.path} was answered {len(tally.latencies_ms)} times in {seconds} s.")
    percentiles = statistics.quantiles(tally.latencies_ms, n=100, method="inclusive")
    return Load(
        requests=len(tally.latencies_ms),
        seconds=elapsed_seconds,
        p50_ms=percentiles[49],
        p99_ms=percentiles[98],
        errors=tally.errors,
    )


async def _connect_and_send(requests: Requests, port: int, tally: _Tally) -> None:
    """Send repeatedly; when the connection breaks, count an error and open another one."""
    while True:
        try:
            stream = await trio.open_tcp_stream(HOST, port)
            async with stream:
                await _send_repeatedly(stream, requests, tally)
        except (OSError, trio.BrokenResourceError, trio.TooSlowError):
            tally.errors += 1
            # A refused connection fails at once; let the other tasks run.
            await trio.lowlevel.checkpoint()


async def _send_repeatedly(stream: trio.SocketStream, requests: Requests, tally: _Tally) -> None:
    while True:
        sent = trio.current_time()
        with trio.fail_after(ANSWER_SECONDS_MAX):
            await stream.send_all(requests.next())
            head, body = await receive_answer(stream)
        requests.add_word_of(body)
        tally.latencies_ms.append((trio.current_time() - sent) * 1000)
        tally.errors += head.status >= 400
        if head.is_last:
            return


class Requests:
    """The requests of an operation, each with the next of its words."""

    def __init__(self, operation: Operation, port: int) -> None:
        self._operation = operation
        self._port = port
        self._words = deque(operation.words)

    def next(self) -> bytes:
        """Return the next request."""
        operation = self._operation
        # Without a word left the request is refused, and counted as an error.
        word = self._words.popleft() if self._words else ""
        if word and operation.next_word is None:
            self._words.append(word)
        body = operation.body.replace(WORD.encode(), word.encode())
        headers = {"Host": f"{HOST}:{self._port}", "Content-Length": str(len(body)), **operation.headers}
        if not body:
            del headers["Content-Length"]
        lines = [f"{operation.method} {operation.path} HTTP/1.1"]
        lines += [f"{name}: {value.replace(WORD, word)}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def add_word_of(self, body: bytes) -> None:
        """Add the word of an answer, if words are valid once."""
        if self._operation.next_word is not None:
            found = re.search(rb'"%s":"([^"]+)"' % self._operation.next_word.encode(), body)
            if found:
                self._words.append(found[1].decode())


async def receive_answer(stream: trio.SocketStream) -> tuple[Head, bytes]:
    """Receive one complete answer."""
    received = b""
    while (end := received.find(b"\r\n\r\n")) < 0:
        if len(received) > HEAD_BYTES_MAX:
            raise LoaderFailed("The head of an answer is too long.")
        received += await _receive_some(stream)
    head, body = parse_head(received[:end]), received[end + 4 :]
    while len(body) < head.body_bytes:
        body += await _receive_some(stream)
    return head, body


async def _receive_some(stream: trio.SocketStream) -> bytes:
    data = bytes(await stream.receive_some())
    if not data:
        raise trio.BrokenResourceError("the server closed the connection before it had answered")
    return data


def parse_head(head: bytes) -> Head:
    """Parse the head of an answer."""
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(first.split()[1])
    if "content-length" not in headers and status not in {204, 304}:
        raise LoaderFailed("This loader supports only answers with a Content-Length. Install wrk.")
    return Head(
        status=status,
        body_bytes=int(headers.get("content-length", 0)),
        is_last=headers.get("connection", "").lower() == "close",
        has_retry_after="retry-after" in headers,
    )


def _lua(text: bytes) -> str:
    """Return a Lua string with every byte as a number, so that none needs special treatment."""
    return '"' + "".join(f"\\{byte:03d}" for byte in text) + '"'
