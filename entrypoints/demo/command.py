"""`gatehouse demo`: a filled installation, a small application that signs in with it, and a receiver of its webhooks.

The server is a child process with a data folder of its own; the small application runs here, and so do the identity
provider of one of its customers and the name server that proves the mail domain of this customer. The folder is filled
once, and what is in it stays. It needs no network.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import trio
from hypercorn.config import Config
from hypercorn.trio import serve as serve_app  # pyright: ignore[reportUnknownVariableType] - WSGI's type is open

from core.secrets import Secret
from entrypoints import capabilities, clocks, database, local_names, main
from entrypoints.demo import filling, shop, story
from entrypoints.demo.filling import DemoMonth, DemoService
from entrypoints.demo.identity_provider import DemoIdentityProvider
from entrypoints.demo.past import Past, PastClock
from entrypoints.demo.shop import DemoShop
from entrypoints.local_names import LocalNames
from entrypoints.progress import Progress
from entrypoints.refusals import CannotStart
from entrypoints.server import listen
from entrypoints.settings import Bind, Settings
from entrypoints.signals import stop_signals
from entrypoints.web.serving.application import Application

Report = Callable[[str], None]


# What the folder of a demo has besides the database: whether it is filled, and the secrets of the small application.
RECORD: Final = "demo.json"
# What the server writes.
LOG: Final = "server.log"
START_SECONDS_MAX: Final = 60.0
ASK_SECONDS: Final = 0.2
STOP_SECONDS_MAX: Final = 30.0
SERVER: Final = "import sys; from entrypoints.operator.cli import main; sys.exit(main())"
HOST: Final = "127.0.0.1"


def run(settings: Settings, *, folder: Path, port: int, shop_port: int, report: Report) -> int:
    """Fill the folder unless it is filled, and serve until a stop signal; return the exit status."""
    if settings.database_url is not None:
        raise CannotStart(
            "The demo has a database of its own and touches no other one. Unset GATEHOUSE_DATABASE_URL for it."
        )
    if port == shop_port:
        raise CannotStart("Gatehouse and the small application need two ports: change --port or --shop-port.")
    addresses = {"gatehouse": f"http://localhost:{port}", "shop": f"http://localhost:{shop_port}"}
    settings = replace(
        settings, dev=True, data_dir=folder.absolute(), base_url=addresses["gatehouse"], rate_limits=False
    )
    if not settings.auto_approve:
        report("New organizations wait for approval. Start with GATEHOUSE_AUTO_APPROVE=on, and they do not.")
    record = folder / RECORD
    if not record.exists():
        if folder.exists() and any(folder.iterdir()):
            raise CannotStart(f"{folder} is not empty and no finished demo. Delete it, or name another by --folder.")
        # Before the minute that filling takes.
        for one, option in ((port, "--port"), (shop_port, "--shop-port")):
            listen(Bind(host=HOST, port=one), setting=option).close()
        _fill(settings, addresses, record, report)
    stored = json.loads(record.read_text())
    if stored["addresses"] != addresses:
        raise CannotStart(
            f"{folder} was made for {stored['addresses']['gatehouse']} and {stored['addresses']['shop']}. Name these"
            " ports by --port and --shop-port, or delete the folder."
        )
    if stored["service"].keys() != {one.name for one in fields(DemoService)}:
        raise CannotStart(f"{folder} was made by another version. Delete it, and start the demo again.")
    return trio.run(partial(_serve, settings, DemoService(**stored["service"]), addresses, (port, shop_port), report))


def _fill(settings: Settings, addresses: dict[str, str], record: Path, report: Report) -> None:
    report(f"Filling {settings.data_dir} with a month; this takes up to a minute.")
    with database.address_of(settings) as address:
        database.wait_for(address, report)
        database.migrate(address, lambda _: None)
        service = trio.run(_filled, settings, address, addresses["shop"], report)
    # Written last: without it, the folder is no finished demo.
    text = json.dumps({"addresses": addresses, "service": asdict(service)}, indent=2)
    with open(os.open(record, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123 - a descriptor
        file.write(text)


async def _filled(settings: Settings, address: Secret, shop_url: str, report: Report) -> DemoService:
    began_at = filling.beginning(clocks.now())
    clock, known = PastClock(began_at), LocalNames()
    async with trio.open_nursery() as nursery:
        port = await nursery.start(known.serve)
        asking = replace(settings, dns_server=Bind(host=local_names.HOST, port=port))
        async with main.connected(asking, address, clock=clock) as connected:
            await connected.load_secrets()
            application = Application(connected.installation, capabilities.routes(is_development=True))
            past = Past(connected.installation, application, clock, filling.receiver(began_at))
            with Progress(sys.stderr) as progress:
                month = DemoMonth(past, began_at, shop_url, known, progress.around(report), progress)
                service = await month.fill()
        nursery.cancel_scope.cancel()
    return service


async def _serve(
    settings: Settings, service: DemoService, addresses: dict[str, str], ports: tuple[int, int], report: Report
) -> int:
    # First, so that nothing runs yet when another process has the port.
    listener = listen(Bind(host=HOST, port=ports[1]), setting="--shop-port")
    listen(Bind(host=HOST, port=ports[0]), setting="--port").close()
    stopping = trio.Event()
    failed = False

    async def stop_on_signal() -> None:
        with trio.open_signal_receiver(*stop_signals()) as signals:
            async for _ in signals:
                stopping.set()

    async def watch(server: trio.Process) -> None:
        nonlocal failed
        status = await server.wait()
        if not stopping.is_set():
            failed = True
            report(f"The server has ended with status {status}; {settings.data_dir / LOG} says why.")
            stopping.set()

    async with trio.open_nursery() as nursery, shop.client() as client:
        nursery.start_soon(stop_on_signal)
        config = Config()
        config.bind = [f"fd://{listener.detach()}"]
        config.loglevel = "WARNING"
        own = DemoShop(service, gatehouse_url=addresses["gatehouse"], own_url=addresses["shop"], client=client)
        provider = DemoIdentityProvider(
            story.BOLT.name,
            story.DIRECTORY,
            issuer=f"{addresses['shop']}{story.PROVIDER_PATH}",
            client_secret=service.provider_secret,
            gatehouse_url=addresses["gatehouse"],
        )
        provider.add_to(own.app, story.PROVIDER_PATH)
        dns_port = await nursery.start(LocalNames(service.proofs).serve)
        nursery.start_soon(partial(serve_app, own.app, config, shutdown_trigger=stopping.wait))
        # A group of its own, so that Ctrl-C reaches this process alone, which stops the server once.
        # `-P`: nothing is imported from the folder in which the demo was started.
        command = [sys.executable, "-P", "-c", SERVER, "serve"]
        with (settings.data_dir / LOG).open("ab") as log:
            server = await trio.lowlevel.open_process(
                command,
                env=_environment(settings, ports[0], dns_port),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        nursery.start_soon(watch, server)
        try:
            if await _is_ready(client, addresses["gatehouse"], stopping):
                report(_welcome(addresses))
            await stopping.wait()
        finally:
            # Also when the application fails: the server is in a group of its own, and would go on.
            stopping.set()
            await _stop(server)
        nursery.cancel_scope.cancel()
    return 1 if failed else 0


def _environment(settings: Settings, port: int, dns_port: int) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    return own | {
        "GATEHOUSE_DEV": "on",
        "GATEHOUSE_DATA_DIR": str(settings.data_dir),
        "GATEHOUSE_BIND": f"{HOST}:{port}",
        "GATEHOUSE_BASE_URL": settings.base_url,
        "GATEHOUSE_DNS_SERVER": f"{local_names.HOST}:{dns_port}",
        # One person who tries several accounts would look like an attacker.
        "GATEHOUSE_RATE_LIMITS": "off",
        "GATEHOUSE_OWNER_EMAIL": story.PLATFORM_OWNER,
        "GATEHOUSE_OWNER_PASSWORD": story.PASSWORD,
        "GATEHOUSE_AUTO_APPROVE": "on" if settings.auto_approve else "off",
        "GATEHOUSE_LOG_FORMAT": "console",
        "GATEHOUSE_LOG_LEVEL": "error",
    }


async def _is_ready(client: httpx.AsyncClient, url: str, stopping: trio.Event) -> bool:
    """Wait until the server is ready; return False when it is stopped before; raise `CannotStart` after long."""
    with trio.move_on_after(START_SECONDS_MAX):
        while not stopping.is_set():
            try:
                if (await client.get(f"{url}/health/ready")).is_success:
                    return True
            except httpx.TransportError:
                pass
            await trio.sleep(ASK_SECONDS)
        return False
    raise CannotStart(f"The server was not ready after {START_SECONDS_MAX:g} seconds.")


async def _stop(server: trio.Process) -> None:
    with trio.CancelScope(shield=True):
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
        with trio.move_on_after(STOP_SECONDS_MAX):
            await server.wait()
            return
        server.kill()


def _welcome(addresses: dict[str, str]) -> str:
    gatehouse, own = addresses["gatehouse"], addresses["shop"]
    return f"""
The demo is ready. Everything is for trying out: its password is public.

  {own}             a small application: sign in with Gatehouse
  {own}/webhooks    the webhooks that it has received, with checked signatures
  {gatehouse}/app         your account, as a person
  {gatehouse}/docs        the interface
  {gatehouse}/dev/mailbox the mails that were sent

  Accounts, all with the password "{story.PASSWORD}":
    {story.ACME.addresses[0]:24}owner of {story.ACME.name}, the vendor of the shop
    {story.BOLT.addresses[0]:24}owner of {story.BOLT.name}, a customer with an identity provider; its webhooks fail
    {story.CORD.addresses[0]:24}owner of {story.CORD.name}, a customer whose people have passwords
    {story.IN_TWO:24}in both customers: the shop asks who he comes for
    {story.DUNE.addresses[0]:24}owner of {story.DUNE.name}, to which the shop is offered
    {story.INDIVIDUALS[0]:24}uses the shop for himself
    {story.PLATFORM_OWNER:24}platform owner
  Without a password, by the identity provider of {story.BOLT.name}:
    {", ".join(story.DIRECTORY)}

Ctrl-C stops everything; the next start goes on with the same data."""
