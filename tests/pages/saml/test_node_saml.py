"""A service provider made with node-saml signs users in, refuses tampered answers, and logs out."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.clock import SettableClock
from tests.pages.saml.peers import MEMBER, follow, next_address, query_of, service_of
from tests.peers import RUN_SECONDS_MAX, Peer, peer
from tests.service_provider import EMAIL_FORMAT, posted_form
from tests.world.saml import BASE_URL, SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="node-saml needs Node.js"),
]


@dataclass
class NodeSaml:
    """The service provider: each step is a run of its program."""

    program: Peer
    service: SamlService
    folder: Path
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def run(self, action: str, **more: Any) -> Any:
        """Let it take a step."""
        sp = self.service.sp
        options = {
            "issuer": sp.entity_id,
            "callbackUrl": sp.acs_url,
            "logoutCallbackUrl": sp.slo_url,
            "entryPoint": f"{sp.idp}/sso",
            "logoutUrl": f"{sp.idp}/slo",
            "idpIssuer": sp.idp,
            "idpCert": self.service.key.certificate_pem,
            "privateKey": sp.key.private_pem,
            "publicCert": sp.key.certificate_pem,
            "signatureAlgorithm": "sha256",
            "digestAlgorithm": "sha256",
            "identifierFormat": EMAIL_FORMAT,
            "wantAssertionsSigned": True,
            "wantAuthnResponseSigned": True,
            "validateInResponseTo": "always",
            "audience": sp.entity_id,
        }
        modules = str(self.program.programs.parent / "modules.js")
        task = {"action": action, "options": options, "ids": self.ids, "modules": modules, **more}
        (self.folder / "task.json").write_text(json.dumps(task))
        done = subprocess.run(
            ["node", str(self.program.files / "sp.mjs"), "task.json"],
            check=False,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
        )
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        self.ids = result.pop("ids")
        return result


@pytest.fixture
async def application(team: Team, saml: SamlWorld, clock: SettableClock, tmp_path: Path) -> NodeSaml:
    """The service provider."""
    return NodeSaml(peer("node-saml"), await service_of(team, saml, clock), tmp_path)


async def test_it_signs_in_by_redirect_refuses_a_tampered_answer_and_logs_out(
    application: NodeSaml, visitor: Visitor
) -> None:
    await visitor.sign_in(MEMBER)

    login = application.run("login", relayState="/start")
    waiting = dict(application.ids)
    form = await follow(visitor, login["url"], BASE_URL)
    evil = base64.b64encode(form.xml.replace(b"member@", b"owner@")).decode()
    tampered = application.run("acs", fields={"SAMLResponse": evil})
    application.ids = waiting
    signed_in = application.run("acs", fields=dict(form.fields))
    replayed = application.run("acs", fields=dict(form.fields))
    logout = application.run("logout", profile=signed_in["profile"])
    answered = await visitor.send("GET", logout["url"].removeprefix(BASE_URL))
    target = answered.headers["Location"]
    logged_out = application.run("slo", fields=query_of(target), query=urlsplit(target).query)

    assert form.fields["RelayState"] == "/start"
    assert tampered["error"] == "Invalid document signature"
    assert signed_in["profile"]["nameID"] == MEMBER
    assert signed_in["profile"]["attributes"] == {"mail": MEMBER, "role": "member"}
    assert "InResponseTo" in replayed["error"]
    assert logged_out == {"profile": None, "loggedOut": True}
    assert (await visitor.send("GET", "/app/account")).status == 303


async def test_it_signs_in_by_post(application: NodeSaml, visitor: Visitor) -> None:
    await visitor.sign_in(MEMBER)
    request = posted_form(application.run("form", relayState="r")["page"])
    assert request.action == f"{application.service.sp.idp}/sso"

    posted = await application.service.post_form(visitor, "sso", urlencode(request.fields).encode())
    form = posted_form((await visitor.open(posted.headers["Location"])).text)
    signed_in = application.run("acs", fields=dict(form.fields))

    assert signed_in["profile"]["nameID"] == MEMBER


async def test_it_is_told_of_a_logout_and_answers(application: NodeSaml, visitor: Visitor) -> None:
    await visitor.sign_in(MEMBER)
    await follow(visitor, application.run("login", relayState="")["url"], BASE_URL)

    first = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    told = await visitor.send("GET", first.headers["Location"])
    target = next_address(told)
    asked = application.run("slo", fields=query_of(target), query=urlsplit(target).query)
    answer = application.run("answer", profile=asked["profile"], relayState=query_of(target)["RelayState"])
    last = await visitor.send("GET", answer["url"].removeprefix(BASE_URL))

    assert (asked["loggedOut"], asked["profile"]["nameID"]) == (True, MEMBER)
    assert (last.status, last.headers["Location"]) == (303, "/app/sign-out")


async def test_its_metadata_are_imported(application: NodeSaml, team: Team) -> None:
    document = application.run("metadata")["metadata"]

    answer = await team.request("owner", "POST", "/services/shop/saml/metadata", body={"metadata": document})

    assert answer.status == 200, answer.text
    sp = application.service.sp
    assert (answer.json["entity_id"], answer.json["acs_url"]) == (sp.entity_id, sp.acs_url)
