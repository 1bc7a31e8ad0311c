"""Pages by which a browser carries a message to a service provider, and the key by which a browser is known again."""

from typing import Final

from quart import Response

from core.errors import Refusal
from core.organizations.session_strength import SecondFactorRequired
from core.saml.answers import ResponseToPost
from core.saml.messages import RELAY_STATE_CHARACTERS_MAX, EncodedMessage, MessageRefused, OutgoingMessage, SamlBinding
from core.saml.requests import LIFETIME
from core.secrets import Secret
from core.sign_in.admission import ServiceNotOpenToUser
from core.sign_in.customer_choices import NoCustomerYet
from core.sign_in.reasons import NotAdmitted
from entrypoints.pages.frame.brands import Brand
from entrypoints.pages.frame.languages import language_of, translated
from entrypoints.pages.frame.next_steps import next_steps
from entrypoints.pages.frame.redirects import open_to_other_sites, posting_page
from entrypoints.pages.frame.refusals import message_on_page
from entrypoints.pages.frame.rendering import page
from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.serving.admission.browsers import cookie_name
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

# Binds what is under way to the browser in which it began.
KEY_COOKIE: Final = "gatehouse_saml"
KEY_CHARACTERS_MAX: Final = 100
# What its user can do something about here.
_WITH_STEPS: Final = (SecondFactorRequired, NoCustomerYet)


def carry_answer(call: Call, answer: ResponseToPost, value: str, brand: Brand | None) -> Response:
    """Return the page that posts an answer; with a problem its user reads that first, and presses the button."""
    message = OutgoingMessage(
        binding=SamlBinding.POST,
        url=answer.response.destination,
        parameter="SAMLResponse",
        value=value,
        relay_state=answer.relay_state,
    )
    if answer.problem is None:
        return posting_page(call, message, answer.service_name)
    heading, text = _explanation(call, answer, answer.problem)
    return open_to_other_sites(
        page(
            call,
            "saml/messages_denied.html",
            status=answer.problem.code.status,
            message=message,
            place=answer.service_name,
            heading=heading,
            text=text,
            brand=brand,
            steps=next_steps(call, answer.problem) if isinstance(answer.problem, _WITH_STEPS) else (),
            request_id=call.request_id,
        )
    )


def _explanation(call: Call, answer: ResponseToPost, problem: Refusal) -> tuple[str, str]:
    """Return the heading and the text that tell a user why they are not signed in."""
    if isinstance(problem, (NotAdmitted, ServiceNotOpenToUser)):
        return (
            translated(call, "Your account cannot use %(service)s", service=answer.service_name),
            translated(
                call,
                "It is for people that %(organization)s has given access. Ask an administrator of %(organization)s.",
                organization=answer.organization_name,
            ),
        )
    heading, _, text = language_of(call).known(message_on_page(problem)).partition(". ")
    return heading, text


def carry(call: Call, message: OutgoingMessage) -> Response:
    """Return the redirect or the page that carries a message about a logout."""
    return see_other(message.url) if message.binding is SamlBinding.REDIRECT else posting_page(call, message, "")


def begin_to_carry(call: Call, message: OutgoingMessage) -> Response:
    """Return the page that carries the first message after a form of ours was sent.

    Browsers apply the policy of a form's page to all redirects that follow it, so here they end.
    """
    if message.binding is SamlBinding.POST:
        return carry(call, message)
    response = page(call, "saml/messages_redirect.html", url=message.url)
    response.headers["Refresh"] = f"0; url={message.url}"
    return response


def browser_key(call: Call) -> Secret | None:
    """Return the key of the browser; None when it has none."""
    value = cookie_of(call.request, cookie_name(call, KEY_COOKIE))
    return Secret(value) if value and len(value) <= KEY_CHARACTERS_MAX else None


def keep_browser_key(call: Call, key: Secret) -> None:
    """Give the browser its key, for as long as what is under way may last."""
    call.set_cookie(cookie_name(call, KEY_COOKIE), key.reveal(), lifetime=LIFETIME)


def encoded(
    binding: SamlBinding, request: str, response: str, relay_state: str | None, query: bytes = b""
) -> EncodedMessage:
    """Return the message of a query or a form; raise `MessageRefused` for none, two, or too long a relay state."""
    if bool(request) == bool(response):
        raise MessageRefused("It is missing, or there are two.")
    if relay_state is not None and len(relay_state) > RELAY_STATE_CHARACTERS_MAX:
        raise MessageRefused("Its RelayState is too long.")
    return EncodedMessage(
        binding=binding,
        value=request or response,
        is_response=bool(response),
        relay_state=relay_state,
        query=query,
    )
