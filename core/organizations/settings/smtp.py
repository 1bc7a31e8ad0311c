"""The mail server of an organization: set, tested, removed, and the notice to its owner when it stops working.

`core/mail/mail.py` decides which mails leave through it, `core/mail/routed_mail.py` when they are tried. The platform's
own server never takes over silently: waiting mails leave by it only after the organization has removed its server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import normalize_email
from core.errors import BadRequest, Conflict, FieldError, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import limits, mail, routed_mail
from core.mail.limits import MailLimit
from core.mail.mail import Mail, MailTemplate
from core.mail.routed_mail import FAILURES_BEFORE_NOTICE, LeasedServer, ServerHealth
from core.mail.servers import MailServer, TlsMode
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.outbound import Network, check_host
from core.secrets import Secret
from core.text import checked_name
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PORT_MAX: Final = 65535
HOST_CHARACTERS_MAX: Final = 253
USERNAME_CHARACTERS_MAX: Final = 320
PASSWORD_CHARACTERS_MAX: Final = 1000
# An encoded word (RFC 2047), which mail programs would decode inside a name.
_ENCODED_WORD: Final = "=?"


class MailServerUnset(NotFound):
    """The organization has no mail server of its own."""

    default_message = "This organization has no mail server of its own; its mail leaves by the platform's."


class MailServerChanged(Conflict):
    """Another person has changed the mail server since the caller saw it."""

    default_message = (
        "Another person has changed the mail server meanwhile. Check what is shown now, and send the form again if you"
        " still want it."
    )


class MailServerStatus(StrEnum):
    """Whether a mail server takes mail."""

    WORKING = "working"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServerTrial:
    """The last test of the settings of a mail server: when, whether it took the mail, and its answer."""

    tested_at: datetime
    is_accepted: bool
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredServer:
    """A mail server as it is stored, with its secret and its health; `trial` is None without a test."""

    server: MailServer
    health: ServerHealth
    trial: MailServerTrial | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServerSettings:
    """The mail server of an organization without its password, and whether it takes mail."""

    host: str
    port: int
    tls: TlsMode
    username: str | None
    has_password: bool
    from_name: str
    from_email: str
    status: MailServerStatus
    failing_since: datetime | None
    last_error: str | None
    next_attempt_at: datetime | None
    last_success_at: datetime | None
    last_tested_at: datetime | None
    last_test_accepted: bool | None
    last_test_answer: str | None
    waiting_mails: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedServer:
    """What an organization sets; without a password, the stored one is kept."""

    host: str
    port: int
    tls: TlsMode
    from_name: str
    from_email: str
    username: str | None = None
    password: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTest:
    """A test mail to send outside the transaction."""

    organization_id: UUID
    server: MailServer
    settings_at: datetime
    mail_id: UUID
    to: str


def show(uow: UnitOfWork, slug: str) -> MailServerSettings:
    """Return the mail server of an organization; raise `MailServerUnset` without one."""
    organization = authorize(uow, slug, Operation.MAIL_SERVER_READ).organization
    return _shown(uow, organization.id, _find(uow, organization.id))


def find(uow: UnitOfWork, slug: str) -> MailServerSettings | None:
    """Return the mail server of an organization; None without one."""
    organization = authorize(uow, slug, Operation.MAIL_SERVER_READ).organization
    stored = uow.mail_servers.find(organization.id)
    return _shown(uow, organization.id, stored) if stored is not None else None


def seen_state_of(shown: MailServerSettings | StoredServer | None) -> str:
    """Return a text that is another one after each change of the settings."""
    return shown.updated_at.isoformat() if shown is not None else "none"


def configure(
    uow: UnitOfWork, slug: str, wanted: WantedServer, *, allowed: Iterable[Network], seen_state: str | None = None
) -> MailServerSettings:
    """Set the mail server; waiting mails are tried again at once.

    Raise `MailServerChanged` when its state is not `seen_state`, which the caller has seen.
    """
    organization = authorize_and_lock(uow, slug, Operation.MAIL_SERVER_SET).organization
    before = uow.mail_servers.find(organization.id)
    server = _checked(uow, wanted, before.server if before is not None else None, allowed)
    _require_seen(before, seen_state)
    uow.mail_servers.save(organization.id, server)
    uow.routed_mail.reroute(organization.id, has_server=True)
    uow.record(
        AuditAction.ORGANIZATION_SMTP_CONFIGURED,
        organization.id,
        organization_id=organization.id,
        host=server.host,
        port=server.port,
        tls=server.tls.value,
        username=server.username,
        from_name=server.from_name,
        from_email=server.from_email,
    )
    return _shown(uow, organization.id, _find(uow, organization.id))


def remove(uow: UnitOfWork, slug: str, *, seen_state: str | None = None) -> None:
    """Remove the mail server; waiting mails leave by the platform's own.

    Raise `MailServerChanged` when its state is not `seen_state`, which the caller has seen.
    """
    organization = authorize_and_lock(uow, slug, Operation.MAIL_SERVER_CHANGE).organization
    removed = uow.mail_servers.find(organization.id)
    if removed is None:
        raise MailServerUnset
    _require_seen(removed, seen_state)
    # First the server: that waits for transactions that route a mail to it, so that their mails are found next.
    uow.mail_servers.remove(organization.id)
    uow.routed_mail.reroute(organization.id, has_server=False)
    uow.record(
        AuditAction.ORGANIZATION_SMTP_REMOVED,
        organization.id,
        organization_id=organization.id,
        host=removed.server.host,
    )


def prepare_test(uow: UnitOfWork, slug: str, to: str) -> PreparedTest:
    """Return a test mail and record it; it counts towards the limit of the organization. Raise `MailServerUnset`."""
    organization = authorize(uow, slug, Operation.MAIL_SERVER_CHANGE).organization
    recipient = normalize_email(to, uow.domain_names.to_ascii, field="to")
    stored = _find(uow, organization.id)
    limits.admits(uow, (MailLimit.SERVER_TESTS_OF_ORGANIZATION,), MailTemplate.TEST, recipient, organization.id)
    uow.record(
        AuditAction.ORGANIZATION_SMTP_TESTED,
        organization.id,
        organization_id=organization.id,
        audit_only={"to": recipient},
        host=stored.server.host,
    )
    return PreparedTest(
        organization_id=organization.id,
        server=stored.server,
        settings_at=stored.updated_at,
        mail_id=uow.randomness.new_id(),
        to=recipient,
    )


def record_test(uow: UnitOfWork, test: PreparedTest, *, is_accepted: bool, answer: str) -> None:
    """Record what a test found, unless the settings were changed since; waiting mails go to a server that works."""
    trial = MailServerTrial(tested_at=uow.now, is_accepted=is_accepted, answer=routed_mail.kept_answer(answer))
    uow.mail_servers.save_trial(test.organization_id, trial, settings_at=test.settings_at)
    if is_accepted:
        uow.mail_servers.mark_working(test.organization_id, settings_at=test.settings_at)


def record_failure(uow: UnitOfWork, leased: LeasedServer, error: str, unsent: Sequence[Mail]) -> None:
    """Record that a leased mail server takes no mail, end its lease, and tell the owner once when that goes on.

    `unsent` are its mails without an attempt, and the one that showed the failure.
    """
    health = leased.health.failed(error, at=uow.now)
    if uow.routed_mail.save_health(leased, health) and health.failures == FAILURES_BEFORE_NOTICE:
        owner = uow.mail_servers.owner_contact(leased.organization_id)
        mail.send(
            uow,
            owner.email,
            MailTemplate.MAIL_SERVER_FAILING,
            organization_id=leased.organization_id,
            organization=owner.organization_name,
            server=f"{leased.server.host}:{leased.server.port}",
            reason=health.last_error or "",
        )
    routed_mail.return_unsent(uow, leased, unsent)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerContact:
    """The owner to tell about an organization, and its name."""

    email: str
    organization_name: str


def _require_seen(stored: StoredServer | None, seen_state: str | None) -> None:
    if seen_state not in {None, seen_state_of(stored)}:
        raise MailServerChanged


def _find(uow: UnitOfWork, organization_id: UUID) -> StoredServer:
    stored = uow.mail_servers.find(organization_id)
    if stored is None:
        raise MailServerUnset
    return stored


def _shown(uow: UnitOfWork, organization_id: UUID, stored: StoredServer) -> MailServerSettings:
    server, health, trial = stored.server, stored.health, stored.trial
    return MailServerSettings(
        host=server.host,
        port=server.port,
        tls=server.tls,
        username=server.username,
        has_password=server.password is not None,
        from_name=server.from_name,
        from_email=server.from_email,
        status=MailServerStatus.FAILING if health.failures else MailServerStatus.WORKING,
        failing_since=health.failing_since,
        last_error=health.last_error,
        next_attempt_at=health.next_attempt_at,
        last_success_at=health.last_success_at,
        last_tested_at=trial.tested_at if trial is not None else None,
        last_test_accepted=trial.is_accepted if trial is not None else None,
        last_test_answer=trial.answer if trial is not None else None,
        waiting_mails=uow.routed_mail.count(organization_id),
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def _checked(
    uow: UnitOfWork, wanted: WantedServer, stored: MailServer | None, allowed: Iterable[Network]
) -> MailServer:
    (host, port), (from_name, from_email), password = all_valid(
        lambda: all_valid(lambda: _checked_host(wanted.host, allowed), lambda: _checked_port(wanted.port)),
        lambda: all_valid(
            lambda: _checked_from_name(wanted.from_name),
            lambda: _checked_from_email(uow, wanted.from_email),
        ),
        lambda: _checked_password(wanted, stored),
    )
    return MailServer(
        host=host,
        port=port,
        tls=wanted.tls,
        username=wanted.username,
        password=password,
        from_name=from_name,
        from_email=from_email,
    )


def _checked_host(text: str, allowed: Iterable[Network]) -> str:
    host = text.strip().lower()
    if len(host) > HOST_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "host", Wording("The name of a host has at most %(maximum)s characters.", maximum=HOST_CHARACTERS_MAX)
        )
    check_host(host, allowed, field="host")
    return host


def _checked_port(port: int) -> int:
    if not 1 <= port <= PORT_MAX:
        raise BadRequest.of_field("port", Wording("A port is a number from 1 to %(maximum)s.", maximum=PORT_MAX))
    return port


def _checked_from_name(text: str) -> str:
    name = checked_name(text, characters_min=1, field="from_name")
    if _ENCODED_WORD in name:
        raise BadRequest.of_field(
            "from_name", Wording("The name of a sender cannot contain %(word)s.", word=_ENCODED_WORD)
        )
    return name


def _checked_from_email(uow: UnitOfWork, text: str) -> str:
    address = normalize_email(text, uow.domain_names.to_ascii, field="from_email")
    if not address.isascii() or _ENCODED_WORD in address:
        raise BadRequest.of_field(
            "from_email", "The address of a sender has ASCII characters only, because few mail servers accept others."
        )
    return address


def _checked_password(wanted: WantedServer, stored: MailServer | None) -> Secret | None:
    """Return the password of the login, the given one or the stored one, or None without a login."""
    if wanted.username is None:
        if wanted.password is not None:
            raise BadRequest.of_field("username", "A login needs both a user name and a password.")
        return None
    if wanted.tls is TlsMode.NONE:
        raise BadRequest.of_field("tls", "A login needs encryption: choose starttls or tls.")
    password = wanted.password
    # The stored password goes only to its own server: a member who sets another server must not get it.
    if password is None and stored is not None and _destination(wanted) == _destination(stored):
        password = stored.password
    if password is None:
        raise BadRequest.of_field("password", "Send the password too, because the server or the login has changed.")
    _check_login(wanted.username, password.reveal())
    return password


def _check_login(username: str, password: str) -> None:
    problems = [
        FieldError(
            field=field,
            message=Wording("This has 1 to %(maximum)s printable ASCII characters.", maximum=characters_max),
        )
        for field, value, characters_max in (
            ("username", username, USERNAME_CHARACTERS_MAX),
            ("password", password, PASSWORD_CHARACTERS_MAX),
        )
        if not 1 <= len(value) <= characters_max or not value.isascii() or not value.isprintable()
    ]
    if problems:
        raise BadRequest.of_fields(problems)


def _destination(server: WantedServer | MailServer) -> tuple[str, int, TlsMode, str | None]:
    return server.host.strip().lower(), server.port, server.tls, server.username
