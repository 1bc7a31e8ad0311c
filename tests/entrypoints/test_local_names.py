"""The name server knows the proofs that it was given, and answers well-formed questions only."""

from __future__ import annotations

from dns import message, rcode, rdatatype

from entrypoints.local_names import LocalNames

PROOF = {"_gatehouse.bolt.example": "gatehouse-verification=secret"}


def ask(name: str, kind: str = "TXT") -> tuple[rcode.Rcode, list[str]]:
    """Return the code of an answer, and the texts in it."""
    wire = LocalNames(PROOF).answer(message.make_query(name, kind).to_wire())
    assert wire is not None
    answer = message.from_wire(wire)
    texts = [str(one) for found in answer.answer if found.rdtype == rdatatype.TXT for one in found]
    return answer.rcode(), texts


def test_the_proof_is_found_and_no_other_name_exists() -> None:
    assert ask("_gatehouse.BOLT.example.") == (rcode.NOERROR, ['"gatehouse-verification=secret"'])
    assert ask("_gatehouse.bolt.example.", "A") == (rcode.NOERROR, [])
    assert ask("hooks.bolt.example.", "A") == (rcode.NXDOMAIN, [])


def test_what_is_no_question_gets_no_answer() -> None:
    assert LocalNames(PROOF).answer(b"GET / HTTP/1.1") is None
    assert LocalNames(PROOF).answer(message.Message().to_wire()) is None
