"""Encrypted assertions: what is decrypted, what is refused, and that a failure takes the way of a forged assertion."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from itertools import product
from typing import Final

import pytest

from adapters.saml import signatures, upstream
from adapters.saml.documents import Unreadable
from core.secrets import Secret
from core.sign_in.upstream.saml import SamlAnswer, SamlRecipient
from tests.clock import SettableClock
from tests.encryption import (
    CBC_256,
    DSIG,
    GCM_128,
    OAEP_11,
    RSA_15,
    XENC,
    Encryption,
)
from tests.identity_provider import Asked, IdentityProvider
from tests.service_provider import KeyPair, key_pair, sign

OURS: Final = "https://login.example/metadata"
ASKED: Final = Asked("_request", OURS, "https://login.example/acs", "state")
NOT_DECRYPTED: Final = "Its assertion cannot be decrypted with a key of this connection."


@pytest.fixture
def idp() -> IdentityProvider:
    """An identity provider."""
    return IdentityProvider(now=SettableClock())


@pytest.fixture
def own() -> KeyPair:
    """Our key."""
    return key_pair("own key")


def read(idp: IdentityProvider, response: str, *keys: KeyPair, takes_cbc: bool = False) -> SamlAnswer:
    """Read a response with these keys."""
    pems = [Secret(key.private_pem) for key in keys or (key_pair("own key"),)]
    recipient = SamlRecipient(entity_id=OURS, private_pems=pems)
    value = base64.b64encode(response.encode()).decode()
    return upstream.read_answer(value, [idp.key.certificate_pem], recipient, takes_cbc=takes_cbc)


def encrypted(idp: IdentityProvider, encryption: Encryption, assertion: str | None = None) -> str:
    """Return a response with an encrypted assertion, which is signed."""
    plain = assertion if assertion is not None else sign(idp.assertion(ASKED), idp.key)
    return idp.response(ASKED, encryption.element(plain, key_pair("own key").certificate_pem))


ACCEPTED: Final = (
    Encryption(),
    Encryption(content=GCM_128),
    Encryption(digest="sha1"),
    Encryption(digest="sha256"),
    Encryption(transport=OAEP_11),
    Encryption(transport=OAEP_11, digest="sha256", mask="sha256"),
    Encryption(transport=OAEP_11, digest="sha1", mask="sha256"),
    Encryption(label=b"a label", recipient=OURS),
    Encryption(is_beside=True),
)


def test_an_assertion_is_decrypted_by_rsa_oaep_and_aes_gcm(idp: IdentityProvider) -> None:
    for encryption in ACCEPTED:
        answer = read(idp, encrypted(idp, encryption))

        assert answer.assertion is not None, encryption
        assert answer.assertion.name_id == "employee-1", encryption


def test_each_of_our_keys_is_tried(idp: IdentityProvider, own: KeyPair) -> None:
    for keys in ((own, key_pair("older key")), (key_pair("older key"), own)):
        assert read(idp, encrypted(idp, Encryption()), *keys).assertion is not None


def test_an_encrypted_key_for_another_recipient_is_passed_over(idp: IdentityProvider, own: KeyPair) -> None:
    theirs = Encryption(recipient="https://other.example").encrypted_key(bytes(32), key_pair("other").certificate_pem)
    response = encrypted(idp, Encryption(recipient=OURS, is_beside=True))
    second = theirs.replace(' Id="_key"', "")
    with_both = response.replace("</xenc:EncryptedData>", f"</xenc:EncryptedData>{second}")

    assert read(idp, with_both, own).assertion is not None
    with pytest.raises(Unreadable, match="no encrypted key for this connection"):
        read(idp, encrypted(idp, Encryption(recipient="https://other.example")))


def test_the_message_around_an_encrypted_assertion_may_be_signed_instead_or_as_well(idp: IdentityProvider) -> None:
    for assertion in (idp.assertion(ASKED), sign(idp.assertion(ASKED), idp.key)):
        answer = read(idp, sign(encrypted(idp, Encryption(), assertion), idp.key))

        assert answer.assertion is not None


def test_an_assertion_may_use_prefixes_that_its_surroundings_declare(idp: IdentityProvider) -> None:
    assertion = re.sub(r' xmlns:(saml|samlp)="[^"]*"', "", idp.assertion(ASKED))
    response = sign(encrypted(idp, Encryption(), assertion), idp.key)

    assert read(idp, response).assertion is not None


def test_aes_cbc_is_taken_only_where_the_installation_takes_it(idp: IdentityProvider) -> None:
    response = encrypted(idp, Encryption(content=CBC_256))

    assert read(idp, response, takes_cbc=True).assertion is not None
    with pytest.raises(Unreadable, match="AES-CBC is accepted only where"):
        read(idp, response)


def changed_last(response: str, after: str = "") -> str:
    """Return a response with another last character of its first ciphertext after a text."""
    at = response.index("</xenc:CipherValue>", response.index(after)) - 10
    return response[:at] + ("A" if response[at] != "A" else "B") + response[at + 1 :]


FAILURES: Final[dict[str, Callable[[IdentityProvider], str]]] = {
    "another key": lambda idp: idp.response(
        ASKED, Encryption().element(sign(idp.assertion(ASKED), idp.key), key_pair("not ours").certificate_pem)
    ),
    "another content key": lambda idp: encrypted(idp, Encryption(key=bytes(32))),
    "a content key of another length": lambda idp: encrypted(idp, Encryption(key=bytes(16))),
    "a wrong tag": lambda idp: changed_last(encrypted(idp, Encryption()), "</ds:KeyInfo>"),
    "a wrong encrypted key": lambda idp: changed_last(encrypted(idp, Encryption())),
    "another label": lambda idp: re.sub(
        r"<xenc:OAEPparams>[^<]*<", "<xenc:OAEPparams>QQ==<", encrypted(idp, Encryption(label=b"a label"))
    ),
    "no XML": lambda idp: encrypted(idp, Encryption(), "garbage"),
    "an end of what is around it": lambda idp: encrypted(idp, Encryption(), "</decrypted><decrypted>"),
    "two elements": lambda idp: encrypted(idp, Encryption(), "<a/><b/>"),
    "a document type": lambda idp: encrypted(idp, Encryption(), "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    "a comment": lambda idp: encrypted(idp, Encryption(), f"<!-- -->{sign(idp.assertion(ASKED), idp.key)}"),
    "RSA 1.5": lambda idp: encrypted(idp, Encryption(transport=RSA_15)),
    "no encrypted key": lambda idp: re.sub(
        "<xenc:EncryptedKey.*</xenc:EncryptedKey>", "", encrypted(idp, Encryption()), flags=re.DOTALL
    ),
    "too many encrypted keys": lambda idp: re.sub(
        "(<xenc:EncryptedKey.*</xenc:EncryptedKey>)", r"\1\1\1\1", encrypted(idp, Encryption()), flags=re.DOTALL
    ).replace(' Id="_key"', ""),
    "no ciphertext": lambda idp: (
        encrypted(idp, Encryption())
        .replace("</ds:KeyInfo><xenc:CipherData>", "</ds:KeyInfo><x>")
        .replace("</xenc:CipherData></xenc:EncryptedData>", "</x></xenc:EncryptedData>")
    ),
    "no base64": lambda idp: encrypted(idp, Encryption()).replace("<xenc:CipherValue>", "<xenc:CipherValue>?"),
    "an element in a ciphertext": lambda idp: encrypted(idp, Encryption()).replace(
        "<xenc:CipherValue>", "<xenc:CipherValue><x/>"
    ),
    "an unknown digest": lambda idp: encrypted(idp, Encryption(digest="sha256")).replace(f"{XENC}sha256", f"{DSIG}md5"),
    "content instead of an element": lambda idp: encrypted(idp, Encryption(type=f"{XENC}Content")),
    "AES-CBC": lambda idp: encrypted(idp, Encryption(content=CBC_256)),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_not_decrypted_ends_where_a_forged_assertion_does(
    idp: IdentityProvider, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    verified: list[bool] = []
    verifies = signatures._verifies

    def counting(*args: object) -> bool:
        verified.append(verifies(*args))  # pyright: ignore[reportArgumentType] - what it is called with
        return verified[-1]

    monkeypatch.setattr(signatures, "_verifies", counting)

    with pytest.raises(Unreadable):
        read(idp, FAILURES[name](idp))

    # A signature was verified and was wrong, as with any assertion that a stranger encrypts for us.
    assert verified == [False]
    with pytest.raises(Unreadable, match="Its signature does not fit"):
        read(idp, encrypted(idp, Encryption(), sign(idp.assertion(ASKED), key_pair("evil"))))
    assert verified == [False, False]


def test_a_failure_says_what_only_the_secret_key_knows_in_one_text(idp: IdentityProvider) -> None:
    for name in (
        "another key",
        "another content key",
        "a wrong tag",
        "a wrong encrypted key",
        "no XML",
        "two elements",
    ):
        with pytest.raises(Unreadable) as refused:
            read(idp, FAILURES[name](idp))

        assert str(refused.value) == NOT_DECRYPTED, name


def test_a_ciphertext_of_any_length_is_no_failure_of_ours(idp: IdentityProvider) -> None:
    for content, length in product((GCM_128, CBC_256), (0, 1, 15, 16, 17, 32, 48)):
        response = encrypted(idp, Encryption(content=content))
        start = response.index("<xenc:CipherValue>", response.index("</ds:KeyInfo>")) + len("<xenc:CipherValue>")
        end = response.index("</xenc:CipherValue>", start)
        cut = response[:start] + base64.b64encode(bytes(length)).decode() + response[end:]

        with pytest.raises(Unreadable, match=NOT_DECRYPTED):
            read(idp, cut, takes_cbc=True)


def without_signatures(idp: IdentityProvider) -> str:
    """Return an answer whose encrypted assertion any stranger could have made."""
    return encrypted(idp, Encryption(), idp.assertion(ASKED))


def with_a_forged_assertion_beside_it(idp: IdentityProvider) -> str:
    """Return an answer with an assertion beside the encrypted one."""
    return encrypted(idp, Encryption()).replace(
        "<saml:EncryptedAssertion", f"{idp.assertion(ASKED)}<saml:EncryptedAssertion", 1
    )


def with_two_encrypted_assertions(idp: IdentityProvider) -> str:
    """Return an answer with two encrypted assertions."""
    element = Encryption().element(sign(idp.assertion(ASKED), idp.key), key_pair("own key").certificate_pem)
    return idp.response(ASKED, element + element)


def with_an_encrypted_assertion_elsewhere(idp: IdentityProvider) -> str:
    """Return an answer whose encrypted assertion is in an extension."""
    return re.sub(
        "(<saml:EncryptedAssertion.*</saml:EncryptedAssertion>)",
        r"<samlp:Extensions>\1</samlp:Extensions>",
        encrypted(idp, Encryption()),
        flags=re.DOTALL,
    )


def with_a_forged_assertion_around_it(idp: IdentityProvider) -> str:
    """Return an answer with an encrypted forged assertion that contains the signed one (signature wrapping)."""
    signed = sign(idp.assertion(ASKED), idp.key)
    forged = idp.assertion(ASKED, id="_forged").replace("ada@", "eve@")
    return encrypted(
        idp, Encryption(), forged.replace("</saml:Assertion>", f"<saml:Advice>{signed}</saml:Advice></saml:Assertion>")
    )


def with_the_signature_of_the_one_inside(idp: IdentityProvider) -> str:
    """Return an answer with an encrypted forged assertion that carries the signature, and the assertion it is of."""
    signed = sign(idp.assertion(ASKED), idp.key)
    start, end = signed.index("<ds:Signature"), signed.index("</ds:Signature>")
    signature, rest = signed[start:end], signed[:start] + signed[end + len("</ds:Signature>") :]
    carrier = f"{signature}<ds:Object>{rest}</ds:Object></ds:Signature>"
    forged = idp.assertion(ASKED, id="_forged").replace("</saml:Issuer>", f"</saml:Issuer>{carrier}", 1)
    return encrypted(idp, Encryption(), forged)


def with_a_signature_beside_it(idp: IdentityProvider) -> str:
    """Return an answer with a signed element that is neither the message nor its assertion."""
    extra = sign(idp.assertion(ASKED, id="_other"), idp.key).replace("saml:Assertion", "saml:Other")
    return encrypted(idp, Encryption()).replace(
        "<samlp:Status>", f"<samlp:Extensions>{extra}</samlp:Extensions><samlp:Status>"
    )


def with_another_element(idp: IdentityProvider) -> str:
    """Return an answer that has encrypted what is no assertion, and is signed."""
    return sign(encrypted(idp, Encryption(), idp.response(ASKED, "")), idp.key)


def with_an_encrypted_name(idp: IdentityProvider) -> str:
    """Return an answer whose assertion has encrypted the name of the user once more."""
    hidden = re.sub("<saml:NameID.*</saml:NameID>", "<saml:EncryptedID/>", idp.assertion(ASKED))
    return encrypted(idp, Encryption(), sign(hidden, idp.key))


@pytest.mark.parametrize(
    ("forged", "problem"),
    [
        (without_signatures, "Neither the message nor its assertion is signed"),
        (with_a_forged_assertion_beside_it, "more than one assertion"),
        (with_two_encrypted_assertions, "more than one EncryptedAssertion"),
        (with_an_encrypted_assertion_elsewhere, "in the wrong place"),
        (with_a_forged_assertion_around_it, "neither that of the message nor that of its assertion|Neither"),
        (with_the_signature_of_the_one_inside, "not that of the message as a whole"),
        (with_a_signature_beside_it, "neither that of the message nor that of its assertion"),
        (with_another_element, "not one assertion"),
        (with_an_encrypted_name, "EncryptedID"),
    ],
)
def test_a_forged_answer_with_an_encrypted_assertion_is_refused(
    idp: IdentityProvider, forged: Callable[[IdentityProvider], str], problem: str
) -> None:
    with pytest.raises(Unreadable, match=problem):
        read(idp, forged(idp))
