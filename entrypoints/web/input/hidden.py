"""The base class of bodies with a password, a token or a code: their repr shows the class name alone."""

from typing import Any

import msgspec


class SecretBody(msgspec.Struct):
    """A body that contains a secret."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(***)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("secret", "***")]
