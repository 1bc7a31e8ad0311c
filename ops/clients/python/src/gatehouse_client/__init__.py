"""Gatehouse for Python: sign people in, verify access tokens, read webhooks and the feed, call the interface."""

from gatehouse_client.callers import Caller, Customer, Group, Organization, Person
from gatehouse_client.clients import AsyncGatehouse, Gatehouse
from gatehouse_client.cookies import Cookie
from gatehouse_client.dpop import Proof
from gatehouse_client.errors import (
    FieldProblem,
    GatehouseError,
    ProofRefused,
    Refused,
    ScopeMissing,
    SignInRefused,
    TokenRefused,
    Unreachable,
    WebhookRefused,
)
from gatehouse_client.feed import AsyncFeedReader, Feed, FeedReader
from gatehouse_client.resource import ProtectedResource
from gatehouse_client.seen import MemorySeen, SeenOnce
from gatehouse_client.sessions import MemorySessions, Session, SessionStore
from gatehouse_client.sign_in import AsyncSignIn, SignedIn, SignedOut, SignIn, SignInBegun
from gatehouse_client.tokens import AsyncTokenVerifier, TokenVerifier
from gatehouse_client.webhooks import Event, WebhookVerifier, parse

__all__ = [
    "AsyncFeedReader",
    "AsyncGatehouse",
    "AsyncSignIn",
    "AsyncTokenVerifier",
    "Caller",
    "Cookie",
    "Customer",
    "Event",
    "Feed",
    "FeedReader",
    "FieldProblem",
    "Gatehouse",
    "GatehouseError",
    "Group",
    "MemorySeen",
    "MemorySessions",
    "Organization",
    "Person",
    "Proof",
    "ProofRefused",
    "ProtectedResource",
    "Refused",
    "ScopeMissing",
    "SeenOnce",
    "Session",
    "SessionStore",
    "SignIn",
    "SignInBegun",
    "SignInRefused",
    "SignedIn",
    "SignedOut",
    "TokenRefused",
    "TokenVerifier",
    "Unreachable",
    "WebhookRefused",
    "WebhookVerifier",
    "parse",
]
