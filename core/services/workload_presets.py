"""The platforms whose issuers many share, and what a rule for each must name (decisions 17.1).

Everybody can get a token of such an issuer, so a rule names whose it is, by ids: names are given again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit


class Provider(StrEnum):
    """An issuer whose tokens many share, so that only its claims tell whose they are."""

    GITHUB = "GitHub Actions"
    GITLAB = "GitLab"
    ENTRA = "Microsoft Entra"
    GOOGLE = "Google"


# By the host of the issuer, whatever its path is.
_SHARED: Final[Mapping[str, Provider]] = {
    "token.actions.githubusercontent.com": Provider.GITHUB,
    "gitlab.com": Provider.GITLAB,
    "login.microsoftonline.com": Provider.ENTRA,
    "login.microsoftonline.us": Provider.ENTRA,
    "login.partner.microsoftonline.cn": Provider.ENTRA,
    "login.windows.net": Provider.ENTRA,
    "sts.windows.net": Provider.ENTRA,
    "accounts.google.com": Provider.GOOGLE,
}
# What a rule must name: each of the first, and one of the others, if there are any. Ids, because names are given again.
_REQUIRED: Final[Mapping[Provider | None, tuple[Sequence[str], Sequence[str]]]] = {
    Provider.GITHUB: (("repository_id",), ("environment", "ref", "job_workflow_ref")),
    Provider.GITLAB: (("project_id",), ("ref", "environment")),
    Provider.ENTRA: (("tid", "oid"), ()),
    Provider.GOOGLE: (("sub",), ()),
    None: (("sub",), ()),
}


def required_claims(issuer: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the claims that a rule for an issuer must name, and others of which it must name one, if there are any."""
    return _REQUIRED[provider_of(issuer)]


def provider_of(issuer: str) -> Provider | None:
    """Return the provider that an issuer belongs to, if many share it."""
    try:
        host = urlsplit(issuer.strip()).hostname or ""
    except ValueError:
        return None
    return _SHARED.get(host.rstrip("."))
