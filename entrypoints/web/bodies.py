"""Bodies that several capabilities answer."""

import msgspec


class Empty(msgspec.Struct, kw_only=True):
    """The request succeeded."""
