"""QR codes as SVG, drawn by segno."""

from __future__ import annotations

import io
from typing import Final, final

import trio

# Pixels for one module: large enough for a phone at arm's length, small enough for the screen of a phone.
SCALE: Final = 5
THREADS_MAX: Final = 2


@final
class SegnoQrCodes:
    """The port `QrCodes`."""

    def __init__(self) -> None:
        self._threads = trio.CapacityLimiter(THREADS_MAX)

    async def svg(self, content: str, *, title: str) -> str:
        """Draw the content as an SVG document."""
        # Drawing computes for some milliseconds, which would block the event loop.
        return await trio.to_thread.run_sync(_draw, content, title, limiter=self._threads)


def _draw(content: str, title: str) -> str:
    import segno  # noqa: PLC0415 - takes 1.6 MiB, and most processes draw no code

    # A code on a screen is not damaged, so the lowest level of error correction suffices, and the modules are larger.
    code = segno.make_qr(content, error="l")
    drawn = io.BytesIO()
    # The background is white in every theme, because readers need dark on light.
    code.save(drawn, kind="svg", scale=SCALE, light="#fff", title=title, xmldecl=False, nl=False)
    return drawn.getvalue().decode()
