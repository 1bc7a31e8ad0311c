"""A service provider made with python3-saml signs users in, refuses tampered answers, and logs out."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clock import SettableClock
from tests.pages.saml.peers import MEMBER, follow, metadata_of, next_address, query_of, service_of
from tests.peers import Peer, peer
from tests.service_provider import EMAIL_FORMAT, POST
from tests.world.saml import BASE_URL, SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor

REDIRECT = POST.replace("POST", "Redirect")


@dataclass
class Python3Saml:
    """The service provider: each step is a run of its program."""

    program: Peer
    service: SamlService
    metadata: str
    folder: Path

    def run(
        self, action: str, *, get: dict[str, str] | None = None, post: dict[str, str] | None = None, **more: Any
    ) -> Any:
        """Let it take a step, with the request of a browser."""
        sp = self.service.sp
        settings = {
            "strict": True,
            "sp": {
                "entityId": sp.entity_id,
                "assertionConsumerService": {"url": sp.acs_url, "binding": POST},
                "singleLogoutService": {"url": sp.slo_url, "binding": REDIRECT},
                "NameIDFormat": EMAIL_FORMAT,
                "x509cert": sp.key.certificate_pem,
                "privateKey": sp.key.private_pem,
            },
            "security": {
                "authnRequestsSigned": True,
                "logoutRequestSigned": True,
                "wantMessagesSigned": True,
                "wantAssertionsSigned": True,
                "wantAttributeStatement": True,
                "rejectDeprecatedAlgorithm": True,
                "signatureAlgorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
                "digestAlgorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
            },
        }
        request = {
            "https": "on",
            "http_host": "shop.acme.example",
            "script_name": "/acs" if action == "acs" else "/slo",
            "get_data": get or {},
            "post_data": post or {},
        }
        task = {"action": action, "settings": settings, "metadata": self.metadata, "request": request, **more}
        (self.folder / "task.json").write_text(json.dumps(task))
        done = self.program.run("python", str(self.program.files / "sp.py"), "task.json", folder=self.folder)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return json.loads(done.stdout)


@pytest.mark.long
async def test_it_signs_in_refuses_a_tampered_answer_and_logs_out(
    team: Team, saml: SamlWorld, visitor: Visitor, clock: SettableClock, tmp_path: Path
) -> None:
    service = await service_of(team, saml, clock)
    application = Python3Saml(peer("python3-saml"), service, await metadata_of(service), tmp_path)
    await visitor.sign_in(MEMBER)

    login = application.run("login")
    form = await follow(visitor, login["url"], BASE_URL)
    assert (form.action, form.fields["RelayState"]) == (service.sp.acs_url, "https://shop.acme.example/start")
    signed_in = application.run("acs", post=dict(form.fields), id=login["id"])
    evil = base64.b64encode(form.xml.replace(b"member@", b"owner@")).decode()
    tampered = application.run("acs", post={"SAMLResponse": evil}, id=login["id"])
    logout = application.run(
        "logout", name=signed_in["name"], index=signed_in["index"], format=signed_in["format"], id=None
    )
    answered = await visitor.send("GET", logout["url"].removeprefix(BASE_URL))
    logged_out = application.run("slo", get=query_of(answered.headers["Location"]), id=logout["id"])

    assert (signed_in["errors"], signed_in["is_authenticated"], signed_in["name"]) == ([], True, MEMBER)
    assert signed_in["attributes"] == {"mail": [MEMBER], "role": ["member"]}
    assert (tampered["is_authenticated"], tampered["errors"]) == (False, ["invalid_response"])
    assert (logged_out["errors"], logged_out["reason"]) == ([], None)
    assert (await visitor.send("GET", "/app/account")).status == 303


@pytest.mark.long
async def test_it_is_told_of_a_logout_and_answers(
    team: Team, saml: SamlWorld, visitor: Visitor, clock: SettableClock, tmp_path: Path
) -> None:
    service = await service_of(team, saml, clock)
    application = Python3Saml(peer("python3-saml"), service, await metadata_of(service), tmp_path)
    await visitor.sign_in(MEMBER)
    await follow(visitor, application.run("login")["url"], BASE_URL)

    first = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    told = await visitor.send("GET", first.headers["Location"])
    answer = application.run("slo", get=query_of(next_address(told)), id=None)
    last = await visitor.send("GET", answer["url"].removeprefix(BASE_URL))

    assert answer["errors"] == []
    assert (last.status, last.headers["Location"]) == (303, "/app/sign-out")
