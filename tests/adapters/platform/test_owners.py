"""Platform owners in PostgreSQL: of concurrent first appointments one succeeds."""

from __future__ import annotations

import trio

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.platform import owners
from core.platform.owners import Appointment
from ports.unit_of_work import UnitOfWork
from tests.meeting import Meeting
from tests.postgres import CONNECTIONS_MAX
from tests.shares import of_client


async def test_of_many_concurrent_first_appointments_one_succeeds(
    database: PostgresDatabase, connection: Connection
) -> None:
    together = Meeting(CONNECTIONS_MAX)
    appointments: list[Appointment | None] = []

    def appoint(uow: UnitOfWork, email: str) -> Appointment | None:
        together.wait()
        return owners.appoint_first(uow, email, "hash")

    async def start(number: int) -> None:
        appointments.append(await of_client(database, number).transact(appoint, f"owner{number}@example.org"))

    async with trio.open_nursery() as nursery:
        for number in range(CONNECTIONS_MAX):
            nursery.start_soon(start, number)

    (first,) = [appointment for appointment in appointments if appointment is not None]
    assert connection.execute("SELECT email, password_hash FROM users").fetchall() == [(first.owner.email, "hash")]


async def test_concurrent_appointments_of_one_address_make_one_owner(
    database: PostgresDatabase, connection: Connection
) -> None:
    together = Meeting(CONNECTIONS_MAX)
    appointments: list[Appointment] = []

    def appoint(uow: UnitOfWork, password_hash: str) -> Appointment:
        together.wait()
        return owners.appoint(uow, "ada@example.org", password_hash)

    async def start(number: int) -> None:
        appointments.append(await of_client(database, number).transact(appoint, f"hash {number}"))

    async with trio.open_nursery() as nursery:
        for number in range(CONNECTIONS_MAX):
            nursery.start_soon(start, number)

    assert len({appointment.owner.id for appointment in appointments}) == 1
    assert sum(appointment.is_new_account for appointment in appointments) == 1
    assert connection.execute("SELECT count(*) FROM users WHERE is_platform_owner").fetchone() == (1,)
