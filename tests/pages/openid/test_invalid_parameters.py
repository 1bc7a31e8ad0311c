"""After a request with an invalid parameter, the page names the parameter, for the makers of the application."""

from __future__ import annotations

import pytest

from tests.shown_text import shows
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor

NUL = "%00"


async def test_the_page_names_the_parameter_and_no_mail(
    shop: RelyingParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    for path, problem in (
        (f"/auth/authorize?state={NUL}", "state: "),
        (f"/auth/logout?state={NUL}", "state: "),
        (f"/auth/codehost/callback?state={NUL}", "state: "),
        ("/auth/codehost?service=shop", "org: "),
        (
            "/auth/codehost?org=acme&service=shop&redirect_uri=https://elsewhere.example/",
            "Register exactly this address",
        ),
        (f"/saml/acme/shop/sso?SAMLRequest={NUL}", "SAMLRequest: "),
    ):
        with subtests.test(path=path, problem=problem):
            shown = await visitor.send("GET", path)

            assert shown.status == 400
            assert "tell its makers what is written here" in shown.text
            assert problem in shown.text
            assert not shows(shown.text, "mail")


async def test_a_program_gets_the_fields(shop: RelyingParty, visitor: Visitor) -> None:
    answer = await visitor.client.get(f"/auth/authorize?state={NUL}", headers={"Accept": "application/json"})

    assert [detail["field"] for detail in answer.json["details"]] == ["state"]
