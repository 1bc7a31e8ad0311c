"""A guide of the manual as a reader follows it: the files that it says to write, and the commands to run."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# The guides of the manual: `ops/docs/guides` in a checkout.
FOLDER = Path(os.environ["GATEHOUSE_GUIDES"])
INSTALL_SECONDS_MAX = 900.0
START_SECONDS_MAX = 120.0
POLL_SECONDS = 0.1
PORT = "8080"
_FILE = re.compile(r"`([\w./-]+)`:\n\n```\w+\n(.*?)\n```\n", re.DOTALL)
_COMMANDS = re.compile(r"```sh\n(.*?)\n```\n", re.DOTALL)


@dataclass(frozen=True)
class Guide:
    """A guide in a folder of its reader, with their values and a free port."""

    folder: Path
    text: str
    port: int

    @property
    def home(self) -> str:
        """The address of the application."""
        return f"http://localhost:{self.port}/"

    def write_files(self) -> None:
        """Write the files."""
        for name, text in _FILE.findall(self.text):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    def commands(self) -> list[str]:
        """List the commands, the last of which starts the application."""
        return [line for block in _COMMANDS.findall(self.text) for line in block.splitlines()]

    def run(self, command: str) -> None:
        """Run a command to its end."""
        done = subprocess.run(
            ["sh", "-c", command],
            check=False,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS_MAX,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"

    @contextmanager
    def started(self, command: str) -> Generator[None]:
        """Run the application until the context ends."""
        with (self.folder / "application.log").open("w+") as log:
            process = subprocess.Popen(
                ["sh", "-c", f"exec env {command}"], cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
            try:
                self._wait(process, log.name)
                yield
            finally:
                # With what it has started: the server of Next.js is a child of its command. Both may have ended.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.wait()

    def _wait(self, process: subprocess.Popen[bytes], log: str) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                socket.create_connection(("localhost", self.port)).close()
            except OSError:
                assert process.poll() is None, Path(log).read_text()
                assert time.monotonic() < deadline, Path(log).read_text()
                time.sleep(POLL_SECONDS)
            else:
                return


def free_port() -> int:
    """Return a port on which nothing listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return probe.getsockname()[1]


def opened(name: str, folder: Path, port: int, values: Mapping[str, str]) -> Guide:
    """Open a guide, with these values in place of the examples in it."""
    text = (FOLDER / f"{name}.md").read_text("utf-8").replace(PORT, str(port))
    for example, value in values.items():
        text = text.replace(example, value)
    # The copy of the reader: its package is built already.
    text = text.replace("../gatehouse/ops/clients/python", os.environ["GATEHOUSE_CLIENT_WHEEL"])
    return Guide(folder, text, port)
