"""Pictures that a telephone reads."""

from typing import Protocol


class QrCodes(Protocol):
    """Draws QR codes."""

    async def svg(self, content: str, *, title: str) -> str:
        """Draw the content as an SVG document; the title is what it says to whoever cannot see it."""
        ...
