"""Port for importing many accounts at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.accounts.user_import import ImportedAccount


class UserImport(Protocol):
    """Bulk creation of accounts."""

    def add_new(self, accounts: Sequence[ImportedAccount], *, at: datetime) -> int:
        """Store the accounts whose address is free, the first of each address; return how many."""
        ...
