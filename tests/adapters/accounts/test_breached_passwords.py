"""Asking whether a password has leaked: a local file, and the range protocol."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from adapters.gateways.breached_ranges import ANSWER_BYTES_MAX, PAUSE_SECONDS, REQUESTS_AT_ONCE_MAX, HttpBreachedRanges
from adapters.gateways.outbound import EVERYWHERE, outbound_client
from adapters.password_lists.files import BreachedFileInvalid, BreachedPasswordFile
from core.accounts.passwords import BreachUnknown
from ports.accounts.passwords import SECONDS_MAX
from tests.breached import answer_of, breached_file, digits_of, range_answer
from tests.receiver import Receiver, open_receiver

PASSWORD = "correct horse battery"


@pytest.fixture
async def server() -> AsyncGenerator[Receiver]:
    """A range server."""
    async with open_receiver() as receiver:
        yield receiver


@pytest.fixture
async def ranges(server: Receiver) -> AsyncGenerator[HttpBreachedRanges]:
    """The port, with that server."""
    async with outbound_client(EVERYWHERE) as client:
        yield HttpBreachedRanges(client, f"http://127.0.0.1:{server.port}/range", version="1.2.3")


class TestFile:
    """A sorted file of SHA-1."""

    @pytest.mark.parametrize("ending", [":3\r\n", "\n", ":12345\n"])
    async def test_the_passwords_of_a_file_are_breached_and_no_others(self, tmp_path: Path, ending: str) -> None:
        known = BreachedPasswordFile(breached_file(tmp_path, PASSWORD, "pässwörd", ending=ending))

        found = [await known.contains(text, is_hurried=True) for text in (PASSWORD, "pässwörd", "other 7", "another")]

        assert found == [True, True, True, False]
        await known.require_usable()

    async def test_a_file_in_small_letters_is_searched_likewise(self, tmp_path: Path) -> None:
        path = breached_file(tmp_path, PASSWORD)
        path.write_text(path.read_text().lower())

        assert await BreachedPasswordFile(path).contains(PASSWORD, is_hurried=False)

    def test_a_file_that_is_not_there_or_a_folder_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BreachedFileInvalid, match=r"none\.txt cannot be read: No such file or directory\."):
            BreachedPasswordFile(tmp_path / "none.txt")
        with pytest.raises(BreachedFileInvalid, match=r"cannot be read: Is a directory\."):
            BreachedPasswordFile(tmp_path)
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(BreachedFileInvalid, match=r"pipe cannot be read: Illegal seek\."):
            BreachedPasswordFile(tmp_path / "pipe")

    @pytest.mark.parametrize(
        "content", ["", "password\n", "x" * 1000, f"{digits_of('a')[:32]}:3\n", "\ufeff" + "0" * 40]
    )
    def test_what_is_no_such_list_is_not_taken(self, tmp_path: Path, content: str) -> None:
        path = tmp_path / "other.txt"
        path.write_text(content)

        # Otherwise every password would be clean.
        with pytest.raises(BreachedFileInvalid, match=r"other\.txt is no such list\. "):
            BreachedPasswordFile(path)

    async def test_a_list_that_is_not_sorted_is_not_usable(self, tmp_path: Path) -> None:
        path = tmp_path / "other.txt"
        path.write_text(f"{digits_of('b')}\n{digits_of('a')}\n" * 2)

        with pytest.raises(BreachUnknown, match="not sorted"):
            await BreachedPasswordFile(path).require_usable()

    async def test_what_cannot_be_searched_says_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "other.txt"
        path.write_text("0" * 40 + "\n" + "x" * 1000)

        with pytest.raises(BreachUnknown, match="more than 100 characters"):
            await BreachedPasswordFile(path).contains(PASSWORD, is_hurried=False)


class TestRanges:
    """A server that is asked for a range."""

    async def test_five_digits_are_sent_and_padding_is_asked_for(
        self, server: Receiver, ranges: HttpBreachedRanges
    ) -> None:
        server.answers(range_answer(PASSWORD))

        assert await ranges.contains(PASSWORD, is_hurried=False)

        [request] = server.received
        assert request.target == f"/range/{digits_of(PASSWORD)[:5]}"
        assert (request.headers["add-padding"], request.headers["user-agent"]) == ("true", "Gatehouse/1.2.3")
        assert digits_of(PASSWORD)[5:] not in str(request)

    async def test_what_is_not_named_or_only_padding_is_clean(
        self, server: Receiver, ranges: HttpBreachedRanges
    ) -> None:
        server.answers(range_answer("another", padding=PASSWORD))

        assert not await ranges.contains(PASSWORD, is_hurried=True)

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            (answer_of("", "503 Service Unavailable"), "the status 503"),
            (answer_of("", "302 Found"), "the status 302"),
            (answer_of("<html>Sign in to this network</html>"), "no list of ranges"),
            (answer_of(""), "no list of ranges"),
            (answer_of(f"{'0' * 35}:1\n" * (ANSWER_BYTES_MAX // 30)), "too large"),
            (b"nonsense\r\n\r\n", "no valid HTTP"),
        ],
    )
    async def test_another_answer_says_nothing(
        self, server: Receiver, ranges: HttpBreachedRanges, answer: bytes, problem: str
    ) -> None:
        server.answers(answer)

        with pytest.raises(BreachUnknown, match=problem):
            await ranges.contains(PASSWORD, is_hurried=False)

    async def test_a_host_that_is_no_name_in_the_xn_form_says_nothing(self) -> None:
        async with outbound_client(EVERYWHERE) as client:
            ranges = HttpBreachedRanges(client, "https://xn--99999999.example", version="1.2.3")

            with pytest.raises(BreachUnknown, match="Check the address"):
                await ranges.contains(PASSWORD, is_hurried=True)

    async def test_after_a_failure_sign_ins_do_not_ask_for_a_while_and_new_passwords_do(
        self, server: Receiver, ranges: HttpBreachedRanges, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.answers(answer_of("", "500 Internal Server Error"))
        for is_hurried in (True, True, False):
            with pytest.raises(BreachUnknown):
                await ranges.contains(PASSWORD, is_hurried=is_hurried)
        asked = len(server.received)
        server.answers(range_answer(PASSWORD))

        with pytest.raises(BreachUnknown, match="has just failed"):
            await ranges.contains(PASSWORD, is_hurried=True)
        found = await ranges.contains(PASSWORD, is_hurried=False)
        found_then = await ranges.contains(PASSWORD, is_hurried=True)

        assert (asked, found, found_then) == (2, True, True)

    async def test_the_pause_ends_by_itself(
        self, server: Receiver, ranges: HttpBreachedRanges, mock_clock: MockClock
    ) -> None:
        server.answers(answer_of("", "500 Internal Server Error"))
        with pytest.raises(BreachUnknown):
            await ranges.contains(PASSWORD, is_hurried=True)
        server.answers(range_answer(PASSWORD))

        mock_clock.jump(PAUSE_SECONDS + 1)

        assert await ranges.contains(PASSWORD, is_hurried=True)

    @pytest.mark.parametrize("is_hurried", [True, False])
    async def test_a_server_that_hangs_is_given_up_in_time(
        self, server: Receiver, ranges: HttpBreachedRanges, autojump_clock: MockClock, *, is_hurried: bool
    ) -> None:
        async def hang(_stream: trio.abc.Stream) -> None:
            await trio.sleep_forever()

        server.answering = hang
        began = trio.current_time()

        with pytest.raises(BreachUnknown, match="in time"):
            await ranges.contains(PASSWORD, is_hurried=is_hurried)

        assert trio.current_time() - began <= (0.6 if is_hurried else SECONDS_MAX + 0.1)

    async def test_a_sign_in_does_not_wait_for_many_others(
        self, server: Receiver, ranges: HttpBreachedRanges, autojump_clock: MockClock
    ) -> None:
        async def hang(_stream: trio.abc.Stream) -> None:
            await trio.sleep_forever()

        async def ask() -> None:
            with pytest.raises(BreachUnknown):
                await ranges.contains(PASSWORD, is_hurried=False)

        server.answering = hang
        async with trio.open_nursery() as nursery:
            for _ in range(REQUESTS_AT_ONCE_MAX):
                nursery.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()

            with pytest.raises(BreachUnknown, match="Too many questions"):
                await ranges.contains(PASSWORD, is_hurried=True)

    async def test_a_client_that_hangs_up_does_not_pause_the_questions_of_others(
        self, server: Receiver, ranges: HttpBreachedRanges
    ) -> None:
        async def hang(_stream: trio.abc.Stream) -> None:
            await trio.sleep_forever()

        server.answering = hang
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: ranges.contains(PASSWORD, is_hurried=False))
            while not server.received:
                await trio.testing.wait_all_tasks_blocked(0.01)
            nursery.cancel_scope.cancel()
        server.answers(range_answer(PASSWORD))

        assert await ranges.contains(PASSWORD, is_hurried=True)
