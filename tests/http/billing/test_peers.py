"""The libraries of the provider: they sign what we accept, and accept what the sandbox signs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from core.billing import signatures
from tests.application import BILLING_WEBHOOK_SECRET
from tests.peers import peer
from tests.world.billing import Seller

pytestmark = pytest.mark.long

PYTHON_SIGNS = """
import os, stripe
timestamp, body, secret = os.environ["AT"], os.environ["BODY"], os.environ["SECRET"]
signature = stripe.WebhookSignature._compute_signature(f"{timestamp}.{body}", secret)
print(f"t={timestamp},v1={signature}")
"""
PYTHON_VERIFIES = """
import os, stripe
event = stripe.Webhook.construct_event(os.environ["BODY"], os.environ["HEADER"], os.environ["SECRET"], tolerance=None)
print(event["id"])
"""
NODE_SIGNS = """
const {default: Stripe} = await import("stripe");
const {AT, BODY, SECRET} = process.env;
const webhooks = new Stripe("sk_test_1").webhooks;
console.log(webhooks.generateTestHeaderString({timestamp: Number(AT), payload: BODY, secret: SECRET}));
"""


def node(folder: Path, script: str, environment: dict[str, str]) -> str:
    """Run a script of Node beside the installed packages."""
    file = folder / "script.mjs"
    file.write_text(script)
    done = subprocess.run(
        ["node", str(file)], capture_output=True, text=True, check=False, timeout=60, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


async def test_the_provider_s_library_for_python_signs_what_we_accept(seller: Seller, tmp_path: Path) -> None:
    body = json.dumps(seller.event("charge.succeeded", {"id": "ch_1", "description": "Größe ☃"}), ensure_ascii=False)
    environment = {"AT": str(seller.at), "BODY": body, "SECRET": BILLING_WEBHOOK_SECRET.reveal()}

    signed = peer("stripe-python").run("python", "-c", PYTHON_SIGNS, folder=tmp_path, environment=environment)

    answer = await seller.send_raw(body.encode(), header=signed.stdout.strip())
    assert answer.status == 200, signed.stderr + answer.text


async def test_the_provider_s_library_for_python_accepts_what_the_sandbox_signs(seller: Seller, tmp_path: Path) -> None:
    body = json.dumps(seller.event("charge.succeeded", {"id": "ch_1", "object": "charge"}))
    header = signatures.header_of(body.encode(), BILLING_WEBHOOK_SECRET, at=seller.world.clock())
    environment = {"HEADER": header, "BODY": body, "SECRET": BILLING_WEBHOOK_SECRET.reveal()}

    verified = peer("stripe-python").run("python", "-c", PYTHON_VERIFIES, folder=tmp_path, environment=environment)

    assert verified.stdout.strip() == "evt_1", verified.stderr


async def test_the_provider_s_library_for_node_signs_what_we_accept(seller: Seller) -> None:
    body = json.dumps(seller.event("charge.succeeded", {"id": "ch_1"}))
    environment = {"AT": str(seller.at), "BODY": body, "SECRET": BILLING_WEBHOOK_SECRET.reveal()}

    header = node(peer("stripe-node").programs.parent, NODE_SIGNS, environment)

    assert (await seller.send_raw(body.encode(), header=header)).status == 200
