"""Checking the metadata of a connection's provider, and our credentials there."""

import secrets
from typing import Final
from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.rate_limits import RateLimit
from core.sign_in.upstream import provider_problems
from core.sign_in.upstream.connections import changes, checks, connection_fields
from core.sign_in.upstream.connections.checks import ConnectionToCheck
from core.sign_in.upstream.connections.connections import ConnectionFields
from core.sign_in.upstream.discovery import OtherIssuer
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.provider_problems import Finding, ProviderProblem
from core.sign_in.upstream.saml import MetadataUnusable, SamlDescription, SamlMetadata, require_current
from core.tables import PartialTable
from core.wording import Wording
from entrypoints.shared.sign_in.upstream.saml_connections import request_to
from entrypoints.web.serving.calls import Call
from ports.sign_in.upstream.gateway import ConnectionGateway

CALLBACK = "/auth/upstream/callback"
_CHECK_ADDRESS = "Check that its address is right and can be reached, and try again."
_COPY_ISSUER = "Copy the issuer again from the provider, with its whole path, and set it."
_ASK_VENDOR = "Ask the vendor of the provider."
# What callers of the interface do next, where it is not to check the address.
_NEXT_STEPS: Final = PartialTable(
    {
        ProviderProblem.NO_DOCUMENT: _COPY_ISSUER,
        ProviderProblem.NOT_JSON: _COPY_ISSUER,
        ProviderProblem.OTHER_ISSUER: "Set the issuer exactly as the document names it.",
        ProviderProblem.OTHER_SLASH: "Set the issuer exactly so.",
        ProviderProblem.NO_ENDPOINT: _ASK_VENDOR,
        ProviderProblem.NO_KEYS: _ASK_VENDOR,
        ProviderProblem.CERTIFICATES_REPLACED: "Set its metadata again, which links each account anew.",
        # Its text says so itself.
        ProviderProblem.BUSY: "",
        ProviderProblem.REQUEST_REFUSED: (
            "Its own log says why. Compare the entity id and the address for assertions that are entered there, and"
            " sign in once to find out."
        ),
    }
)
# For callers of the interface, where the provider has answered and no one can sign in by the answer.
_SENTENCES: Final = PartialTable(
    {
        ProviderProblem.CERTIFICATES_REPLACED: (
            "The identity provider has replaced all its certificates, and the new ones were not taken over: they may be"
            " another party's."
        ),
    }
)
# For callers of the interface, about our credentials.
_OF_CREDENTIALS: Final = PartialTable(
    {
        ProviderProblem.WRONG_SECRET: (
            "The provider does not accept the client secret. Copy it again from the application there, or make a new"
            " one, and set it."
        ),
        ProviderProblem.SECRET_ENDED: (
            "The client secret has expired at the provider. Make a new one there, and set it."
        ),
        ProviderProblem.UNKNOWN_CLIENT: (
            "The provider refuses the application: it does not know the client id, or takes another client secret, or"
            " does not allow the application to sign users in. Compare the client id, set the client secret again,"
            " and allow the authorization code grant there."
        ),
        ProviderProblem.WRONG_REDIRECT: (
            "The provider does not know our redirect URI. Register it with the application there, character for"
            " character."
        ),
        ProviderProblem.SECRET_UNCLEAR: (
            "The provider can be reached, and describes itself as it should. It does not say whether the client secret"
            " is right: sign in once to find out."
        ),
    }
)


class ConnectionTested(msgspec.Struct, kw_only=True):
    """Whether the provider can be reached, describes itself as it should, and accepts the client secret."""

    success: bool
    message: str


async def found_by_check(call: Call, to_check: ConnectionToCheck) -> Finding:
    """Check the present metadata of a connection's provider, and our credentials there; return the finding.

    Raise `RateLimitExceeded` when the organization has asked too often.
    """
    call.limit_organization(to_check.organization_id, RateLimit.CONNECTION_CHECK)
    connection, organization_id = to_check.connection, to_check.organization_id
    try:
        if connection.is_saml:
            metadata = connection.metadata
            found = await call.installation.saml_connections.describe(organization_id, metadata, is_fresh=True)
            described = require_current(found, at=call.installation.clock())
            named = changes.fingerprints(found.certificates)
            if not await call.transact(changes.take_if_stored, organization_id, connection.id, named):
                return Finding(problem=ProviderProblem.CERTIFICATES_REPLACED)
            return await _found_by_request(call, to_check, described)
        assert connection.issuer is not None, "an OpenID connection has no issuer"
        assert to_check.client is not None, "an OpenID connection is checked without credentials"
        return await found_at(
            call.installation.upstream_connections,
            organization_id,
            connection.issuer,
            to_check.client,
            redirect_uri=f"{call.installation.settings.base_url}{CALLBACK}",
        )
    except MetadataUnusable as unusable:
        return Finding(problem=ProviderProblem.METADATA, text=unusable.problem)
    except UpstreamFailed as failed:
        return Finding(problem=provider_problems.problem_of(failed.reason), text=failed.problem)


async def _found_by_request(call: Call, to_check: ConnectionToCheck, described: SamlDescription) -> Finding:
    """Send an identity provider the request of a sign-in that no browser will continue."""
    organization_id = to_check.organization_id
    if not connection_fields.is_protected(described.sso_url):
        return Finding(
            problem=ProviderProblem.METADATA,
            text="The SingleSignOnService of these metadata must have an https address.",
        )
    request = await request_to(
        call,
        organization_id,
        to_check.connection,
        described,
        # No sign-in waits under these.
        request_id=f"_{secrets.token_urlsafe(32)}",
        relay_state=secrets.token_urlsafe(32),
    )
    status = await call.installation.saml_connections.try_request(organization_id, request)
    problem = provider_problems.judge_request(status)
    text = Wording("The identity provider answered %(status)s to a request for a sign-in.", status=status)
    return Finding(problem=problem, text=text if problem is not None else "")


async def found_at(
    gateway: ConnectionGateway,
    organization_id: UUID | None,
    issuer: str,
    client: ProviderClient,
    *,
    redirect_uri: str,
) -> Finding:
    """Check the present metadata of an OpenID provider, and our credentials there; return the finding."""
    try:
        await gateway.discover(organization_id, issuer, is_fresh=True)
        problem = await gateway.try_credentials(organization_id, issuer, client, redirect_uri=redirect_uri)
    except OtherIssuer as other:
        return Finding(
            problem=provider_problems.problem_of(other.reason), right_issuer=other.right_issuer, text=other.problem
        )
    except UpstreamFailed as failed:
        return Finding(problem=provider_problems.problem_of(failed.reason), text=failed.problem)
    return Finding(problem=problem)


async def tested(call: Call, to_check: ConnectionToCheck) -> Finding | None:
    """Check a connection and store what was found; None for one by SAML that has no metadata yet."""
    if to_check.connection.issuer is None:
        return None
    finding = await found_by_check(call, to_check)
    await call.transact(checks.record, to_check, finding)
    return finding


def as_answer(finding: Finding | None) -> ConnectionTested:
    """Return the text about a finding for callers of the interface."""
    if finding is None:
        return ConnectionTested(success=False, message="Set the metadata of the identity provider first.")
    if finding.problem is None:
        message = "The provider can be reached, and describes itself as it should."
    elif (of_credentials := _OF_CREDENTIALS.get(finding.problem)) is not None:
        message = of_credentials
    elif finding.problem is ProviderProblem.METADATA:
        message = finding.text
    else:
        text = finding.text or _SENTENCES.get(finding.problem, "The provider did not answer as it should.")
        message = f"{text} {_NEXT_STEPS.get(finding.problem, _CHECK_ADDRESS)}".rstrip()
    return ConnectionTested(success=finding.problem is None or not finding.problem.fails_test, message=message)


async def described(call: Call, organization_id: UUID, given: ConnectionFields) -> SamlDescription | None:
    """Return the description in the requested metadata; raise `BadRequest` of its field when they cannot be used."""
    try:
        return await read_metadata(call, organization_id, given)
    except MetadataUnusable as unusable:
        field = "metadata_xml" if given.metadata_url is None else "metadata_url"
        raise BadRequest.of_field(field, unusable.problem) from None
    except UpstreamFailed as failed:
        problem = failed.problem or Wording("Check the address.")
        explained = Wording("The metadata cannot be read there. %(problem)s", problem=problem)
        raise BadRequest.of_field("metadata_url", explained) from None


async def read_metadata(call: Call, organization_id: UUID, given: ConnectionFields) -> SamlDescription:
    """Return the description in the requested metadata; raise `UpstreamFailed`, of which `MetadataUnusable` is one."""
    url, xml = connection_fields.metadata_of(given, call.installation.settings.outbound_allowed)
    metadata = SamlMetadata(url=url, xml=xml)
    found = await call.installation.saml_connections.describe(organization_id, metadata, is_fresh=True)
    return require_current(found, at=call.installation.clock())
