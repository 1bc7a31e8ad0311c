"""What the modules of this folder share: mutated inputs, second readers as programs, and how two opinions are compared.

A module gives the same input to our parser and to a second one, which shares no code with it, and compares what both
make of it; None is a refusal. A difference that is right is named, with its reason and an example of it. Any other one
fails.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st

# With a number here, so many other inputs are drawn in every run: GATEHOUSE_TEST_FUZZ=20000 ops/test tests/differential
_FUZZ: Final = int(os.environ.get("GATEHOUSE_TEST_FUZZ", "0"))
# 20 examples in the gate, and 2,000 where CI takes its time; the same in every run, so that no change is refused for a
# rare difference that others have brought in.
many_examples: Final = settings(max_examples=_FUZZ or settings().max_examples ** 2 // 5, derandomize=not _FUZZ)
MUTATIONS_MAX: Final = 3
# What parsers disagree about: blanks of all kinds, ends of lines and texts, marks of grammars, and other alphabets.
ODD_PIECES: Final = (
    *(b" ", b"\t", b"\r\n", b"\n", b"\r", b"\r\n ", b"\x0b", b"\x0c", b"\x00", b"\x01", b"\x1f", b"\x7f", b"\x80"),
    *(b"\xff", b"\xc2\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xe2\x84\xaa", b"\xef\xbb\xbf", b"\xf0\x9f\x94\x91"),
    *(b'"', b"'", b"\\", b",", b";", b":", b"=", b"&", b"<", b">", b"%00", b"%", b"#", b"@", b"/", b"//", b"../", b"("),
    *(b")", b"[", b"]", b"{", b"}", b"-", b"+", b"_", b".", b"0", b"1e9", b"-0", b"x" * 300, b"1" * 40, b"null"),
)


@dataclass(frozen=True)
class Case:
    """An input, and what both readers make of it."""

    given: Any
    ours: Any
    theirs: Any

    @property
    def is_stricter(self) -> bool:
        """Whether we refuse what the second reader takes."""
        return self.ours is None and self.theirs is not None

    @property
    def is_laxer(self) -> bool:
        """Whether we take what the second reader refuses."""
        return self.ours is not None and self.theirs is None


@dataclass(frozen=True)
class Difference:
    """A difference that is right: its reason, the cases that it concerns, and an input that shows it is still there."""

    reason: str
    concerns: Callable[[Case], object]
    example: Any


def require_agreement(case: Case, named: Sequence[Difference]) -> None:
    """Fail when the readings differ, and no difference that is named concerns the case."""
    if case.ours != case.theirs and not any(one.concerns(case) for one in named):
        raise AssertionError(
            f"The readings differ.\n given: {case.given!r}\n  ours: {case.ours!r}\ntheirs: {case.theirs!r}"
        )


def require_real(named: Sequence[Difference], read: Callable[[Any], Case]) -> None:
    """Fail when both readers agree about the example of a difference, or the difference does not concern it."""
    for one in named:
        case = read(one.example)
        assert case.ours != case.theirs, f"Both read the example alike: {one.reason} {case}"
        assert one.concerns(case), f"This does not concern its example: {one.reason} {case}"


def mutated(seeds: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Return inputs as they are, and with some mutations."""
    return seeds | st.builds(_mutate, seeds, st.lists(_MUTATION, min_size=1, max_size=MUTATIONS_MAX))


def mutated_text(seeds: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts as they are, and with some mutations."""
    return mutated(seeds.map(str.encode)).map(lambda data: data.decode("utf-8", "replace"))


_MUTATION: Final = st.tuples(
    st.sampled_from(["flip", "repeat", "drop", "insert", "swap case", "move"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 40),
    st.sampled_from(ODD_PIECES),
)


def _mutate(data: bytes, mutations: Sequence[tuple[str, float, int, bytes]]) -> bytes:
    for kind, place, length, piece in mutations:
        begin = int(place * (len(data) + 1))
        before, part, after = data[:begin], data[begin : begin + length], data[begin + length :]
        match kind:
            case "flip":
                data = before + bytes([part[0] ^ (1 << length % 8)]) + part[1:] + after if part else data
            case "repeat":
                data = before + part + part + after
            case "drop":
                data = before + after
            case "swap case":
                data = before + part.swapcase() + after
            case "move":
                data = part + before + after
            case _:
                data = before + piece + part + after
    return data


class Reader:
    """A second reader as a program, which answers each line of JSON with one."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, question: Any) -> Any:
        """Return what the program answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the second reader has ended; its reason stands in the output of the test"
        return json.loads(line)

    def close(self) -> None:
        """End the program."""
        self._process.communicate()
