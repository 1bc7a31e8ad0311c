"""Who calls in a unit of work: each caller is found once, by the credential of the request, and must be admitted."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TypeVar
from uuid import UUID

from adapters.postgres.aggregates import Aggregates
from adapters.postgres.shares import PLATFORM
from adapters.postgres.transaction import Transaction
from core.accounts.profile import NamedCaller
from core.customers.setup_callers import SetupCaller
from core.errors import TokenInvalid, Unauthorized
from core.organizations import key_callers, link_callers
from core.organizations.authorization import AccessContext
from core.organizations.key_callers import KeyCaller, TokenOfKey
from core.organizations.link_callers import LinkCaller, SetupLinkDead, SetupVisit
from core.organizations.organizations import MadeThrough
from core.prefixed_tokens import PrefixedToken
from core.scim import tokens as scim_tokens
from core.scim.tokens import ScimCaller, ScimTokenInvalid
from core.services import api_keys
from core.services.api_keys import ApiKeyInvalid, ServiceCaller
from core.sessions import security_profiles
from core.sessions.callers import Caller
from core.sessions.token_additions import TokenSubject

Found = TypeVar("Found")


class RequestCallers(Aggregates):
    """The aggregates of a transaction, and the callers of its request; part of the port `UnitOfWork`."""

    def __init__(
        self,
        transaction: Transaction,
        *,
        client_id: UUID | None,
        organization_credential: PrefixedToken | TokenOfKey | SetupVisit | None,
        identified: Callable[[str | None, Hashable | None], None] | None,
    ) -> None:
        # Told for which organization's path the credential is valid, or None for no path, and whose share it takes.
        self._identified = identified
        self.now = transaction.now
        self.origin = transaction.origin
        self._client_id = client_id
        self._session_id = transaction.session_id
        self._api_key = transaction.api_key
        self._service_caller: ServiceCaller | None = None
        self._scim_token = transaction.scim_token
        self._scim_caller: ScimCaller | None = None
        self._organization_credential = organization_credential
        self._key_caller: KeyCaller | None = None
        self._link_caller: LinkCaller | None = None
        self._setup_caller: SetupCaller | None = None
        self._transaction = transaction

    @property
    def caller(self) -> Caller:
        if self._transaction.caller is None:
            found = self._of_session(self.callers.of_session)
            # Until it is found to be valid.
            self._verified(None, None)
            self._transaction.caller = self._in_context(found)
            self._verified(None, _share_key(self._transaction.caller))
        return self._transaction.caller

    @property
    def named_caller(self) -> NamedCaller:
        found = self._of_session(self.person_names.of_session)
        self._verified(None, None)
        self._transaction.caller = self._in_context(found.caller if found is not None else None)
        assert found is not None, "a caller was found without their names"
        self._verified(None, _share_key(self._transaction.caller))
        return found

    @property
    def token_subject(self) -> TokenSubject:
        found = self._of_session(self.callers.subject)
        self._verified(None, None)
        self._transaction.caller = self._in_context(found.caller if found is not None else None)
        assert found is not None, "a caller was found without what their tokens say"
        self._verified(None, _share_key(self._transaction.caller))
        return found

    @property
    def caller_if_signed_in(self) -> Caller | None:
        caller = self.caller_to_log_out
        if caller is not None and not caller.is_admitted:
            raise caller.out_of_context
        return caller

    @property
    def caller_to_log_out(self) -> Caller | None:
        if self._transaction.caller is None and self._session_id is not None:
            self._transaction.caller = self._admitted(self._of_session(self.callers.of_session))
        return self._transaction.caller

    @property
    def link_caller(self) -> LinkCaller:
        return self._link_caller or self._find_link_caller()

    def enter_setup(self, caller: SetupCaller) -> None:
        self._setup_caller = caller

    @property
    def made_through(self) -> MadeThrough | None:
        if self._setup_caller is not None:
            return self._setup_caller.made_through
        link = self._link_caller
        return MadeThrough.SETUP_LINK if link is not None and link.made_for is not None else None

    def access_context(self, slug: str) -> AccessContext:
        setup = self._setup_caller
        if setup is not None and slug == setup.organization.slug:
            return setup.context()
        if isinstance(self._organization_credential, SetupVisit):
            return self._find_link_caller().context(slug)
        if self._organization_credential is not None:
            return self._context_of_key(self._organization_credential, slug)
        context = self._of_session(partial(self.access.context, slug=slug))
        # Until the caller is found to belong there.
        self._verified(slug, None)
        self._transaction.caller = self._admitted(context.caller if context is not None else None)
        assert context is not None, "a caller was found without an access context"
        return context

    def caller_belongs_to(self, slug: str, organization_id: UUID) -> None:
        # What a vendor does for a customer takes the vendor's share.
        if self._setup_caller is None or slug != self._setup_caller.organization.slug:
            self._verified(slug, organization_id)

    def _of_session(self, read: Callable[..., Found | None]) -> Found | None:
        """Return what is read of the session of the request, None without one; its token names a service, or none."""
        return read(self._session_id, is_limited=self._client_id is not None) if self._session_id is not None else None

    def _verified(self, organization_slug: str | None, share_key: Hashable | None) -> None:
        if self._identified is not None:
            self._identified(organization_slug, share_key)

    def _context_of_key(self, key: PrefixedToken | TokenOfKey, slug: str) -> AccessContext:
        if isinstance(key, TokenOfKey):
            found = self.organization_keys.callers_by_token(key)
            self._verified(None, None)
            self._key_caller = key_callers.identify_token(found, at=self.now)
        else:
            found = self.organization_keys.callers(key)
            self._verified(None, None)
            self._key_caller = key_callers.identify(found, key, at=self.now)
        self._transaction.caller = self._key_caller.maker
        self._verified(None, self._key_caller.organization_id)
        return self._key_caller.context(slug)

    def _find_link_caller(self) -> LinkCaller:
        visit = self._organization_credential
        if not isinstance(visit, SetupVisit) or not visit.cookie:
            raise SetupLinkDead
        found = self.setup_links.caller_of_visit(visit.token_hash)
        self._verified(None, None)
        self._link_caller = link_callers.identify(found)
        self._transaction.caller = self._link_caller.maker
        self._verified(None, self._link_caller.organization.id)
        return self._link_caller

    @property
    def service_caller(self) -> ServiceCaller:
        if self._service_caller is None:
            if self._api_key is None:
                raise ApiKeyInvalid
            found = self.api_keys.callers(self._api_key)
            self._verified(None, None)
            self._service_caller = api_keys.identify(found, self._api_key, at=self.now)
            self._verified(None, self._service_caller.organization_id)
        return self._service_caller

    @property
    def scim_caller(self) -> ScimCaller:
        if self._scim_caller is None:
            if self._scim_token is None:
                raise ScimTokenInvalid
            found = self.scim_tokens.callers(self._scim_token)
            self._verified(None, None)
            self._scim_caller = scim_tokens.identify(found, self._scim_token, at=self.now)
            self._verified(None, self._scim_caller.organization_id)
        return self._scim_caller

    def _in_context(self, found: Caller | None) -> Caller:
        caller = self._admitted(found)
        if not caller.belongs_to_context:
            raise caller.out_of_context
        return caller

    def _admitted(self, found: Caller | None) -> Caller:
        if found is None:
            raise Unauthorized("This session is over. Sign in again.")
        if found.place.client_id != self._client_id:
            # We signed the token for this session, but its audience is another client.
            raise TokenInvalid
        security_profiles.require_bound(found.place.security_profile, self.origin.proof_algorithm)
        return found


def _share_key(caller: Caller) -> Hashable | None:
    """Return the share that a session takes outside of the paths of organizations; None for its network's."""
    if caller.acts_as_platform_owner or caller.acts_as_platform_support:
        return PLATFORM
    is_member = caller.place.role is not None and caller.limits.confined_to in {None, caller.place.organization_id}
    return caller.place.organization_id if is_member else None
