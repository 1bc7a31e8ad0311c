"""The OpenID provider that others have written, oidc-provider, as a process of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.peers import peer

CLIENT_ID = "gatehouse"
CLIENT_SECRET = "the-secret-at-oidc-provider"
CALLBACK = "http://localhost:8000/auth/upstream/callback"


@contextmanager
def running_oidc_provider(folder: Path, callback: str = CALLBACK) -> Generator[str]:
    """Run the provider from a folder, and return its issuer."""
    library = peer("oidc-provider")
    shutil.copy(library.files / "provider.mjs", folder)
    (folder / "node_modules").symlink_to(library.programs.parent)
    command = [shutil.which("node") or "node", "provider.mjs", CLIENT_ID, CLIENT_SECRET, callback]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None, "the provider has no output"
        line = running.stdout.readline().strip()
        assert line.startswith("http://127.0.0.1:"), running.stderr
        yield line
        # Its input ends, and it with it.
        running.communicate()
