"""The part of the unit of work that belongs to the area `sign_in`."""

from typing import Protocol

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

    @property
    def login_events(self) -> LoginEvents: ...

    @property
    def sign_ins(self) -> SignIns: ...

    @property
    def own_sessions(self) -> SessionsOfUser: ...

    @property
    def account_figures(self) -> FiguresOfUser: ...

    @property
    def own_ways(self) -> WaysOfUser: ...

    @property
    def sign_in_places(self) -> SignInPlaces: ...

    @property
    def mfa_challenges(self) -> MfaChallenges: ...

    @property
    def sign_in_rules(self) -> MembersUnderRules: ...

    @property
    def customer_visits(self) -> CustomerVisits: ...

    @property
    def browser_returns(self) -> BrowserReturns: ...

    @property
    def identities(self) -> Identities: ...

    @property
    def upstream_sign_ins(self) -> UpstreamSignIns: ...

    @property
    def oauth_credentials(self) -> OauthCredentials: ...

    @property
    def connection_moves(self) -> ConnectionMoves: ...
    @property
    def upstream_connections(self) -> UpstreamConnections: ...

    @property
    def upstream_failures(self) -> UpstreamFailures: ...

    @property
    def trial_sign_ins(self) -> TrialSignIns: ...

    @property
    def connection_keys(self) -> ConnectionKeys: ...

    @property
    def provider_sessions(self) -> ProviderSessions: ...

    @property
    def domain_routes(self) -> DomainRoutes: ...
