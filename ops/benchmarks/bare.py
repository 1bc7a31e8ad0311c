"""The reference server: one Quart-Trio route that returns a constant, with the service's Hypercorn settings.

python -m ops.benchmarks.bare HOST:PORT ANSWER
"""

from __future__ import annotations

import sys

import trio
from hypercorn.trio import serve  # pyright: ignore[reportUnknownVariableType] - its annotations name a bare dict
from quart_trio import QuartTrio

from entrypoints.server import hypercorn_config
from ops.benchmarks.servers import HEALTH_PATH


async def main(bind: str, answer: str) -> None:
    """Serve until the process ends."""
    application = QuartTrio("bare", static_folder=None)

    async def hello() -> tuple[str, dict[str, str]]:
        return answer, {"Content-Type": "application/json"}

    application.add_url_rule(HEALTH_PATH, "hello", hello)
    config = hypercorn_config()
    config.bind = [bind]
    await serve(application, config)


if __name__ == "__main__":
    trio.run(main, sys.argv[1], sys.argv[2])
