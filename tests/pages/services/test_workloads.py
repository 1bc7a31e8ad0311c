"""The pages on which a program is allowed to authenticate without a secret, and which say why it was refused."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import pytest

from entrypoints.pages.services.workload_rules import PRESETS
from tests.application import Answer
from tests.world.organization_keys import insert_organization_key
from tests.world.team import Team
from tests.world.visitor import FORM, Visitor, forms_of
from tests.world.workload_issuer import WorkloadIssuer, ask, running_issuer
from tests.world.world import World

PAGE = "/app/organizations/acme/services/shop/workloads"
CLAIMS = {
    "github": {"repository_id": "74", "environment": "production"},
    "gitlab": {"project_id": "20", "ref": "main"},
    "kubernetes": {"sub": "system:serviceaccount:shop:till", "kubernetes.io/serviceaccount/uid": "14ee"},
    "entra": {"tid": "a6b6", "oid": "bb4a"},
    "google": {"sub": "1120"},
    "spiffe": {"sub": "spiffe://prod.example/till"},
    "other": {"sub": "job-1", "team": "shop"},
}
ISSUERS = {
    "entra": "https://sts.windows.net/a6b6/",
    "kubernetes": "https://kubernetes.example",
    "spiffe": "https://spiffe.example",
    "other": "https://other.example",
}


@pytest.fixture
def issuer() -> Generator[WorkloadIssuer]:
    """An issuer whose keys every rule of these tests names."""
    with running_issuer() as running:
        yield running


@pytest.fixture
def shop(world: World) -> Team:
    """An organization with an owner, a member, and a service."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    world.service(team.organization_id, "shop")
    return team


@pytest.fixture
async def ann(shop: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def allow(
    visitor: Visitor, issuer: WorkloadIssuer, word: str, claims: dict[str, str], /, *, page: str = PAGE, **fields: Any
) -> Answer:
    """Fill in the form of a platform and send it."""
    shown = await visitor.open(f"{page}/new?preset={word}")
    given = {
        "preset": word,
        "name": f"Program at {word}",
        "claim": list(claims),
        "value": list(claims.values()),
        "jwks_uri": f"{issuer.url}/keys",
        **({"issuer": ISSUERS[word]} if word in ISSUERS else {}),
        **fields,
    }
    form = next(form for form in forms_of(shown) if form.action == f"{page}/new")
    data = urlencode({**form.fields, **given}, doseq=True).encode()
    return await visitor.led_on(await visitor.send("POST", form.action, data=data, headers={"Content-Type": FORM}))


async def test_each_platform_asks_for_its_claims_and_its_programs_get_tokens(
    shop: Team, ann: Visitor, issuer: WorkloadIssuer, subtests: pytest.Subtests
) -> None:
    client_id = shop.world.value("SELECT client_id FROM services")
    for preset in PRESETS:
        with subtests.test(preset=preset.word):
            form = await ann.open(f"{PAGE}/new?preset={preset.word}")
            claims = CLAIMS[preset.word]
            asked = re.findall(r'name="claim" value="([^"]+)"', form.text)
            done = await allow(ann, issuer, preset.word, claims)

            assert {claim.name for claim in preset.claims} <= set(asked)
            assert str(client_id) in form.text
            assert "The workload is allowed" in done.text
            newest = "SELECT issuer, match FROM workloads ORDER BY created_at DESC, id DESC LIMIT 1"
            [stored] = shop.world.rows(newest)
            assert stored[1] == claims
            said = {**claims, "iss": stored[0]}
            if "kubernetes.io/serviceaccount/uid" in said:
                said["kubernetes.io"] = {"serviceaccount": {"uid": said.pop("kubernetes.io/serviceaccount/uid")}}
            assert (await ask(shop.world, client_id, issuer.token(shop.world, **said))).status == 200


async def test_the_form_comes_back_with_what_is_wrong(ann: Visitor, issuer: WorkloadIssuer) -> None:
    without_id = await allow(ann, issuer, "github", {"ref": "refs/heads/main"})
    without_place = await allow(ann, issuer, "github", {"repository_id": "74"}, name="<b>Deploy</b>")
    twice = await allow(ann, issuer, "other", {"sub": "a"}, claim=["sub", "sub"], value=["a", "b"])
    no_keys = await allow(ann, issuer, "other", {"sub": "a"}, jwks="nonsense", jwks_uri="")
    private = await allow(ann, issuer, "other", {"sub": "a"}, issuer="https://10.0.0.7")

    assert "A rule for this issuer names repository_id. Add what is missing." in without_id.text
    assert 'value="refs/heads/main"' in without_id.text
    assert "also names one of environment, ref, job_workflow_ref" in without_place.text
    assert "&lt;b&gt;Deploy&lt;/b&gt;" in without_place.text
    assert "Name each claim once" in twice.text
    assert "This is a JSON Web Key Set" in no_keys.text
    assert "This is a private address" in private.text


async def test_the_owner_reads_what_a_refused_token_said_beside_the_rule_and_deletes_it(
    shop: Team, ann: Visitor, issuer: WorkloadIssuer
) -> None:
    client_id = shop.world.value("SELECT client_id FROM services")
    await allow(ann, issuer, "other", {"sub": "job-1", "team": "shop"})
    token = issuer.token(shop.world, iss=ISSUERS["other"], sub="<b>job-2</b>")
    assert (await ask(shop.world, client_id, token)).status == 401

    page = await ann.open(PAGE)
    workload_id = shop.world.value("SELECT id FROM workloads")
    asked = await ann.open(f"{PAGE}/{workload_id}/delete")
    deleted = await ann.submit(asked, f"{PAGE}/{workload_id}/delete")

    assert "A token was refused on" in page.text
    assert "Its claims did not fit." in page.text
    assert "&lt;b&gt;job-2&lt;/b&gt;" in page.text
    assert page.text.count("differs") == 2
    assert "missing" in page.text
    assert "It was never used." in asked.text
    assert "The workload is deleted" in deleted.text
    assert "No workload is allowed yet." in deleted.text


async def test_a_key_without_a_secret_leads_to_its_workloads(shop: Team, ann: Visitor, issuer: WorkloadIssuer) -> None:
    keys = "/app/organizations/acme/keys"

    made = await ann.submit(
        await ann.open(keys), keys, {"name": "Pipeline", "permissions": "services.view", "for_workloads": "on"}
    )
    key_id: UUID = shop.world.value("SELECT id FROM organization_keys")
    page = f"{keys}/{key_id}/workloads"
    done = await allow(ann, issuer, "google", CLAIMS["google"], page=page)
    answer = await ask(
        shop.world, f"key:{key_id}", issuer.token(shop.world, iss="https://accounts.google.com", sub="1120")
    )
    [workload_id] = [row[0] for row in shop.world.rows("SELECT id FROM workloads")]
    asked = await ann.open(f"{page}/{workload_id}/delete")
    deleted = await ann.submit(asked, f"{page}/{workload_id}/delete")

    assert "Workloads of the key Pipeline" in made.text
    assert "The workload is allowed" in done.text
    assert answer.status == 200
    assert "The workload is deleted" in deleted.text
    assert "without a secret" in (await ann.open(keys)).text


async def test_a_member_reads_no_workloads_and_a_service_without_tokens_says_so(shop: Team, ann: Visitor) -> None:
    key_id = insert_organization_key(shop.world, shop.organization_id, shop.ids["ann"])
    shop.world.connection.execute("UPDATE services SET service_type = 'mobile'")

    page = await ann.open(PAGE)
    form = await ann.open(f"{PAGE}/new")
    ann.cookies.clear()
    await ann.sign_in("bob@example.com")

    assert "This service gets no tokens for itself" in page.text
    assert form.status == 400
    for path in (PAGE, f"{PAGE}/new", f"/app/organizations/acme/keys/{key_id}/workloads"):
        assert (await ann.open(path)).status == 403, path
