"""Every message of the identity provider, and its metadata, is valid by the schemas of OASIS."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.saml import metadata, outgoing
from core.saml.messages import SamlBinding
from tests.adapters.saml.messages import (
    ASSERTION,
    KEY,
    LOGOUT_REQUEST,
    LOGOUT_RESPONSE,
    REFUSAL,
    RESPONSE,
    provider_metadata,
)
from tests.peers import peer


@pytest.mark.long
def test_messages_and_metadata_are_valid_by_the_schemas(tmp_path: Path) -> None:
    bare = replace(ASSERTION, attributes=(("role", None),))
    responses = {
        "response": RESPONSE,
        "unsigned": replace(RESPONSE, sign_response=False),
        "unasked": replace(RESPONSE, in_response_to=None, sign_assertion=False, assertion=bare),
        "refusal": REFUSAL,
    }
    for name, content in responses.items():
        (tmp_path / name).write_bytes(base64.b64decode(outgoing.response(content, KEY)))
    request = outgoing.logout_request(LOGOUT_REQUEST, KEY, SamlBinding.POST, None)
    answer = outgoing.logout_response(LOGOUT_RESPONSE, KEY, SamlBinding.POST, None)
    (tmp_path / "logout_request").write_bytes(base64.b64decode(request.value))
    (tmp_path / "logout_response").write_bytes(base64.b64decode(answer.value))
    (tmp_path / "metadata").write_bytes(metadata.identity_provider(provider_metadata()))
    broken = metadata.identity_provider(provider_metadata()).replace(b"NameIDFormat", b"NameFormat")
    (tmp_path / "broken").write_bytes(broken)
    schemas = peer("python3-saml")
    validate = str(schemas.files / "validate.py")

    messages = schemas.run(
        "python",
        validate,
        "saml-schema-protocol-2.0.xsd",
        *responses,
        "logout_request",
        "logout_response",
        folder=tmp_path,
    )
    described = schemas.run("python", validate, "saml-schema-metadata-2.0.xsd", "metadata", "broken", folder=tmp_path)

    assert (messages.stdout, messages.stderr) == ("", "")
    assert described.stderr == ""
    assert [line.split()[0] for line in described.stdout.splitlines()] == ["broken"]
