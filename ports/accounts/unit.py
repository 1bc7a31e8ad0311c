"""The part of the unit of work that belongs to the area `accounts`."""

from typing import Final, Protocol

from core.accounts.profile import NamedCaller
from ports.accounts.account_splits import AccountSplits
from ports.accounts.known_ids import KnownIds
from ports.accounts.names import StoredNames
from ports.accounts.one_time_tokens import OneTimeTokens
from ports.accounts.open_registrations import OpenRegistrations
from ports.accounts.own_accounts import OwnAccounts
from ports.accounts.sign_in_failures import SignInFailures
from ports.accounts.user_import import UserImport
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
