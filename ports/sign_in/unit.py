"""The part of the unit of work that belongs to the area `sign_in`."""

from typing import Final, Protocol

from ports.sign_in.account_figures import FiguresOfUser
from ports.sign_in.browser_returns import BrowserReturns
from ports.sign_in.customer_choices import CustomerVisits
from ports.sign_in.identities import Identities
from ports.sign_in.login_events import LoginEvents
from ports.sign_in.mfa_challenges import MfaChallenges
from ports.sign_in.own_sessions import SessionsOfUser
from ports.sign_in.own_ways import WaysOfUser
from ports.sign_in.places import SignInPlaces
from ports.sign_in.sign_in_rules import MembersUnderRules
from ports.sign_in.sign_ins import SignIns
from ports.sign_in.upstream.connection_keys import ConnectionKeys
from ports.sign_in.upstream.connections import UpstreamConnections
from ports.sign_in.upstream.domain_routes import DomainRoutes
from ports.sign_in.upstream.failures import UpstreamFailures
from ports.sign_in.upstream.flows import UpstreamSignIns
from ports.sign_in.upstream.moves import ConnectionMoves
from ports.sign_in.upstream.oauth_credentials import OauthCredentials
from ports.sign_in.upstream.provider_sessions import ProviderSessions
from ports.sign_in.upstream.trials import TrialSignIns


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
    connection_keys: Final[ConnectionKeys]
    provider_sessions: Final[ProviderSessions]
    domain_routes: Final[DomainRoutes]
