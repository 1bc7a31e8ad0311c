"""Sending a test mail through the mail server of an organization, which happens between two transactions."""

from __future__ import annotations

from typing import Final

import trio

from core.lazy_dataclasses import dataclass
from core.mail.mail import MailDeferred, MailMessage, MailRefused, MailTemplate
from core.organizations.settings import smtp
from core.organizations.settings.smtp import PreparedTest
from core.wording import Wording
from entrypoints.web.serving.calls import Call

# Shorter than a request may take, and long enough for a slow mail server.
TEST_SECONDS_MAX: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MailTestOutcome:
    """Whether the mail server took the test mail, and what it answered, in English."""

    is_accepted: bool
    message: str


async def send_test(call: Call, slug: str, to: str) -> MailTestOutcome:
    """Send a test mail, record what the server said, and return it; raise `MailServerUnset` when there is none."""
    prepared = await call.transact(smtp.prepare_test, slug, to)
    outcome = await _outcome_of(call, prepared)
    await call.transact(smtp.record_test, prepared, is_accepted=outcome.is_accepted, answer=outcome.message)
    return outcome


async def _outcome_of(call: Call, prepared: PreparedTest) -> MailTestOutcome:
    installation = call.installation
    message = MailMessage(to=prepared.to, template=MailTemplate.TEST, values={}, language=call.origin.language)
    rendered = installation.mail_renderer.render(message)
    try:
        with trio.fail_after(TEST_SECONDS_MAX):
            answer = await installation.routing_gateway.send(
                prepared.organization_id, prepared.server, prepared.mail_id, prepared.to, rendered
            )
    except (MailRefused, MailDeferred) as failure:
        return MailTestOutcome(is_accepted=False, message=Wording.of(failure))
    except trio.TooSlowError:
        seconds = f"{TEST_SECONDS_MAX:.0f}"
        return MailTestOutcome(
            is_accepted=False,
            message=Wording("The mail server did not take the mail within %(seconds)s seconds.", seconds=seconds),
        )
    return MailTestOutcome(is_accepted=True, message=f"The mail server answered {answer}")
