"""The part of the unit of work that belongs to the area `accounts`."""

from typing import Protocol

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

    @property
    def users(self) -> Users: ...

    @property
    def credentials(self) -> Credentials: ...

    @property
    def user_import(self) -> UserImport: ...

    @property
    def sign_in_failures(self) -> SignInFailures: ...

    @property
    def one_time_tokens(self) -> OneTimeTokens: ...

    @property
    def open_registrations(self) -> OpenRegistrations: ...

    @property
    def person_names(self) -> StoredNames: ...

    @property
    def own_accounts(self) -> OwnAccounts: ...

    @property
    def account_splits(self) -> AccountSplits: ...

    @property
    def known_ids(self) -> KnownIds: ...

    @property
    def named_caller(self) -> NamedCaller:
        """The caller with their names, read anew by one statement; refuses what `caller` refuses."""
        ...
