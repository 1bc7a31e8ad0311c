"""The part of the unit of work that belongs to the area `sign_in`."""

from typing import Final, Protocol

from ports.sign_in.identities import Identities
from ports.sign_in.sign_in import (
    BrowserReturns,
    CustomerVisits,
    FiguresOfUser,
    LoginEvents,
    MembersUnderRules,
    MfaChallenges,
    SessionsOfUser,
    SignInPlaces,
    SignIns,
    WaysOfUser,
)
from ports.sign_in.upstream.connections import DomainRoutes, KeyCertificates, UpstreamConnections
from ports.sign_in.upstream.flows import (
    ConnectionMoves,
    OauthCredentials,
    ProviderSessions,
    TrialSignIns,
    UpstreamFailures,
    UpstreamSignIns,
)


class SignInUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    login_events: Final[LoginEvents]
    sign_ins: Final[SignIns]
    own_sessions: Final[SessionsOfUser]
    account_figures: Final[FiguresOfUser]
    own_ways: Final[WaysOfUser]
    sign_in_places: Final[SignInPlaces]
    mfa_challenges: Final[MfaChallenges]
    sign_in_rules: Final[MembersUnderRules]
    customer_visits: Final[CustomerVisits]
    browser_returns: Final[BrowserReturns]
    identities: Final[Identities]
    upstream_sign_ins: Final[UpstreamSignIns]
    oauth_credentials: Final[OauthCredentials]
    connection_moves: Final[ConnectionMoves]
    upstream_connections: Final[UpstreamConnections]
    upstream_failures: Final[UpstreamFailures]
    trial_sign_ins: Final[TrialSignIns]
    connection_keys: Final[KeyCertificates]
    provider_sessions: Final[ProviderSessions]
    domain_routes: Final[DomainRoutes]
