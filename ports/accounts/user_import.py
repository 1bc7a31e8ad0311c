"""What the core asks of the stored accounts when many come at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.accounts.user_import import ImportedAccount


class UserImport(Protocol):
    """Many new accounts in one go."""

    def add_new(self, accounts: Sequence[ImportedAccount], *, at: datetime) -> int:
        """Store those whose address is free, the first of each address; say how many.

        An address that another account may still have back (by the link that undoes a change) is not free.
        """
        ...
