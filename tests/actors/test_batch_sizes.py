"""How much work one transaction of an actor takes."""

from __future__ import annotations

from actors.batch_sizes import TRANSACTION_SECONDS_AIM, BatchSize

SLOW = 2 * TRANSACTION_SECONDS_AIM
QUICK = TRANSACTION_SECONDS_AIM / 2


def test_failures_halve_a_batch_down_to_one_row() -> None:
    batch = BatchSize(400)
    sizes: list[int] = []
    for _ in range(10):
        batch.failed()
        sizes.append(batch.rows)

    assert sizes == [200, 100, 50, 25, 12, 6, 3, 1, 1, 1]


def test_slow_transactions_leave_an_eighth() -> None:
    batch = BatchSize(400)
    for _ in range(10):
        batch.took(SLOW)

    assert batch.rows == 50


def test_a_slow_transaction_changes_nothing_after_failures() -> None:
    batch = BatchSize(400)
    for _ in range(7):
        batch.failed()

    batch.took(SLOW)

    assert batch.rows == 3


def test_quick_transactions_let_a_batch_grow_to_the_maximum() -> None:
    batch = BatchSize(400)
    batch.failed()
    batch.took(QUICK)
    grown = batch.rows
    for _ in range(20):
        batch.took(QUICK)

    assert (grown, batch.rows) == (225, 400)


def test_a_batch_of_one_row_grows_too() -> None:
    batch = BatchSize(2)
    batch.failed()

    batch.took(QUICK)

    assert batch.rows == 2
