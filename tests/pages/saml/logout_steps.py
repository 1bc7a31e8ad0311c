"""The steps of a logout that tests take with a browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.application import Answer
from tests.pages.saml.peers import next_address
from tests.service_provider import NAMESPACES, PostedForm, inflated
from tests.world.saml import SamlService
from tests.world.visitor import Visitor


def index_of(form: PostedForm) -> str:
    [index] = form.texts("//saml:AuthnStatement/@SessionIndex")
    return index


def redirected_to(answer: Answer, address: str, name: str) -> Any:
    """Return the message with which a browser is redirected to that address."""
    target = next_address(answer)
    assert target.startswith(f"{address}?"), target
    return inflated(parse_qs(urlsplit(target).query)[name][0])


def relay_state_of(answer: Answer) -> str:
    return parse_qs(urlsplit(next_address(answer)).query)["RelayState"][0]


def statuses(message: Any) -> list[str]:
    values = message.xpath("//samlp:StatusCode/@Value", namespaces=NAMESPACES)
    return [value.rpartition(":")[2] for value in values]


async def send(browser: Visitor, service: SamlService, message: str, *, is_signed: bool = False, **options: Any) -> Any:
    key = service.sp.key if is_signed else None
    return await browser.send("GET", f"{service.path}/slo?{service.sp.query(message, key=key, **options)}")


async def is_signed_in(browser: Visitor) -> bool:
    return (await browser.send("GET", "/app/account")).status == 200
