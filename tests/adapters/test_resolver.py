"""The resolver asks a real name server on loopback."""

from __future__ import annotations

import pytest

from adapters import dns_questions
from adapters.dns_questions import DnsQuestions
from adapters.resolver import DnsResolver
from tests.name_server import NameServer

NAME = "_gatehouse.id.example.com"


def asking(names: NameServer) -> DnsResolver:
    return DnsResolver((names.host, names.port))


async def test_all_records_of_a_name_are_returned_each_as_one_text(names: NameServer) -> None:
    names.publish(NAME, "one", "a" * 300, 'with "quotes" and \\')

    assert sorted(await asking(names).txt_records(NAME) or ()) == sorted(["one", "a" * 300, 'with "quotes" and \\'])


async def test_an_answer_that_is_too_long_for_udp_is_asked_for_over_tcp(names: NameServer) -> None:
    names.publish(NAME, *[f"{number}" * 200 for number in range(20)])

    assert len(await asking(names).txt_records(NAME) or ()) == 20
    assert len(names.asked) == 2


async def test_a_name_without_records_and_one_that_does_not_exist_have_none(names: NameServer) -> None:
    names.publish("empty.example.com")

    assert await asking(names).txt_records("empty.example.com") == []
    assert await asking(names).txt_records("nowhere.example.com") == ()


async def test_no_answer_is_not_the_same_as_no_record(names: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns_questions, "QUESTION_SECONDS_MAX", 0.5)
    names.failing.add("failing.example.com")
    names.silent.add("silent.example.com")

    assert await asking(names).txt_records("failing.example.com") is None
    assert await asking(names).txt_records("silent.example.com") is None


async def test_a_name_is_asked_for_as_it_is_and_every_time(names: NameServer) -> None:
    names.publish(NAME, "before")
    before = await asking(names).txt_records(NAME)
    names.publish(NAME, "after")

    assert (before, await asking(names).txt_records(NAME)) == (["before"], ["after"])
    assert names.asked == [NAME, NAME]


async def test_the_name_servers_of_the_system_are_the_default() -> None:
    assert DnsQuestions(None)._asking(1.0, 1.0).nameservers != []
