"""The SIEM of an organization: the receiver of a stream of its audit log and its sign-ins.

`siem_stream.py` decides what is sent when. An organization has at most one stream. Its token is stored sealed and never
shown. Replacing the configuration keeps the cursor, so that nothing is skipped while a token or an endpoint is changed;
to start anew, delete it and create another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.audit import chain
from core.errors import BadRequest, Conflict, Forbidden, NotFound, all_valid
from core.events.actions import AuditAction
from core.ids import FIRST_ID, LAST_ID
from core.lazy_dataclasses import dataclass
from core.limits import SIGN_INS_KEPT_FOR
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.departures import MadeCredentialKind, record_maker
from core.outbound import Network, checked_url
from core.secrets import Secret
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TOKEN_CHARACTERS_MAX: Final = 4096
OPTION_CHARACTERS_MAX: Final = 200
TAGS_MAX: Final = 50
PREFIXES_MAX: Final = 50


class SiemUnknown(NotFound):
    """The organization streams to no SIEM."""

    default_message = "This organization has no SIEM configuration. Create one with POST."


class SignInsNotReadable(Forbidden):
    """The receiver would read sign-ins that the caller may not read."""

    default_message = Wording(
        "A receiver reads the sign-ins, so setting it needs the capability %(capability)s. Ask an owner or admin, or"
        " let it have the audit log alone.",
        capability=Capability.END_USERS_VIEW,
    )


class SiemChanged(Conflict):
    """Another person has changed the configuration since the caller saw it."""

    default_message = (
        "Another person has changed the receiver meanwhile. Check what is shown now, and send the form again if you"
        " still want it."
    )


class SiemProvider(StrEnum):
    """The interface of the receiver."""

    HTTP = "http"
    SPLUNK = "splunk"
    DATADOG = "datadog"
    ELASTIC = "elastic"

    @property
    def needs_token(self) -> bool:
        """Whether this receiver refuses every request without a token."""
        return self in {SiemProvider.SPLUNK, SiemProvider.DATADOG}


class SiemStart(StrEnum):
    """Where a new stream begins."""

    NOW = "now"
    BEGINNING = "beginning"


class SiemContent(StrEnum):
    """What is sent."""

    AUDIT = "audit"
    SIGN_INS = "sign_ins"


class SiemStatus(StrEnum):
    """The health of a stream; `waiting` means that nothing was sent yet."""

    DISABLED = "disabled"
    WAITING = "waiting"
    HEALTHY = "healthy"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemOptions:
    """Options of the receiver, each with a default that fits.

    `start` counts when the configuration is created: from now on, or from the beginning of the log. `index` is for
    Splunk and Elastic, `source` and `sourcetype` are for Splunk, `service` and `tags` for Datadog.
    """

    start: SiemStart = SiemStart.NOW
    index: str | None = None
    source: str | None = None
    sourcetype: str | None = None
    service: str | None = None
    tags: list[str] = field(default_factory=list[str])
    compress: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemRequest:
    """A requested configuration; None keeps the token of the same receiver, and an empty text removes it."""

    provider: SiemProvider
    endpoint: str
    token: Secret | None = None
    options: SiemOptions = field(default_factory=SiemOptions)
    include: list[SiemContent] | None = None
    event_filter: list[str] | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCursor:
    """A place among the sign-ins of an organization in the order of their times, behind the one with this id."""

    at: datetime
    id: UUID = LAST_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemStream:
    """A stored stream; everything up to the entry at `position` of the chain was received.

    `sign_ins` is the same for sign-ins; None for a stream without them.
    """

    id: UUID
    provider: SiemProvider
    endpoint: str
    has_token: bool
    options: SiemOptions
    event_filter: list[str] | None
    enabled: bool
    starts_at: datetime | None
    position: int
    sealed_through: int
    failures: int
    last_success_at: datetime | None
    last_error: str | None
    created_at: datetime
    updated_at: datetime
    include: list[SiemContent] = field(default_factory=lambda: [SiemContent.AUDIT])
    sign_ins: SignInCursor | None = None

    @property
    def status(self) -> SiemStatus:
        """The health of the stream."""
        if not self.enabled:
            return SiemStatus.DISABLED
        if self.failures:
            return SiemStatus.FAILING
        return SiemStatus.HEALTHY if self.last_success_at is not None else SiemStatus.WAITING

    def is_same_receiver(self, wanted: SiemRequest) -> bool:
        """Return whether the token of this stream may go to the wanted receiver."""
        return self.provider is wanted.provider and _origin(self.endpoint) == _origin(wanted.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemConfiguration:
    """The configuration and the state of the stream.

    `cursor` is the position of the last entry that was received or left out, `lag` the number of sealed entries after
    it, and `pending` the number of entries that are not sealed yet. `sign_ins_through` is the time up to which all
    sign-ins were received. `last_error` says why the last attempt failed.
    """

    id: UUID
    provider: SiemProvider
    endpoint: str
    has_token: bool
    options: SiemOptions
    include: list[SiemContent]
    event_filter: list[str] | None
    enabled: bool
    status: SiemStatus
    last_success_at: datetime | None
    last_error: str | None
    cursor: int
    lag: int
    pending: int
    sign_ins_through: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, uow: UnitOfWork, organization_id: UUID, stream: SiemStream) -> SiemConfiguration:
        """Return what may be shown of a stream."""
        return cls(
            id=stream.id,
            provider=stream.provider,
            endpoint=stream.endpoint,
            has_token=stream.has_token,
            options=stream.options,
            include=stream.include,
            event_filter=stream.event_filter,
            enabled=stream.enabled,
            status=stream.status,
            last_success_at=stream.last_success_at,
            last_error=stream.last_error,
            cursor=stream.position,
            lag=stream.sealed_through - stream.position,
            pending=chain.state_of(uow, organization_id).pending,
            sign_ins_through=stream.sign_ins.at if stream.sign_ins is not None else None,
            created_at=stream.created_at,
            updated_at=stream.updated_at,
        )


def configure(uow: UnitOfWork, slug: str, wanted: SiemRequest, *, allowed: Iterable[Network]) -> SiemConfiguration:
    """Create the configuration, or replace it; `allowed` are the private networks that targets may be in."""
    # Locked, so that of two requests at once one creates and the other replaces.
    return change(uow, authorize_and_lock(uow, slug, Operation.SIEM_CONFIGURE), wanted, allowed=allowed)


def change(
    uow: UnitOfWork,
    authorized: OrganizationAccess,
    wanted: SiemRequest,
    *,
    allowed: Iterable[Network],
    keeps_receiver: bool = False,
) -> SiemConfiguration:
    """Do what `configure` does for an authorized caller who has locked the organization.

    A receiver that stays gets sign-ins as before, also from a caller who may not read them.
    """
    organization_id = authorized.organization.id
    endpoint, event_filter, _, _ = all_valid(
        lambda: checked_url(wanted.endpoint, allowed, field="endpoint"),
        lambda: _checked_filter(wanted.event_filter),
        lambda: _check_token(wanted.token),
        lambda: all_valid(lambda: _check_options(wanted.options), lambda: _check_include(wanted.include)),
    )
    before = uow.siem_streams.find(organization_id)
    keeps_token = before is not None and before.is_same_receiver(wanted) and wanted.token is None
    token = wanted.token if wanted.token is not None and wanted.token.reveal() else None
    has_token = token is not None or (before is not None and keeps_token and before.has_token)
    if wanted.provider.needs_token and not has_token:
        raise BadRequest.of_field(
            "token", Wording("The provider %(provider)s needs a token.", provider=wanted.provider)
        )

    may_read = keeps_receiver or Capability.END_USERS_VIEW in authorized.capabilities
    include = _included(wanted, before, may_read=may_read)
    is_from_now = wanted.options.start is SiemStart.NOW
    sealed_through = uow.audit_chains.end(organization_id).sealed_through
    stream = SiemStream(
        id=before.id if before is not None else uow.randomness.new_id(),
        provider=wanted.provider,
        endpoint=endpoint,
        has_token=has_token,
        options=wanted.options,
        event_filter=event_filter,
        enabled=wanted.enabled,
        starts_at=before.starts_at if before is not None else uow.now if is_from_now else None,
        position=before.position if before is not None else sealed_through if is_from_now else 0,
        sealed_through=sealed_through,
        failures=0,
        last_success_at=before.last_success_at if before is not None else None,
        last_error=None,
        created_at=before.created_at if before is not None else uow.now,
        updated_at=uow.now,
        include=include,
        sign_ins=_sign_ins_from(uow, before, include, is_from_now=is_from_now),
    )
    uow.siem_streams.save(organization_id, stream, token, keeps_token=keeps_token)
    record_maker(uow, MadeCredentialKind.SIEM_STREAM, organization_id, stream.id, authorized.caller.maker_id)
    uow.record(
        AuditAction.SIEM_CONFIGURED,
        organization_id,
        organization_id=organization_id,
        provider=stream.provider.value,
        # Not the whole endpoint: its query may contain a secret.
        host=urlsplit(endpoint).hostname,
        enabled=stream.enabled,
        include=[one.value for one in include],
    )
    return SiemConfiguration.of(uow, organization_id, stream)


def show(uow: UnitOfWork, slug: str) -> SiemConfiguration:
    """Return the configuration; raise `SiemUnknown` without one."""
    organization = authorize(uow, slug, Operation.SIEM_READ).organization
    return SiemConfiguration.of(uow, organization.id, stored(uow, organization.id))


def stored(uow: UnitOfWork, organization_id: UUID) -> SiemStream:
    """Return the stream of an organization; raise `SiemUnknown` without one."""
    stream = uow.siem_streams.find(organization_id)
    if stream is None:
        raise SiemUnknown
    return stream


def remove(uow: UnitOfWork, slug: str, *, seen_at: datetime | None = None) -> None:
    """Delete the configuration and its cursor; raise `SiemUnknown` without one, and `SiemChanged` as `restart` does."""
    organization_id = authorize_and_lock(uow, slug, Operation.SIEM_CHANGE).organization.id
    require_unchanged(uow.siem_streams.find(organization_id), seen_at)
    if not uow.siem_streams.remove(organization_id):
        raise SiemUnknown
    uow.record(AuditAction.SIEM_REMOVED, organization_id, organization_id=organization_id)


def require_unchanged(stream: SiemStream | None, seen_at: datetime | None) -> None:
    """Raise `SiemChanged` unless the stream was last changed at the time `seen_at`, if that is given.

    A caller who saw no stream gives no time.
    """
    if seen_at is not None and (stream is None or stream.updated_at != seen_at):
        raise SiemChanged


def first_sign_in(uow: UnitOfWork, since: datetime | None) -> SignInCursor:
    """Return the place before the sign-ins since a moment, or before all that are kept."""
    kept_since = uow.now - SIGN_INS_KEPT_FOR
    # Sign-ins of that exact time come after the place.
    return SignInCursor(at=max(since, kept_since) if since is not None else kept_since, id=FIRST_ID)


def _included(wanted: SiemRequest, before: SiemStream | None, *, may_read: bool) -> list[SiemContent]:
    """Return the content of the stream: what is wanted, else what it was before, else both.

    The receiver of a caller who may not read sign-ins gets none; raise `SignInsNotReadable` if they are wanted by name.
    """
    if wanted.include is not None:
        if SiemContent.SIGN_INS in wanted.include and not may_read:
            raise SignInsNotReadable
        return [one for one in SiemContent if one in wanted.include]
    chosen = before.include if before is not None else list(SiemContent)
    allowed = [one for one in chosen if may_read or one is not SiemContent.SIGN_INS]
    return allowed or [SiemContent.AUDIT]


def _sign_ins_from(
    uow: UnitOfWork, before: SiemStream | None, include: Sequence[SiemContent], *, is_from_now: bool
) -> SignInCursor | None:
    """Return where the sign-ins of a stream begin or go on; None without them."""
    if SiemContent.SIGN_INS not in include:
        return None
    if before is None:
        return first_sign_in(uow, uow.now if is_from_now else None)
    return before.sign_ins or first_sign_in(uow, uow.now)


def _check_include(include: Sequence[SiemContent] | None) -> None:
    if include is not None and not include:
        raise BadRequest.of_field("include", "Name audit, sign_ins, or both.")


def _check_token(token: Secret | None) -> None:
    text = token.reveal() if token is not None else ""
    if len(text) > TOKEN_CHARACTERS_MAX or not all("!" <= character <= "~" for character in text):
        raise BadRequest.of_field(
            "token",
            Wording("A token has at most %(maximum)s ASCII characters and no spaces.", maximum=TOKEN_CHARACTERS_MAX),
        )


def _check_options(options: SiemOptions) -> None:
    texts = [options.index, options.source, options.sourcetype, options.service, *options.tags]
    if len(options.tags) > TAGS_MAX or any(text is not None and len(text) > OPTION_CHARACTERS_MAX for text in texts):
        raise BadRequest.of_field(
            "options",
            Wording(
                "An option has at most %(maximum)s characters, and there are at most %(tags)s tags.",
                maximum=OPTION_CHARACTERS_MAX,
                tags=TAGS_MAX,
            ),
        )


def _checked_filter(prefixes: Sequence[str] | None) -> list[str] | None:
    """Return the prefixes, each once; raise `BadRequest` for a prefix of no action."""
    if prefixes is None:
        return None
    if not 0 < len(prefixes) <= PREFIXES_MAX:
        raise BadRequest.of_field(
            "event_filter", Wording("Name 1 to %(maximum)s prefixes of actions, or leave it out.", maximum=PREFIXES_MAX)
        )
    actions = [str(action.value) for action in AuditAction]
    for prefix in prefixes:
        if not prefix or not any(action.startswith(prefix) for action in actions):
            raise BadRequest.of_field(
                "event_filter",
                Wording("No action begins with %(prefix)s. List them with audit-log/event-types.", prefix=repr(prefix)),
            )
    return list(dict.fromkeys(prefixes))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()
