"""Port for drawing QR codes."""

from typing import Protocol


class QrCodes(Protocol):
    """Draws QR codes."""

    async def svg(self, content: str, *, title: str) -> str:
        """Return the content as an SVG document; the title is the text alternative for users who cannot see it."""
        ...
