"""The external providers at which the platform itself is a client."""

from core.accounts.providers import Provider
from core.sign_in.upstream.flows import ProviderClient
from entrypoints.web.serving.calls import Call


def platform_clients(call: Call) -> dict[Provider, ProviderClient]:
    """Return the platform's credentials at the external providers where it has some."""
    providers = call.installation.external_providers.values()
    return {one.provider: one.client for one in providers if one.client is not None}
