"""Bodies that bear a password, a token or a code: printed, wherever that may happen, they show their name alone."""

from typing import Any

import msgspec


class Hidden(msgspec.Struct):
    """A body with something secret in it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(***)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("secret", "***")]
