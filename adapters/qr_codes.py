"""QR codes as SVG, drawn by segno."""

from __future__ import annotations

import io
from typing import Final, final

import segno
import trio

# Pixels for one square: large enough for a telephone at arm's length, small enough for a window on one.
SCALE: Final = 5


@final
class SegnoQrCodes:
    """The port `QrCodes`."""

    async def svg(self, content: str, *, title: str) -> str:
        """Draw the content as an SVG document."""
        # Drawing takes some milliseconds of computing, which nobody else should wait for.
        return await trio.to_thread.run_sync(_draw, content, title)


def _draw(content: str, title: str) -> str:
    # On a screen nothing is torn or stained, so the lowest level of correction does, and the squares are larger.
    code = segno.make_qr(content, error="l")
    drawn = io.BytesIO()
    # The ground is white, because readers want dark on light, whatever the page around it looks like.
    code.save(drawn, kind="svg", scale=SCALE, light="#fff", title=title, xmldecl=False, nl=False)
    return drawn.getvalue().decode()
