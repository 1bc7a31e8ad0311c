"""The part of the unit of work that belongs to the area `accounts`."""

from typing import Final, Protocol

from core.accounts.profile import NamedCaller
from ports.accounts.accounts import (
    AccountSplits,
    KnownIds,
    OneTimeTokens,
    OpenRegistrations,
    OwnAccounts,
    SignInFailures,
    StoredNames,
    UserImport,
)
from ports.accounts.users import Credentials, Users


class AccountsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    users: Final[Users]
    credentials: Final[Credentials]
    user_import: Final[UserImport]
    sign_in_failures: Final[SignInFailures]
    one_time_tokens: Final[OneTimeTokens]
    open_registrations: Final[OpenRegistrations]
    person_names: Final[StoredNames]
    own_accounts: Final[OwnAccounts]
    account_splits: Final[AccountSplits]
    known_ids: Final[KnownIds]

    @property
    def named_caller(self) -> NamedCaller:
        """The caller with their names, read anew by one statement; refuses what `caller` refuses."""
        ...
