"""Signing in by a connection at a custom domain.

An identity provider knows the base URL alone. So the browser takes a ticket from the domain to the base URL, goes to
the provider and back from there, and returns to the domain with another ticket. The second one is good only in the
browser that has left the domain, which a cookie of the domain recognizes: a person who is led to a ticket of another
browser completes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from core.accounts.sign_in_methods import Provider
from core.secrets import Secret, hash_token
from core.sessions.origins import CustomHost
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.identities import ProvenIdentity
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream import beginning, by_connection, flows
from core.sign_in.upstream.beginning import Wanted
from core.sign_in.upstream.by_connection import ConnectionClosed, OpenConnection
from core.sign_in.upstream.flows import AtDomain, Departure, ReturnAddress, SignInOver, UpstreamSignIn

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TICKET_LIFETIME: Final = timedelta(seconds=60)


def leave(uow: UnitOfWork, target: OpenConnection, wanted: Wanted, *, browser: str) -> Secret:
    """Store that a browser leaves a custom domain to sign in by a connection; return its ticket for the base URL.

    Raise `ConnectionClosed` for a connection that signs in nowhere at the domain: it opens the services of the domain's
    organization if it is that organization's own, or on the way to a service that has customers.
    """
    host = uow.origin.custom_host
    assert host is not None, "a browser leaves no custom domain"
    way = beginning.way_to(uow, target, wanted)
    if target.organization_id != host.organization_id and not _leads_to_product(uow, host, way):
        raise ConnectionClosed().because(SignInReason.CONNECTION_CLOSED)
    sign_in = UpstreamSignIn(
        id=uow.randomness.new_id(),
        provider=Provider.UPSTREAM,
        context=target.context,
        client_id=target.connection.client_id,
        way=beginning.keep_way(uow, way),
        expires_at=uow.now + TICKET_LIFETIME,
        domain=AtDomain(domain_id=host.domain_id, name=host.name, browser_hash=hash_token(browser)),
    )
    return _add(uow, sign_in, None)


def enter(uow: UnitOfWork, ticket: str, *, browser: str) -> Departure:
    """Use a ticket of `leave` up under the base URL, and return what the browser takes along; raise `SignInOver`."""
    state = uow.randomness.token()
    sign_in = uow.upstream_sign_ins.enter(
        hash_token(ticket),
        state_hash=hash_token(state.reveal()),
        browser_hash=hash_token(browser),
        expires_at=uow.now + flows.LIFETIME,
    )
    if sign_in is None:
        raise SignInOver().because("unknown_ticket")
    return flows.departure(uow, sign_in, state)


def send_back(uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity) -> Secret:
    """Keep what the provider has confirmed, and return the ticket with which the browser goes on at the domain.

    Raise `ConnectionClosed` and `SignInOver` when the connection has changed in the meantime.
    """
    domain = sign_in.domain
    assert domain is not None, "a sign-in under the base URL goes back to a domain"
    by_connection.lock(uow, sign_in)
    kept = replace(
        sign_in,
        id=uow.randomness.new_id(),
        expires_at=uow.now + TICKET_LIFETIME,
        domain=replace(domain, browser_hash=None),
    )
    return _add(uow, kept, domain.browser_hash, proven)


def _leads_to_product(uow: UnitOfWork, host: CustomHost, way: ReturnAddress | BrowserReturn) -> bool:
    """Return whether a way leads to a service of the domain's organization that has customers."""
    kept = browser_returns.find(uow, way.return_id) if isinstance(way, ReturnAddress) and way.return_id else way
    if not isinstance(kept, BrowserReturn) or kept.service_slug is None:
        return False
    if kept.organization_slug != host.organization_slug:
        return False
    service = uow.services.by_slug(host.organization_id, kept.service_slug)
    return service is not None and service.serves_customers


def _add(
    uow: UnitOfWork, sign_in: UpstreamSignIn, browser_hash: bytes | None, proven: ProvenIdentity | None = None
) -> Secret:
    ticket = uow.randomness.token()
    uow.upstream_sign_ins.add(sign_in, hash_token(ticket.reveal()), browser_hash=browser_hash, proven=proven)
    return ticket
