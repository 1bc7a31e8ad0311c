"""The steps from a connection to people who sign in by it, as the console and the pages of a setup link show them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.domain_proofs import ProofStatus
from core.sign_in.upstream.configuring import ConfiguredConnection, ConnectionState
from core.sign_in.upstream.domains.domain_routes import DomainRoute
from core.sign_in.upstream.trials.trial_judgements import TrialJudgement, TrialVerdict
from core.wording import Wording
from entrypoints.pages.console.frame import page_of
from entrypoints.pages.console.setup_steps import SetupStep
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.organizations.setup import FAILING, IN_USE

# Refusals because of the address: the test has reached a person, and found what is missing.
_REFUSED: Final = frozenset({TrialVerdict.NO_ADDRESS, TrialVerdict.FOREIGN_DOMAIN, TrialVerdict.DOMAIN_PENDING})
CONNECT: Final = marked("Connect your provider")
DOMAIN: Final = marked("Prove your mail domain")
TEST: Final = marked("Test it by a real sign-in")
LIVE: Final = marked("Go live")
REQUIRE: Final = marked("Require it for the mail domain")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAddresses:
    """Where each step is done; an empty one cannot be done by the reader."""

    provider: str
    domains: str
    test: str
    live: str
    require: str = ""


def page_of_connection(slug: str, connection_id: UUID) -> str:
    """Return the address of a connection's page in the console."""
    return f"{page_of(slug)}/sign-in/connections/{connection_id}"


def addresses_in_console(slug: str, found: ConfiguredConnection) -> StepAddresses:
    """Return where the reader of a connection's page does each step."""
    page, domains = page_of_connection(slug, found.state.connection.id), f"{page_of(slug)}/sign-in/mail-domains"
    if found.domains:
        domains = f"{domains}/{found.domains[0].id}"
    test = f"{page}/trial" if found.state.trial is not None else f"{page}#test"
    return StepAddresses(
        provider=f"{page}#provider", domains=domains, test=test, live=f"{page}/enabling", require=domains
    )


def steps_without_connection(choice: str) -> Sequence[SetupStep]:
    """Return the steps before there is a connection; at `choice`, the provider is chosen."""
    waiting = marked("Connect your provider first.")
    return [
        SetupStep(
            title=CONNECT,
            text=marked("Choose your provider. Then the page shows what to enter there, and what to copy from there."),
            is_done=False,
            action=marked("Choose the provider"),
            address=choice,
        ),
        *(SetupStep(title=title, text=waiting, is_done=False) for title in (DOMAIN, TEST, LIVE)),
    ]


def steps_of(
    state: ConnectionState, judgement: TrialJudgement | None, domains: Sequence[DomainRoute], addresses: StepAddresses
) -> Sequence[SetupStep]:
    """Return the steps of a connection."""
    return [
        _connect(state, addresses.provider),
        _prove(domains, addresses.domains),
        _test(state, judgement, addresses.test),
        _live(state, addresses.live),
        *([_require(domains, addresses.require)] if addresses.require else []),
    ]


def _connect(state: ConnectionState, address: str) -> SetupStep:
    connection, problem = state.connection, state.progress.problem
    is_wrong = state.progress.checked_at is not None and problem is not None and problem.prevents
    if connection.issuer is None:
        text = marked("The metadata of your identity provider are missing. Enter ours there, and theirs here.")
    elif is_wrong:
        text = marked("The last check of the provider found a problem. The page says which, and what to do.")
    elif state.progress.checked_at is not None:
        text = Wording(marked("Asked on %(time)s, and no problem was found."), time=state.progress.checked_at)
    else:
        text = marked("It is saved, and the provider was not asked about it since.")
    is_done = connection.issuer is not None and not is_wrong
    action = marked("Open") if is_done else marked("Follow the steps")
    return SetupStep(
        title=CONNECT, text=text, names=(connection.name,), is_done=is_done, action=action, address=address
    )


def _prove(domains: Sequence[DomainRoute], address: str) -> SetupStep:
    proved = tuple(one.domain for one in domains if one.status is not ProofStatus.PENDING)
    lost = tuple(one.domain for one in domains if one.status is ProofStatus.FAILING)
    pending = tuple(one.domain for one in domains if one.status is ProofStatus.PENDING)
    if lost:
        text, names = marked("The TXT record is gone. Publish it again, or the domain stops to count:"), lost
    elif proved:
        text, names = marked("Proved:"), proved
    elif pending:
        text, names = marked("Publish the TXT record in the name servers, then have it checked:"), pending
    else:
        text, names = marked("The connection signs in addresses of proved mail domains only. None is added yet."), ()
    action = marked("Check the TXT record") if lost or (pending and not proved) else marked("Add a mail domain")
    return SetupStep(
        title=DOMAIN,
        text=text,
        names=names,
        is_done=bool(proved) and not lost,
        action=marked("Open") if proved and not lost else action,
        address=address,
    )


def _test(state: ConnectionState, judgement: TrialJudgement | None, address: str) -> SetupStep:
    is_refused = judgement is not None and judgement.verdict in _REFUSED
    has_signed_in = state.connection.enabled and state.progress.last_sign_in_at is not None
    is_done = (state.is_tried and not is_refused) or has_signed_in
    if state.connection.issuer is None:
        return SetupStep(title=TEST, text=marked("Connect your provider first."), is_done=False)
    if state.is_tried and is_refused:
        text = marked("The test worked, but the person would not be let in. Its result says why, and what to do.")
    elif state.is_tried:
        text = marked("The last test sign-in succeeded.")
    elif has_signed_in:
        text = marked("People have signed in by it.")
    elif state.trial is None:
        text = marked("Sign in at the provider once, as your people do. It begins no session, and shows what arrives.")
    elif state.trial.answer.problem is not None:
        text = marked("The last test failed. Its result says why, and what to do.")
    else:
        text = marked("The connection has changed since the test. Test it again.")
    action = marked("Open") if is_done else marked("Test it") if state.trial is None else marked("See the test")
    return SetupStep(title=TEST, text=text, is_done=is_done, action=action, address=address)


def _live(state: ConnectionState, address: str) -> SetupStep:
    progress = state.progress
    if state.connection.enabled:
        text, badge = marked("The connection is on: people can sign in by it."), None
        if progress.failing_since is not None:
            text, badge = Wording(FAILING, time=progress.failing_since), ("bad", marked("Failing"))
        elif progress.last_sign_in_at is not None:
            text, badge = Wording(IN_USE, time=progress.last_sign_in_at), ("good", marked("In use"))
        is_done = progress.failing_since is None
        return SetupStep(title=LIVE, text=text, is_done=is_done, action=marked("Open"), address=address, badge=badge)
    if not state.is_tried:
        return SetupStep(
            title=LIVE, text=marked("The connection is off until a test sign-in has succeeded."), is_done=False
        )
    if not address:
        return SetupStep(
            title=LIVE,
            text=marked("A member of the organization switches it on. Tell the person who sent you the link."),
            is_done=False,
        )
    return SetupStep(
        title=LIVE,
        text=marked("It is tested. Switch it on, so that people can sign in by it."),
        is_done=False,
        action=marked("Switch it on"),
        address=address,
    )


def _require(domains: Sequence[DomainRoute], address: str) -> SetupStep:
    required = tuple(one.domain for one in domains if one.enforced and one.status is not ProofStatus.PENDING)
    if required:
        text = marked("The addresses of these domains sign in by it alone:")
    else:
        text = marked("Until it is required, people of the mail domain may also sign in as before.")
    return SetupStep(
        title=REQUIRE,
        text=text,
        names=required,
        is_done=bool(required),
        action=marked("Open") if required else marked("Require it"),
        address=address,
        is_optional=True,
    )
