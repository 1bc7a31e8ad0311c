"""The checks of `gatehouse doctor` on the servers in the settings, besides the database: mail, payments, and others.

All are tried at once, each for some seconds at most, by requests without an effect. Organizations' own receivers and
mail servers are not tried: the database shows what waits for them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import trio

from core.sign_in.upstream.providers import ExternalProvider
from entrypoints import clocks, equipment
from entrypoints.added_providers import SETTING
from entrypoints.operator.terminal import printable
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks
from entrypoints.shared.platform.checks import Finding
from entrypoints.shared.sign_in.upstream import upstream_providers
from entrypoints.upstream_settings import added_to, external_providers
from entrypoints.version import version

# Within the quarter of a minute after which operators think that a command hangs.
ASKED_SECONDS_MAX: Final = 8.0
# An answer that comes later is named.
SLOW_SECONDS: Final = 3.0
# Of the hosts that a resolver is asked for when the address of the installation has no name.
_NAME_OF_THIS_MACHINE: Final = "localhost"
# The path of OTLP where the setting names none, as the exporter has it.
_TRACES_PATH: Final = "/v1/traces"
_SUCCESS: Final = range(200, 300)
_SERVER_ERROR_MIN: Final = 500

MAIL_ADVICE: Final = (
    "Look at the server that GATEHOUSE_SMTP_URL names, and at firewalls between. See ops/runbooks/mail.md; what waits:"
    " `gatehouse mail list --state queued`."
)
BILLING_ADVICE: Final = "Nothing can be bought, and what is bought is not followed. See ops/runbooks/billing.md."
KEY_ADVICE: Final = (
    "Set GATEHOUSE_BILLING_SECRET_KEY to a key that is valid there and may read subscriptions, and restart. See"
    " ops/runbooks/billing.md."
)

BREACHED: Final = "breached passwords"
BREACHED_ADVICE: Final = (
    "Meanwhile passwords that have leaked can be set, and sign-ins do not mention them. Correct"
    " GATEHOUSE_BREACHED_PASSWORDS, or unset it. See ops/docs/passwords.md."
)

Check = Callable[[Settings], Awaitable[Finding | None]]


async def findings(settings: Settings, *, has_mail_server: bool) -> tuple[Finding | None, list[Finding]]:
    """Check every configured server; return the finding on the mail server, and on the others in their order.

    Without `has_mail_server` its address is not usable, and there is no finding on it.
    """
    found: dict[int, Finding | None] = {}

    async def run(number: int, check: Check) -> None:
        found[number] = await check(settings)

    every = [
        _mail if has_mail_server else _nothing,
        _billing,
        _name_server,
        _traces,
        _breached_passwords,
        *_providers(settings),
    ]
    async with trio.open_nursery() as nursery:
        for number, check in enumerate(every):
            nursery.start_soon(run, number, check)
    mail, *others = [found[number] for number in range(len(every))]
    return mail, [finding for finding in others if finding is not None]


async def _nothing(_settings: Settings) -> Finding | None:
    return None


async def _mail(settings: Settings) -> Finding | None:
    gateway = equipment.mail_gateway(settings, clocks.now)
    if gateway is None:
        return checks.mail(settings)
    began = trio.current_time()
    try:
        await gateway.check(seconds_max=ASKED_SECONDS_MAX)
    except equipment.MAIL_FAILURES as failure:
        return Finding("mail", False, printable(str(failure)), MAIL_ADVICE)
    what = f"the mail server answers{_slowness(began)}"
    return Finding("mail", True, what, "To test it, run `gatehouse doctor --mail-to ADDRESS`.")


async def _billing(settings: Settings) -> Finding | None:
    if settings.billing_secret_key is None:
        return None
    subject, began = "payment provider", trio.current_time()
    with trio.move_on_after(ASKED_SECONDS_MAX) as asked:
        problem = await equipment.billing_problem(settings, clocks.now)
        if problem is None:
            return Finding(subject, True, f"it answers, and takes the key{_slowness(began)}")
        return Finding(subject, False, problem, KEY_ADVICE if "key" in problem else BILLING_ADVICE)
    assert asked.cancelled_caught, "the time limit has not ended the request"
    return Finding(subject, False, _hangs(settings.billing_url), BILLING_ADVICE)


async def _name_server(settings: Settings) -> Finding | None:
    if settings.dns_server is None:
        return None
    server = f"{settings.dns_server.host}:{settings.dns_server.port}"
    host = urlsplit(settings.base_url).hostname or _NAME_OF_THIS_MACHINE
    records = None
    with trio.move_on_after(ASKED_SECONDS_MAX):
        records = await equipment.resolver(settings).txt_records(host)
    if records is not None:
        return Finding("name server", True, f"{server} answers")
    advice = (
        "Domains cannot be proved, and no webhook or SIEM is reached by its name. Correct GATEHOUSE_DNS_SERVER, or"
        " unset it to ask the name servers of the system. See ops/runbooks/webhooks.md."
    )
    return Finding("name server", False, f"{server} does not answer", advice)


async def _traces(settings: Settings) -> Finding | None:
    if settings.traces_url is None:
        return None
    url = settings.traces_url if urlsplit(settings.traces_url).path else f"{settings.traces_url}{_TRACES_PATH}"
    headers = {"Content-Type": "application/x-protobuf"}
    if settings.traces_authorization is not None:
        headers["Authorization"] = settings.traces_authorization.reveal()
    # A request without a body is one without spans.
    answer = await _asked(settings, "POST", url, headers)
    if isinstance(answer, int) and answer in _SUCCESS:
        return Finding("traces", True, "the collector answers")
    what = f"the collector answers with the status {answer}" if isinstance(answer, int) else answer
    advice = (
        "Spans are dropped meanwhile, and nothing waits for it. Check GATEHOUSE_TRACES_URL and"
        " GATEHOUSE_TRACES_AUTHORIZATION. See ops/runbooks/processes.md."
    )
    return Finding("traces", False, what, advice)


async def _breached_passwords(settings: Settings) -> Finding | None:
    if settings.breached_passwords is None:
        return None
    place, began, problem = str(settings.breached_passwords), trio.current_time(), None
    with trio.move_on_after(ASKED_SECONDS_MAX) as asked:
        problem = await equipment.breached_passwords_problem(settings, version=version())
    if asked.cancelled_caught:
        problem = f"there was no answer within {ASKED_SECONDS_MAX:.0f} s"
    if problem is None:
        verb = "can be searched" if isinstance(settings.breached_passwords, Path) else "answers"
        return Finding(BREACHED, True, f"{place} {verb}{_slowness(began)}")
    return Finding(BREACHED, False, f"{place}: {problem}", BREACHED_ADVICE)


def _providers(settings: Settings) -> Sequence[Check]:
    """Return a check for each external provider by which the platform lets users sign in."""

    def check_of(subject: str, url: str) -> Check:
        async def check(settings: Settings) -> Finding:
            # Without a code, so that it is refused: any answer but a failure of the server shows that it is there.
            answer = await _asked(settings, "GET", url)
            if isinstance(answer, int) and answer < _SERVER_ERROR_MIN:
                return Finding(subject, True, f"{urlsplit(url).hostname} answers")
            what = f"{url} answers with the status {answer}" if isinstance(answer, int) else answer
            return Finding(subject, False, what, "Its users cannot sign in by it. See ops/runbooks/locked-out.md.")

        return check

    documented = [
        check_of(provider.value, external.token_url)
        for provider, external in external_providers(settings).items()
        if external.client is not None and external.issuer is None
    ]
    return [*documented, *map(_check_of_added, added_to(settings))]


def _check_of_added(external: ExternalProvider) -> Check:
    """Return a check of the metadata of an added provider, its keys, and our credentials there."""
    name, issuer, client = external.provider.value, external.issuer, external.client
    assert issuer is not None, "a provider was added without an issuer"
    assert client is not None, "a provider was added without credentials"

    async def check(settings: Settings) -> Finding:
        with trio.move_on_after(ASKED_SECONDS_MAX):
            async with equipment.provider_gateway(settings, clocks.now, version=version()) as gateway:
                callback = f"{settings.base_url}/auth/{name}/callback"
                found = await upstream_providers.found_at(gateway, None, issuer, client, redirect_uri=callback)
            advice = f"Its users cannot sign in by it. Correct [{name}] of {SETTING}, if it is wrong, and restart."
            message = upstream_providers.as_answer(found).message
            return Finding(name, not found.prevents, message, advice if found.prevents else "")
        return Finding(name, False, _hangs(issuer), "Its users cannot sign in by it. See ops/runbooks/locked-out.md.")

    return check


async def _asked(settings: Settings, method: str, url: str, headers: dict[str, str] | None = None) -> int | str:
    """Return the status of an answer, or a sentence that says why there is none."""
    with trio.move_on_after(ASKED_SECONDS_MAX):
        return await equipment.http_status(settings, method, url, headers=headers)
    return _hangs(url)


def _hangs(url: str) -> str:
    return f"{urlsplit(url).netloc} hangs: there was no answer within {ASKED_SECONDS_MAX:.0f} s"


def _slowness(began: float) -> str:
    seconds = trio.current_time() - began
    return f", but slowly: after {seconds:.1f} s" if seconds > SLOW_SECONDS else ""
