"""The file of `GATEHOUSE_PROVIDERS_FILE`: OpenID providers that the operator adds.

It is TOML, with a table for each name, and read once, with the settings, before there are workers. A mistake in it
stops the start with a line that names the table, the key, and what to do.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from core.accounts.sign_in_methods import ADDED_NAME, IMPERSONATION, Provider
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in.upstream.connections import connection_fields
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import ADDED_SCOPES, ExternalProvider
from core.text import checked_public_name
from entrypoints.refusals import CannotStart
from entrypoints.setting_kinds import PREFIX, token

SETTING: Final = f"{PREFIX}PROVIDERS_FILE"
FILE_BYTES_MAX: Final = 64 * 1024
PROVIDERS_MAX: Final = 20
TITLE_CHARACTERS_MAX: Final = 40
# It begins the stable id of every account there, which an index holds.
ISSUER_CHARACTERS_MAX: Final = 250
_REQUIRED: Final = ("title", "issuer", "client_id")
_SECRET: Final = "client_secret"  # noqa: S105 - the name of a key
_SECRET_FILE: Final = "client_secret_file"  # noqa: S105 - the name of a key
_KEYS: Final = (*_REQUIRED, _SECRET, _SECRET_FILE, "scopes", "trusts_email", "icon")
_MISSPELLING_SIMILARITY_MIN: Final = 0.8
_ISSUER: Final = re.compile(r"https?://[A-Za-z0-9._~:/%@!$&'()*+,;=\[\]-]+")
_CLIENT_ID: Final = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedProviders:
    """The content of the file: the providers, and the paths of the pictures for their buttons."""

    file: Path
    providers: Sequence[ExternalProvider]
    icons: Mapping[Provider, Path]

    def __str__(self) -> str:
        return str(self.file)


class _Wrong(Exception):
    """A value that its key does not take; the text says what to do."""


def read(text: str) -> AddedProviders:
    """Return what a file says; raise `CannotStart`."""
    file = Path(text)
    tables = _tables(file)
    if len(tables) > PROVIDERS_MAX:
        raise _refused(file, f"has {len(tables)} tables. Keep {PROVIDERS_MAX} at most.")
    providers = [_provider(file, name, table) for name, table in tables.items()]
    icons = {Provider(name): file.parent / table["icon"] for name, table in tables.items() if "icon" in table}
    return AddedProviders(file=file, providers=providers, icons=icons)


def _tables(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_content(file, file))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # Its text names the line and the column, and no value.
        raise _refused(file, f"is not TOML: {error}. Correct it.") from None


def _content(file: Path, named: Path) -> str:
    """Return the text of a file, or of one that it names."""
    if named.is_fifo():
        # Opening it would wait for a program that writes to it.
        raise (
            _refused(file, "is a named pipe. Name a file.")
            if named == file
            else _Wrong(f"it names {named}, a pipe. Name a file.")
        )
    try:
        with named.open("rb") as opened:
            content = opened.read(FILE_BYTES_MAX + 1)
        if len(content) <= FILE_BYTES_MAX:
            return content.decode()
        problem = f"is larger than {FILE_BYTES_MAX // 1024} KiB. Make it smaller."
    except OSError as error:
        problem = f"cannot be read: {error.strerror}. Correct the path, or let the user of Gatehouse read it."
    except UnicodeDecodeError:
        problem = "is not text in UTF-8. Save it as such."
    raise _refused(file, problem) if named == file else _Wrong(f"it names {named}, which {problem}")


def _provider(file: Path, name: str, table: Any) -> ExternalProvider:
    values = _values(file, name, table)

    def checked(key: str, check: Callable[[Any], Any], default: Any = None) -> Any:
        if key not in values:
            return default
        try:
            return check(values[key])
        except _Wrong as wrong:
            raise _refused(file, f"has a wrong {key} in [{name}]: {wrong}") from None

    checked("icon", _text)
    return ExternalProvider(
        provider=Provider(name),
        title=checked("title", _title),
        issuer=checked("issuer", _issuer),
        client=ProviderClient(
            client_id=checked("client_id", _client_id),
            client_secret=checked(_SECRET, _secret)
            or checked(_SECRET_FILE, lambda path: _secret(_content(file, file.parent / _text(path)).rstrip("\r\n"))),
        ),
        scopes=checked("scopes", _scopes, ADDED_SCOPES),
        trusts_email=checked("trusts_email", _switch, False),
    )


def _values(file: Path, name: str, table: Any) -> Mapping[str, Any]:
    """Return the values of a table with a valid name, which has every key that it needs and no other one."""
    if not isinstance(table, dict):
        raise _refused(file, f"has the key {name!r} outside of a table. Write a line such as [acme] above it.")
    if not ADDED_NAME.fullmatch(name):
        raise _refused(file, f"has the table [{name}]. Name it with 2 to 30 of the characters a to z and 0 to 9.")
    if name in {*Provider, IMPERSONATION}:
        raise _refused(file, f"has the table [{name}], the name of another way to sign in. Choose another one.")
    values = cast("dict[str, Any]", table)
    for key in values:
        if key not in _KEYS:
            raise _refused(file, f"has the key {key!r} in [{name}], which there is not.{_meant(key)}")
    for key in _REQUIRED:
        if key not in values:
            raise _refused(file, f"has no {key} in [{name}]. Add it.")
    if (_SECRET in values) == (_SECRET_FILE in values):
        raise _refused(file, f"must have either {_SECRET} or {_SECRET_FILE} in [{name}]. Write one of them.")
    return values


def _refused(file: Path, problem: str) -> CannotStart:
    return CannotStart(f"{SETTING} names {file}, which {problem}")


def _meant(key: str) -> str:
    similar = difflib.get_close_matches(key, _KEYS, n=1, cutoff=_MISSPELLING_SIMILARITY_MIN)
    return f" Is {similar[0]} meant?" if similar else f" The keys are {', '.join(_KEYS)}."


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _Wrong('it takes a text. Write it in quotes, such as "text".')
    if "\x00" in value:
        raise _Wrong("it contains NUL, which no path can. Remove it.")
    return value


def _title(value: Any) -> str:
    try:
        title = checked_public_name(_text(value))
    except BadRequest as invalid:
        raise _Wrong(f"it takes a name for people. {invalid.details[0].message}") from None
    if len(title) > TITLE_CHARACTERS_MAX:
        raise _Wrong(f"it takes at most {TITLE_CHARACTERS_MAX} characters. Shorten it.")
    return title


def _issuer(value: Any) -> str:
    issuer = _text(value)
    if len(issuer) > ISSUER_CHARACTERS_MAX or not _ISSUER.fullmatch(issuer) or "@" in issuer.split("/")[2]:
        raise _Wrong(
            f"it takes an address of at most {ISSUER_CHARACTERS_MAX} characters such as https://id.example.com, without"
            " query and fragment. Copy it from the provider's discovery document."
        )
    if connection_fields.names_no_tenant(issuer):
        raise _Wrong("it has no id of a tenant. Write the id of your tenant in place of the placeholder.")
    if not connection_fields.is_protected(issuer):
        raise _Wrong("it takes an https address; http only on this machine. Change the address.")
    return issuer


def _client_id(value: Any) -> str:
    if not _CLIENT_ID.fullmatch(_text(value)):
        raise _Wrong("it takes 1 to 255 characters without blanks. Copy it from the provider.")
    return value


def _secret(value: Any) -> Secret:
    try:
        return token(_text(value))
    except ValueError:
        raise _Wrong("it takes 8 to 500 characters without blanks. Copy it from the provider.") from None


def _scopes(value: Any) -> tuple[str, ...]:
    scopes = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not isinstance(value, list) or not all(isinstance(scope, str) for scope in scopes):
        raise _Wrong('it takes a list of texts. Write it as in ["openid", "email"].')
    try:
        return tuple(connection_fields.checked_scopes(scopes))
    except BadRequest as invalid:
        raise _Wrong(f"{invalid.details[0].message} Correct it.") from None


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("it takes true or false. Write one of them, without quotes.")
    return value
