"""Platforms whose issuer many parties share, and the claims that a rule for each must name.

Anyone can get a token of such an issuer, so a rule names its owner by ids: a name may pass to another owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit


class Provider(StrEnum):
    """An issuer that many parties share, so that only the claims of a token tell its owner."""

    GITHUB = "GitHub Actions"
    GITLAB = "GitLab"
    ENTRA = "Microsoft Entra"
    GOOGLE = "Google"


# By the host of the issuer, whatever its path.
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
# A rule must name each of the first claims, and one of the others, if there are any.
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
