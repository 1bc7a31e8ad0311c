"""The pages of a setup link, as the IT staff of a customer use them to connect their identity provider."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

import httpx

from gatehouse_client.testing.pages import ACTION, STEPS_MAX, onward, submitted
from gatehouse_client.testing.providers import IdentityProvider
from gatehouse_client.testing.requests import KitFailed

UPSTREAM: Final = "/app/setup/parts/upstream"
MAIL_DOMAINS: Final = "/app/setup/parts/mail-domains"
_VERIFY: Final = re.compile(rf'action="({MAIL_DOMAINS}/[0-9a-f-]+/verify)"')


def begin(browser: httpx.Client, link: str) -> None:
    """Open a setup link and press its button; the browser has its cookie then."""
    _require_no_refusal(submitted(browser, browser.get(link), urlsplit(link).path))


def connect(
    browser: httpx.Client, base_url: str, provider: IdentityProvider, kind: str, fields: Mapping[str, str], tester: str
) -> str:
    """Connect a provider, try it as a person of its, and switch it on; return the id of the connection.

    `kind` is what the pages call it, such as `okta` or `entra-saml`.
    """
    page = browser.get(f"{base_url}{UPSTREAM}", params={"provider": kind})
    page = _require_no_refusal(submitted(browser, page, UPSTREAM, **fields))
    path = page.url.path
    if "metadata_xml" in fields:
        # By SAML the connection gets its name first.
        page = _require_no_refusal(submitted(browser, page, path, **fields))
    provider.sign_in_as(tester)
    page = _returned(browser, submitted(browser, page, f"{path}/trial"), provider)
    page = _require_no_refusal(submitted(browser, page, f"{path}/enabling"))
    return path.rpartition("/")[2]


def prove_domain(
    browser: httpx.Client, base_url: str, domain: str, connection_id: str, publish: Callable[[], None]
) -> None:
    """Claim a mail domain for a connection, let its record be published, and have it checked."""
    address = f"{base_url}{MAIL_DOMAINS}"
    page = submitted(browser, browser.get(address), MAIL_DOMAINS, domain=domain, provider_id=connection_id)
    _require_no_refusal(page)
    publish()
    page = browser.get(address)
    for path in _VERIFY.findall(page.text):
        _require_no_refusal(submitted(browser, page, path))


def _returned(browser: httpx.Client, page: httpx.Response, provider: IdentityProvider) -> httpx.Response:
    """Return the page to which a sign-in at a provider leads back, where the browser has a session."""
    for _ in range(STEPS_MAX):
        if (address := onward(page)) is not None:
            page = browser.get(address)
        elif str(page.url).startswith(provider.base_url) and (found := ACTION.search(page.text)) is not None:
            # The form of SAML, which a script would send.
            action = urlsplit(html.unescape(found[1])).path
            page = submitted(browser, page, action, origin=provider.base_url)
        else:
            break
    return page


def _require_no_refusal(page: httpx.Response) -> httpx.Response:
    if page.is_error:
        raise KitFailed(f"the page of a setup link answered {page.status_code}: {page.url}\n{page.text}")
    return page
