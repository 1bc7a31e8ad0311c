"""A second reading of signed XML: what stands in the bytes that were signed, and nothing else.

It shares nothing with ours: expat parses instead of libxml2, the canonical form (Exclusive XML Canonicalization 1.0) is
written here instead of by libxml2, and the values are read from the canonical form whose hash was signed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final
from xml.dom import Node, minidom
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.service_provider import NAMESPACES

DSIG: Final = "http://www.w3.org/2000/09/xmldsig#"
XML: Final = "http://www.w3.org/XML/1998/namespace"
XMLNS: Final = "http://www.w3.org/2000/xmlns/"
RSA_SHA256: Final = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
SHA256: Final = "http://www.w3.org/2001/04/xmlenc#sha256"
_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_VALUE: Final = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"})


def parsed(data: bytes) -> Any:
    """Return the root of a document, as expat reads it; None for what is none, and for a DTD."""
    try:
        document = minidom.parseString(data)  # noqa: S318 - the test has made it
    except (ExpatError, ValueError, LookupError):
        return None
    return document.documentElement if document.doctype is None else None


def signed_bytes(owner: Any, key: rsa.RSAPublicKey) -> bytes | None:
    """Return the canonical form of an element, which its own signature has to be of; None when none is right."""
    signatures = [one for one in children(owner, DSIG, "Signature") if _is_by(one, owner, key)]
    return canonical(owner, without=signatures[0]) if signatures else None


def _is_by(signature: Any, owner: Any, key: rsa.RSAPublicKey) -> bool:
    """Return whether a signature in an element is of that element as a whole, and by the key."""
    infos = children(signature, DSIG, "SignedInfo")
    values = children(signature, DSIG, "SignatureValue")
    references = [one for info in infos for one in children(info, DSIG, "Reference")]
    if len(infos) != 1 or len(values) != 1 or len(references) != 1:
        return False
    methods = [infos[0].getElementsByTagNameNS(DSIG, name) for name in ("SignatureMethod", "DigestMethod")]
    if [[one.getAttribute("Algorithm") for one in found] for found in methods] != [[RSA_SHA256], [SHA256]]:
        return False
    if references[0].getAttribute("URI") != f"#{owner.getAttribute('ID')}":
        return False
    digest = base64.b64encode(hashlib.sha256(canonical(owner, without=signature)).digest()).decode()
    digests = [_base64(one) for one in children(references[0], DSIG, "DigestValue")]
    try:
        value = base64.b64decode(_base64(values[0]), validate=True)
        key.verify(value, canonical(infos[0]), padding.PKCS1v15(), hashes.SHA256())
    except (ValueError, InvalidSignature):
        return False
    return digests == [digest]


def _base64(element: Any) -> str:
    return re.sub(r"[ \t\r\n]+", "", text(element))


def children(parent: Any, namespace: str, name: str) -> list[Any]:
    """Return the children of that name."""
    return [
        one
        for one in parent.childNodes
        if one.nodeType == Node.ELEMENT_NODE and (one.namespaceURI, one.localName) == (namespace, name)
    ]


def text(element: Any) -> str:
    """Return the texts in an element."""
    return "".join(one.data for one in element.childNodes if one.nodeType in {Node.TEXT_NODE, Node.CDATA_SECTION_NODE})


def canonical(element: Any, *, without: Any = None) -> bytes:
    """Return the exclusive canonical form of an element, without comments and without one of the elements in it."""
    return "".join(_canonical(element, {}, without)).encode()


def _canonical(node: Any, written: Mapping[str, str], without: Any) -> list[str]:
    if node is without or node.nodeType == Node.COMMENT_NODE:
        return []
    if node.nodeType in {Node.TEXT_NODE, Node.CDATA_SECTION_NODE}:
        return [node.data.translate(_TEXT)]
    if node.nodeType == Node.PROCESSING_INSTRUCTION_NODE:
        return [f"<?{node.target} {node.data}?>" if node.data else f"<?{node.target}?>"]
    attributes = [one for one in node.attributes.values() if one.namespaceURI != XMLNS]
    used = {node.prefix or "", *(one.prefix for one in attributes if one.prefix and one.namespaceURI != XML)}
    declared = {prefix: _namespace(node, prefix) for prefix in used}
    new = {prefix: uri for prefix, uri in declared.items() if written.get(prefix, "") != uri}
    parts = [f"<{node.tagName}"]
    parts += [f' xmlns{":" * bool(prefix)}{prefix}="{uri.translate(_VALUE)}"' for prefix, uri in sorted(new.items())]
    for one in sorted(attributes, key=lambda one: (one.namespaceURI or "", one.localName)):
        parts.append(f' {one.name}="{one.value.translate(_VALUE)}"')
    parts.append(">")
    for child in node.childNodes:
        parts += _canonical(child, {**written, **new}, without)
    return [*parts, f"</{node.tagName}>"]


def _namespace(element: Any, prefix: str) -> str:
    """Return the namespace that a prefix means in an element."""
    name = f"xmlns:{prefix}" if prefix else "xmlns"
    while element.nodeType == Node.ELEMENT_NODE:
        if element.hasAttribute(name):
            return element.getAttribute(name)
        element = element.parentNode
    return ""


def tree(canonical_bytes: bytes) -> ElementTree.Element:
    """Return the tree of a canonical form."""
    return ElementTree.fromstring(canonical_bytes)  # noqa: S314 - the test has made it


def has_other_namespace(message: bytes) -> bool:
    """Return whether a message declares a namespace that is not one of SAML's; it need not be an address."""
    declared = re.findall(rb"""xmlns(?::[\w.-]+)?\s*=\s*["']([^"']*)""", message)
    return not {one.decode("utf-8", "replace") for one in declared} <= {*NAMESPACES.values()}
