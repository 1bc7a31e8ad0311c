"""A table that lacks members on purpose has no index access, so every use has to handle a missing member."""

from __future__ import annotations

from typing import Any

import pytest

from core.mail.mail import MailState
from core.tables import PartialTable

TABLE = PartialTable({MailState.SENT: "went", MailState.FAILED: "stayed"})


def test_what_it_lacks_is_none_or_the_default() -> None:
    assert TABLE.get(MailState.SENT) == "went"
    assert TABLE.get(MailState.KEPT) is None
    assert TABLE.get(MailState.KEPT, "waits") == "waits"


def test_what_it_has_is_in_its_order() -> None:
    assert list(TABLE) == [MailState.SENT, MailState.FAILED]
    assert (len(TABLE), MailState.SENT in TABLE, MailState.KEPT in TABLE) == (2, True, False)
    assert TABLE.items() == [(MailState.SENT, "went"), (MailState.FAILED, "stayed")]
    assert TABLE.values() == ["went", "stayed"]


def test_it_cannot_be_indexed() -> None:
    table: Any = TABLE

    with pytest.raises(TypeError):
        table[MailState.SENT]
