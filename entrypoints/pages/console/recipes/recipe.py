"""A recipe: how one program of others is connected to a service, with the values of the service filled in.

A value is filled in only where it is a plain address: no redirect URI becomes a part of a program's settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from core.lazy_dataclasses import dataclass
from core.services.services import ServiceType
from entrypoints.pages.frame.languages import marked

READ_IN: Final = "2026-11"
# Stands in settings where the secret goes, which a recipe never has.
SECRET: Final = "YOUR_CLIENT_SECRET"  # noqa: S105 - it says where the secret goes
SAML_GROUPS: Final = marked(
    "Name the attributes email, name, role and groups on the page SAML: it reads the names in groups."
    " The attribute roles has roles of the service where that has the claim roles from service_roles."
)
_PROGRAM: Final = "@PROGRAM@"
_PLACEHOLDER: Final = re.compile("@([A-Z]+)@")
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.\-]+(:\d+)?(/[A-Za-z0-9._~/\-]*)?")
_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9.\-]+(:\d+)?")
# By the ending of a file; what else there is looks like commands of a shell, with its comments and strings.
_LANGUAGES: Final = {"py": "python", "js": "javascript", "mjs": "javascript"}


class Protocol(StrEnum):
    """How a program signs its people in."""

    OPENID = "OpenID Connect"
    SAML = "SAML 2.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a program is connected. Addresses and settings have `@PROGRAM@`, where it is, and the names of other values.

    `settings` are texts by the file in which they stand, or the program that takes them. `groups` says how it reads
    groups and roles, `admins` how a person becomes an admin there, and `notes` lists known obstacles. It was run in the
    version `run`; without one it follows the program's documentation at `source`, as of `read_in`. A SAML program has
    its `entity_id`, and its `redirect_uri` is the address for assertions.
    """

    word: str
    name: str
    settings: Mapping[str, str]
    redirect_uri: str
    groups: str
    admins: str
    protocol: Protocol = Protocol.OPENID
    service_type: ServiceType = ServiceType.WEB
    logout_uri: str = ""
    backchannel_uri: str = ""
    entity_id: str = ""
    notes: tuple[str, ...] = ()
    run: str = ""
    source: str = ""
    read_in: str = READ_IN

    @property
    def is_saml(self) -> bool:
        """Whether the program speaks SAML."""
        return self.protocol is Protocol.SAML

    def filled(self, *, issuer: str, client_id: str, saml: str, registered: Sequence[str] = ()) -> FilledRecipe:
        """Return it with the values of a service: `saml` is its entity id, `registered` are its redirect URIs."""
        values = {"ISSUER": issuer, "CLIENT": client_id, "SECRET": SECRET, "IDP": saml}
        values["PROGRAM"] = program = self._program(registered)
        values["HOST"] = program.partition("://")[2].partition("/")[0]

        def with_values(text: str) -> str:
            return _PLACEHOLDER.sub(lambda found: values[found[1]], text)

        return FilledRecipe(
            recipe=self,
            settings={file: with_values(text).strip("\n") for file, text in self.settings.items()},
            redirect_uri=with_values(self.redirect_uri),
            logout_uri=with_values(self.logout_uri),
            backchannel_uri=with_values(self.backchannel_uri),
            entity_id=with_values(self.entity_id),
        )

    def _program(self, registered: Sequence[str]) -> str:
        """Return where the program is: by its redirect URI, else at the origin of the first one, else an example."""
        path = self.redirect_uri.removeprefix(_PROGRAM)
        found = (uri.removesuffix(path) for uri in registered if path and uri.endswith(path))
        origins = (origin[0] for uri in registered if (origin := _ORIGIN.match(uri)))
        known = next((one for one in found if _ADDRESS.fullmatch(one) and not one.endswith("/")), "")
        return known or next(origins, f"https://{self.word}.example.com")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledRecipe:
    """A recipe with the values of a service; an address that the program lacks is empty."""

    recipe: Recipe
    settings: Mapping[str, str]
    redirect_uri: str
    logout_uri: str
    backchannel_uri: str
    entity_id: str

    @property
    def texts(self) -> Sequence[tuple[str, str, str]]:
        """Its settings: each with the file, the text, and the language in whose colours it is shown."""
        return [(file, text, _LANGUAGES.get(file.rpartition(".")[2], "shell")) for file, text in self.settings.items()]
