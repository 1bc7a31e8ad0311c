"""The same tests without async, on asyncio and on Trio: a driver makes objects of the package and calls them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

import gatehouse_client

NAMES = ("blocking", "asyncio", "trio")


class Driver:
    """Makes the classes of the package, calls them, and closes what it made. Without a portal, without async."""

    def __init__(self, portal: BlockingPortal | None) -> None:
        self._portal = portal
        self._made: list[Any] = []

    @property
    def is_async(self) -> bool:
        """Whether this is asyncio or Trio."""
        return self._portal is not None

    def make(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Return an object of a class, or of its async form."""
        cls = getattr(gatehouse_client, f"Async{name}" if self.is_async else name)
        self._made.append(cls(*arguments, **options))
        return self._made[-1]

    def make_with(self, client: Any, name: str, *arguments: Any) -> Any:
        """Return an object of a class, or of its async form, that uses a client and needs no closing."""
        return getattr(gatehouse_client, f"Async{name}" if self.is_async else name)(client, *arguments)

    def call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a method, and return what it or its coroutine returns."""
        if self._portal is None:
            return method(*arguments, **options)
        return self._portal.call(partial(method, *arguments, **options))

    def at_once(self, count: int, method: Callable[..., Any], *arguments: Any, **options: Any) -> list[Future[Any]]:
        """Call a method many times at once."""
        called = partial(method, *arguments, **options)
        if self._portal is not None:
            return [self._portal.start_task_soon(called) for _ in range(count)]
        executor = ThreadPoolExecutor(count)
        try:
            return [executor.submit(called) for _ in range(count)]
        finally:
            executor.shutdown(wait=False)

    def close(self) -> None:
        """Close what was made."""
        for made in self._made:
            self.call(made.aclose if self.is_async else made.close)


@contextmanager
def driving(name: str) -> Generator[Driver]:
    """Yield a driver, with an event loop in a thread for asyncio and Trio."""
    if name == "blocking":
        driver = Driver(None)
        try:
            yield driver
        finally:
            driver.close()
        return
    with start_blocking_portal(name) as portal:
        driver = Driver(portal)
        try:
            yield driver
        finally:
            driver.close()
