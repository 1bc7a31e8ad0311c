"""Runs the first example of the README, which its argument names, against an issuer of these tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from issuer import CLIENT_ID, Clock, serving

EXAMPLE = re.search(r"```python\n(.*?)```", Path(sys.argv[1]).read_text(), re.DOTALL)
assert EXAMPLE is not None, "the README has no example"


def run(*arguments: str, **environment: str) -> str:
    """Run the example as a program, and return its output."""
    assert EXAMPLE is not None
    command = [sys.executable, "-W", "error", "-c", EXAMPLE[1], *arguments]
    return subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True).stdout


assert run() == "Refused: the token is no signed JWT\n", run()
clock = Clock()
clock.time = time.time()
with serving(clock) as issuer:
    output = run(issuer.token(features=["exports"]), ISSUER=issuer.url, CLIENT_ID=CLIENT_ID)
assert output == "ann@example.com None ('exports',)\n", output
