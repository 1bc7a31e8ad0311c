"""The external providers of this installation, by the names that requests have for them."""

from collections.abc import Callable
from functools import partial

from core.accounts.sign_in_methods import Provider
from core.sign_in.upstream import providers
from core.sign_in.upstream.providers import ExternalProvider
from entrypoints.web.serving.calls import Call


def external_of(call: Call, name: str) -> ExternalProvider | None:
    """Return the external provider of a name; None when there is none."""
    return next((one for one in call.installation.external_providers.values() if one.provider == name), None)


def offered_by_platform(call: Call) -> list[Provider]:
    """Return the external providers at which the platform itself is a client."""
    return [one.provider for one in call.installation.external_providers.values() if one.client is not None]


def signs_in(call: Call) -> Callable[[Provider, str], bool]:
    """Return a function that says whether an identity with a provider and a stable id can sign in."""
    return partial(providers.signs_in, call.installation.external_providers)
