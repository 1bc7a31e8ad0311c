"""What the pages of setup links and of the console show and read of a connection alike."""

from datetime import datetime
from typing import Any
from uuid import UUID

from core.errors import BadRequest
from core.rate_limits import RateLimit
from core.sign_in.upstream.connections.checks import CheckedChange
from core.sign_in.upstream.connections.connections import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.provider_problems import Finding, ProviderProblem, problem_of
from core.sign_in.upstream.saml import MetadataUnusable, ServiceProvider
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.sign_in.upstream.provider_problems import SENTENCES, field_of
from entrypoints.shared.sign_in.upstream.own_addresses import (
    backchannel_address,
    revocation_address,
    signed_out_address,
)
from entrypoints.shared.sign_in.upstream.upstream_providers import CALLBACK, read_metadata
from entrypoints.web.serving.calls import Call


class NotUsable(BadRequest):
    """A provider cannot be used as it was typed; `finding` is what a check of it has found."""

    def __init__(self, finding: Finding, field: str) -> None:
        assert finding.problem is not None, "a provider without a problem cannot be used"
        sentence = finding.text if finding.problem is ProviderProblem.METADATA else SENTENCES[finding.problem]
        invalid = BadRequest.of_field(field, sentence)
        super().__init__(invalid.message, details=invalid.details)
        self.finding = finding


def required(finding: Finding) -> Finding:
    """Return the finding of a check; raise `NotUsable` when no one could sign in."""
    if finding.problem is not None and finding.prevents:
        raise NotUsable(finding, field_of(finding.problem))
    return finding


async def described_change(call: Call, organization_id: UUID, given: ConnectionFields) -> CheckedChange:
    """Return the description in the requested metadata, which are read now; raise `BadRequest` or `NotUsable`."""
    field = "metadata_xml" if given.metadata_url is None else "metadata_url"
    if given.metadata_url is None and given.metadata_xml is None:
        raise BadRequest.of_field("metadata_url", "Enter the address of the metadata, or paste the file.")
    call.limit_organization(organization_id, RateLimit.CONNECTION_CHECK)
    try:
        described = await read_metadata(call, organization_id, given)
    except MetadataUnusable as unusable:
        raise NotUsable(Finding(problem=ProviderProblem.METADATA, text=unusable.problem), field) from None
    except UpstreamFailed as failed:
        raise NotUsable(Finding(problem=problem_of(failed.reason), text=failed.problem), field) from None
    return CheckedChange(finding=Finding(), described=described)


def stored(connection: ConnectionRecord) -> dict[str, Any]:
    """Return what the form of a connection shows of it; metadata that were pasted are not shown again."""
    return {
        "type": connection.type,
        "name": connection.name,
        "issuer": connection.issuer or "",
        "client_id": connection.client_id or "",
        "metadata_url": connection.metadata_url or "",
    }


def redirect_uri(call: Call) -> dict[str, tuple[str, str]]:
    """Return the address to register with an OpenID provider, by its name in the steps."""
    return {"redirect_uri": (marked("Redirect URI"), f"{call.installation.settings.base_url}{CALLBACK}")}


def copies_of(call: Call, connection_id: UUID) -> dict[str, tuple[str, str]]:
    """Return what is copied from the page of a connection, by its names in the steps."""
    provider = ServiceProvider.of(call.installation.settings.base_url, connection_id)
    return {
        **redirect_uri(call),
        "metadata_address": (marked("Metadata address"), provider.entity_id),
        "entity_id": (marked("Entity id, or audience"), provider.entity_id),
        "acs_url": (marked("Address for assertions (ACS URL)"), provider.acs_url),
        "slo_url": (marked("Sign-out address"), provider.slo_url),
        "revocation_address": (
            marked("Address to end sessions (global token revocation)"),
            revocation_address(call.installation.settings.base_url, connection_id),
        ),
        "signed_out_address": (
            marked("Address after logout (post-logout redirect URI)"),
            signed_out_address(call.installation.settings.base_url),
        ),
        "backchannel_address": (
            marked("Back-channel logout address"),
            backchannel_address(call.installation.settings.base_url, connection_id),
        ),
        "sign_in_address": (
            marked("Address to sign in by this connection"),
            f"{call.installation.settings.base_url}/auth/upstream?connection_id={connection_id}",
        ),
    }


def seen_at(text: str) -> datetime | None:
    """Return when the state on the page was stored; None where its form does not say it."""
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        raise BadRequest.of_field("seen", "This must be a time.") from None
