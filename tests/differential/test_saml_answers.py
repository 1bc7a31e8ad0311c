"""What is accepted of an identity provider's answer, beside a second reading of its signed bytes, and node-saml."""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given

from adapters.saml import upstream
from adapters.saml.documents import ASSERTION, PROTOCOL, Unreadable
from core.sign_in.upstream.saml import SUCCESS, SamlRecipient
from tests.differential import signed_xml
from tests.differential.answers_of_saml import ASKED, HONEST, KEY, OTHER_KEY, answers, attacked_by
from tests.differential.opinions import Case, Difference, Reader, many_examples, require_agreement, require_real
from tests.differential.signed_xml import has_other_namespace
from tests.peers import peer
from tests.service_provider import sign

RECIPIENT: Final = SamlRecipient(entity_id=ASKED.issuer)
PUBLIC: Final = KEY.private.public_key()


def read_by_us(answer: bytes) -> Any:
    """Return the user of an answer, and what limits it; None when it is refused, or says that there is none."""
    try:
        found = upstream.read_answer(base64.b64encode(answer).decode(), [KEY.certificate_pem], RECIPIENT).assertion
    except Unreadable:
        return None
    if found is None:
        return None
    return {
        "issuer": found.issuer,
        "name": (found.name_id, found.name_id_format),
        "audiences": [list(one) for one in found.audiences],
        "index": found.session_index,
        "attributes": {name: list(values) for name, values in found.attributes.items()},
    }


def read_again(answer: bytes) -> Any:
    """Return the same by the second reading."""
    root = signed_xml.parsed(answer)
    if root is None or (root.namespaceURI, root.localName) != (PROTOCOL, "Response") or not _is_success(root):
        return None
    for owner in (root, *signed_xml.children(root, ASSERTION, "Assertion")):
        signed = signed_xml.signed_bytes(owner, PUBLIC)
        if signed is not None:
            found = signed_xml.tree(signed)
            return _taken(found if owner is not root else found.find(f"{{{ASSERTION}}}Assertion"))
    return None


def _is_success(root: Any) -> bool:
    statuses = signed_xml.children(root, PROTOCOL, "Status")
    codes = [one for status in statuses for one in signed_xml.children(status, PROTOCOL, "StatusCode")]
    return root.getAttribute("Version") == "2.0" and [one.getAttribute("Value") for one in codes] == [SUCCESS]


def _taken(assertion: Any) -> Any:
    def texts(path: str, parent: Any = assertion) -> list[str]:
        steps = "/".join(f"{{{ASSERTION}}}{step}" for step in path.split("/"))
        return ["".join(one.itertext()).strip() for one in parent.findall(steps)]

    if assertion is None or assertion.tag != f"{{{ASSERTION}}}Assertion":
        return None
    name = assertion.find(f"{{{ASSERTION}}}Subject/{{{ASSERTION}}}NameID")
    statement = assertion.find(f"{{{ASSERTION}}}AuthnStatement")
    if name is None or statement is None:
        return None
    attributes: dict[str, list[str]] = {}
    for one in assertion.iterfind(f"{{{ASSERTION}}}AttributeStatement/{{{ASSERTION}}}Attribute"):
        attributes.setdefault(one.get("Name", ""), []).extend(texts("AttributeValue", one))
    return {
        "issuer": "".join(texts("Issuer")),
        "name": ("".join(name.itertext()).strip(), name.get("Format")),
        "audiences": [texts("Audience", one) for one in assertion.findall(f"{{{ASSERTION}}}Conditions/*")],
        "index": statement.get("SessionIndex"),
        "attributes": attributes,
    }


def _count(pattern: bytes, case: Case) -> int:
    return len(re.findall(pattern, case.given))


def _has_id_twice(answer: bytes) -> bool:
    ids = re.findall(rb'(?i)\bid="([^"]*)"', answer)
    return len(ids) != len(set(ids))


DIFFERENCES: Final = (
    Difference(
        "An answer has one assertion, wherever a second one stands: no reader may take the one for the other.",
        lambda case: case.is_stricter and _count(rb"<(\w+:)?Assertion[\s>]", case) > 1,
        attacked_by(HONEST, "forged before"),
    ),
    Difference(
        "No comment and no instruction stands in a message: a reader that stops there takes half of a name.",
        lambda case: case.is_stricter and _count(rb"<!--|<\?(?!xml )", case),
        attacked_by(HONEST, "comment in the name"),
    ),
    Difference(
        "Every signature has to be right, also one beside the right one.",
        lambda case: case.is_stricter and _count(rb"<(\w+:)?Signature[\s/>]", case) > 1,
        sign(HONEST.decode(), OTHER_KEY).encode(),
    ),
    Difference(
        "An ID is that of one element, whichever of its names it has.",
        lambda case: case.is_stricter and _has_id_twice(case.given),
        attacked_by(HONEST, "same ID around"),
    ),
    Difference(
        "Messages are in UTF-8, whatever they say, and namespaces are named by addresses.",
        lambda case: case.is_stricter and (_count(rb"^<\?xml|^[^<]", case) or has_other_namespace(case.given)),
        HONEST.decode().encode("utf-16"),
    ),
)


def _read(answer: bytes) -> Case:
    return Case(answer, read_by_us(answer), read_again(answer))


@many_examples
@given(answer=answers)
def test_of_an_answer_is_taken_what_was_signed(answer: bytes) -> None:
    require_agreement(_read(answer), DIFFERENCES)


def test_every_difference_that_is_named_is_there() -> None:
    require_real(DIFFERENCES, _read)


@pytest.fixture(scope="module")
def node_saml() -> Iterator[Reader]:
    """The second library: its XML is read by xmldom and verified by xml-crypto, which share nothing with libxml2."""
    modules = str(peer("node-saml").programs.parent)
    reader = Reader("node", str(Path(__file__).parent / "read_saml.mjs"), modules, KEY.certificate_pem)
    yield reader
    reader.close()


def _read_beside(node_saml: Reader, answer: bytes) -> Case:
    """Return what both take of the user; node-saml judges neither times nor audiences here."""
    ours, theirs = read_by_us(answer), node_saml.ask(base64.b64encode(answer).decode())
    if ours is not None:
        del ours["audiences"]
        # An empty one is none there.
        ours["index"] = ours["index"] or None
    if theirs is not None:
        name, name_format = theirs["name"]
        listed = {key: one if isinstance(one, list) else [one] for key, one in theirs["attributes"].items()}
        theirs |= {
            "issuer": theirs["issuer"].strip(),
            "name": (name.strip(), name_format),
            "attributes": {key: [value.strip() for value in values] for key, values in listed.items()},
        }
    return Case(answer, ours, theirs)


NODE_SAML_DIFFERENCES: Final = (
    *DIFFERENCES,
    Difference(
        "What is no well-formed XML is refused, and so is what needs a DTD; xmldom repairs it.",
        lambda case: case.is_stricter and signed_xml.parsed(case.given) is None,
        HONEST.replace(b"xmlns:ds=", b"xmnns:ds=", 1),
    ),
    Difference(
        "A hash and a signature are base64; Node skips what is none.",
        lambda case: case.is_stricter and _count(rb"(?:Digest|Signature)Value>[^<]*[^\w+/=\s<]", case),
        HONEST.replace(b"</ds:SignatureValue>", b"!</ds:SignatureValue>"),
    ),
    Difference(
        "An answer is one of SAML 2.0, and says that it is a success, also where only its assertion is signed.",
        lambda case: case.is_stricter and not _is_success(signed_xml.parsed(case.given)),
        HONEST.replace(b'Version="2.0"', b'Version="2.1"', 1),
    ),
)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="node-saml needs Node.js")
@many_examples
@given(answer=answers)
def test_of_an_answer_is_taken_what_node_saml_takes(answer: bytes, node_saml: Reader) -> None:
    require_agreement(_read_beside(node_saml, answer), NODE_SAML_DIFFERENCES)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="node-saml needs Node.js")
def test_every_difference_to_node_saml_is_there(node_saml: Reader) -> None:
    for one in NODE_SAML_DIFFERENCES[len(DIFFERENCES) :]:
        require_real([one], lambda answer: _read_beside(node_saml, answer))
