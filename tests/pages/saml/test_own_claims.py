"""The claims of a product in assertions: as text, beside the attributes of the mapping."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from tests.application import Answer
from tests.service_provider import is_signed
from tests.world.saml import SamlService
from tests.world.team import Team
from tests.world.visitor import Visitor

ASSERTION = "/samlp:Response/saml:Assertion"
MARKUP = '</saml:AttributeValue><saml:Attribute Name="id">&amp;<!--x-->]]>"'


def _note(saml: SamlService, team: Team, metadata: dict[str, Any]) -> None:
    saml.world.connection.execute(
        "INSERT INTO service_user_metadata VALUES (%s, %s, %s, %s)",
        (saml.service_id, saml.organization_id, team.ids["member"], Jsonb(metadata)),
    )


async def _claim(team: Team, **sources: str) -> Answer:
    claims = [{"claim": name, "from": source} for name, source in sources.items()]
    return await team.request("owner", "PATCH", "/services/shop", body={"claims": claims})


async def test_values_are_texts_and_a_list_is_a_value_each(
    browser: Visitor, saml_shop: SamlService, team: Team
) -> None:
    noted = {"markup": MARKUP, "yes": True, "number": 1.5, "seats": 5, "tags": ["a", "<b>"], "odd": "a\x01b\x0bc\ufffe"}
    _note(saml_shop, team, noted)
    claims = {name: f"service_user.metadata.{name}" for name in noted}
    assert (await _claim(team, **claims, roles="membership.role", missing="customer.slug")).status == 200

    form = await saml_shop.signed_in(browser)

    assert is_signed(form.root, saml_shop.key.certificate_pem)
    names = form.texts(f"{ASSERTION}//saml:Attribute/@Name")
    assert names == ["email", "id", *noted, "roles"]
    said = {
        name: form.texts(f"{ASSERTION}//saml:Attribute[@Name='{name}']/saml:AttributeValue/text()") for name in names
    }
    assert {name: said[name] for name in (*noted, "roles")} == {
        "markup": [MARKUP],
        "yes": ["true"],
        "number": ["1.5"],
        "seats": ["5"],
        "tags": ["a", "<b>"],
        "odd": ["abc"],
        "roles": ["member"],
    }
    assert said["id"] == [str(team.ids["member"])]


async def test_a_name_of_the_mapping_is_refused_whichever_is_saved_second(saml_shop: SamlService, team: Team) -> None:
    taken = await _claim(team, ID="user.id")
    assert (taken.status, taken.json["details"][0]["field"]) == (400, "claims")
    assert (await _claim(team, department="user.id")).status == 200
    path = "/services/shop/saml"
    sp = {"enabled": True, "entity_id": saml_shop.sp.entity_id, "acs_url": saml_shop.sp.acs_url}

    refused = await team.request(
        "owner", "POST", path, body={**sp, "attribute_mapping": {"email": "mail", "role": "Department"}}
    )

    assert (refused.status, refused.json["details"][0]["field"]) == (400, "attribute_mapping")
    changed = await team.request("owner", "POST", path, body={**sp, "attribute_mapping": {"email": "mail"}})
    assert changed.status == 200, changed.text
    # The name of the default is free with another mapping.
    assert (await _claim(team, id="user.id")).status == 200
    back = await team.request("owner", "POST", path, body={**sp, "attribute_mapping": None})
    assert (back.status, back.json["details"][0]["field"]) == (400, "attribute_mapping")


async def test_a_service_without_claims_asserts_what_it_asserted(browser: Visitor, saml_shop: SamlService) -> None:
    form = await saml_shop.signed_in(browser)

    assert form.texts(f"{ASSERTION}//saml:Attribute/@Name") == ["email", "id"]
