"""What ends what: everything that Gatehouse issues, and the causes that end it in their transaction.

Each cause is carried out in one place, which the use cases call: `organizations/departures.py` (leaving, and leaving
an address), `sessions/sessions.py` (ending the sessions of an account), `accounts/addresses.py` (a first proof, and
what hangs on an address), `accounts/own_accounts.py` (what an organization may do to an account),
`accounts/email_change_undo.py` with `organizations/takeovers.py` (a change of address that is undone),
`accounts/locks.py` (an account that is locked), `organizations/keys.py` (a key of an organization that is deleted),
`organizations/deletion.py` (an organization that its owner may restore), `global_token_revocation.py` in
`sign_in/upstream/revocation/` (what an identity provider ends), and the foreign keys where something is deleted.
`tests/http/test_endings.py` carries out every cause with everything issued, and expects exactly this table; a new table
of the schema that keeps something issued has to be named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import Final

from core.made_things import MadeKind, MakerEvent, Outcome
from core.tables import PartialTable


class Cause(StrEnum):
    """An event that ends what was issued before it."""

    LEAVING = "the member leaves, or is removed"
    DIRECTORY_DELETION = "the directory deletes the member"
    SUSPENSION = "the directory deactivates the member, outside of its mail domains"
    REVOCATION = "the identity provider of a connection ends what the person holds in its organization"
    DEACTIVATION = "the directory deactivates its own account, in its mail domain"
    ADDRESS_CHANGE = "the user proves another address"
    FIRST_PROOF = "the address is first proved, by a link that resets the password"
    PASSWORD_RESET = "the user resets the password"  # noqa: S105 - the name of a cause, not a secret
    SIGN_OUT_ELSEWHERE = "the user ends all other sessions"
    UNDO_OF_LATER = "the user undoes a change of the address, which was requested before all of this was issued"
    UNDO_OF_EARLIER = "the user undoes a change of the address, which was requested after all of this was issued"
    LOCK = "the account is locked"
    CLOSING = "the user closes the account"
    ANONYMIZATION = "the account is anonymized"
    ACCOUNT_DELETION = "the account is deleted"
    SERVICE_DELETION = "the service is deleted"
    ORGANIZATION_DELETION = "the organization is deleted for good"
    RESTORABLE_DELETION = "the owner deletes the organization, and may restore it"
    CUSTOMER_END = "the vendor or the organization ends that it uses the vendor's service"
    KEY_DELETION = "a key of the organization that the member has made is deleted"
    KEY_DELETION_WITH_MADE = "such a key is deleted with all that it has made"


class Issued(Enum):
    """Something that Gatehouse issues to a person or for one, and the table that keeps it."""

    ACCOUNT_SESSION = ("a session on the platform", "sessions")
    ORGANIZATION_SESSION = ("a session in the organization", "sessions")
    SERVICE_SESSION = ("a session of a service, by a link of the membership", "sessions")
    VISITOR_SESSION = ("a session of a service, by a link of the user's own", "sessions")
    CONNECTION_SESSION = ("a session by the organization's connection", "sessions")
    CUSTOMER_SESSION = ("a session of a vendor's service, which the organization uses as a customer", "sessions")
    BROWSER_COOKIE = ("the cookie of a session in a browser", "browser_sessions")
    CLIENT_GRANT = ("what a service was granted with a session", "client_grants")
    AUTHORIZATION_CODE = ("a code that a browser carries to a service", "authorization_codes")
    DEVICE_APPROVAL = ("the approval of another device", "device_codes")
    SAML_SESSION = ("the session of a SAML service provider", "saml_sessions")
    SECOND_FACTOR_CHALLENGE = ("a sign-in between password and second factor", "mfa_challenges")
    MAILED_SIGN_IN = ("a mailed link that signs in", "one_time_tokens")
    MAILED_RESET = ("a mailed link that resets the password", "one_time_tokens")
    MAILED_CONFIRMATION = ("a mailed link that confirms a membership", "one_time_tokens")
    OPEN_REGISTRATION = ("a registration of an address that is not proved", "open_registrations")
    REQUESTED_ADDRESS = ("a mailed link that changes the address", "one_time_tokens")
    PROVIDER_LINKING = ("a sign-in of another provider that waits to be linked", "upstream_sign_ins")
    DEVICE = ("a device that is known", "device_tokens")
    PASSKEY = ("a passkey", "passkeys")
    SECOND_FACTOR = ("an authenticator app", "totp_secrets")
    BACKUP_CODE = ("a backup code", "backup_codes")
    IDENTITY = ("an account at a provider that signs in on the platform", "identities")
    CONNECTION_IDENTITY = ("an account at the organization's own provider", "identities")
    MEMBERSHIP = ("the membership", "memberships")
    UNCONFIRMED_MEMBERSHIP = ("a membership elsewhere that the user has not confirmed", "memberships")
    SERVICE_GRANT = ("what the member may do with a service", "service_grants")
    SERVICE_ASSIGNMENT = ("what the organization assigns the member at its own service", "service_assignments")
    MEMBER_LINK = ("the link to a service that came with the membership", "service_users")
    VISITOR_LINK = ("the link to a service that the user made", "service_users")
    UNCONFIRMED_LINK = ("a link to a service elsewhere that the user has not used", "service_users")
    CUSTOMER_VISIT = ("the link to a vendor's service for the organization", "customer_users")
    CUSTOMER_ASSIGNMENT = ("what the organization assigns the member at a vendor's service", "customer_assignments")
    GIVEN_SUBSCRIPTION = ("a subscription that came with a link of the membership", "subscriptions")
    UNCONFIRMED_SUBSCRIPTION = ("a subscription elsewhere, by a link that the user has not used", "subscriptions")
    SENT_INVITATION = ("an open invitation that the member has sent", "invitations")
    SETUP_LINK = ("a setup link that the member has made", "setup_links")
    ORGANIZATION_KEY = ("a key of the organization that the member has made", "organization_keys")
    API_KEY = ("an API key that the member has made", "api_keys")
    SCIM_TOKEN = ("a SCIM token that the member has made", "scim_tokens")
    WORKLOAD = ("a workload that the member has let authenticate as a service", "workloads")
    SETUP_LINK_BY_KEY = ("a setup link that the key has made", "setup_links")
    API_KEY_BY_KEY = ("an API key that the key has made", "api_keys")
    SCIM_TOKEN_BY_KEY = ("a SCIM token that the key has made", "scim_tokens")
    ADMISSION = ("an admission to a vendor's service, by what the vendor has made for a customer", "memberships")
    ADMITTED_IDENTITY = ("an account at a connection that the vendor has made for a customer", "identities")
    ADMITTED_SESSION = ("a session of the vendor's service, by the admission", "sessions")
    ADMITTED_VISIT = ("the link to the vendor's service for the customer, by the admission", "customer_users")
    CUSTOMER_CLAIM = ("a mailed link to own a customer, at the user's address", "customer_claims")
    CUSTOMER_SETUP_LINK = ("a setup link that the member has made for a customer", "setup_links")
    CUSTOMER_SCIM_TOKEN = ("a SCIM token that the member has made for a customer", "scim_tokens")

    table: str

    def __new__(cls, value: str, table: str) -> Issued:
        member = object.__new__(cls)
        member._value_ = value
        member.table = table
        return member


_OF_SERVICE_SESSION: Final = frozenset(
    {
        Issued.SERVICE_SESSION,
        Issued.CLIENT_GRANT,
        Issued.AUTHORIZATION_CODE,
        Issued.DEVICE_APPROVAL,
        Issued.SAML_SESSION,
    }
)
_IN_ORGANIZATION: Final = _OF_SERVICE_SESSION | {
    Issued.ORGANIZATION_SESSION,
    Issued.VISITOR_SESSION,
    Issued.CONNECTION_SESSION,
    Issued.CUSTOMER_SESSION,
}
# Whatever ends all sessions of an account ends its sign-ins that are not complete, and a change of address.
_SESSIONS: Final = _IN_ORGANIZATION | {
    Issued.ACCOUNT_SESSION,
    Issued.BROWSER_COOKIE,
    Issued.SECOND_FACTOR_CHALLENGE,
    Issued.MAILED_SIGN_IN,
    Issued.REQUESTED_ADDRESS,
    Issued.ADMITTED_SESSION,
}
_OF_MEMBERSHIP: Final = frozenset(
    {
        Issued.MEMBERSHIP,
        Issued.SERVICE_GRANT,
        Issued.SERVICE_ASSIGNMENT,
        Issued.MEMBER_LINK,
        Issued.CUSTOMER_VISIT,
        Issued.CUSTOMER_ASSIGNMENT,
        Issued.GIVEN_SUBSCRIPTION,
        Issued.CONNECTION_IDENTITY,
    }
)
_WAYS_IN: Final = frozenset(
    {
        Issued.MAILED_RESET,
        Issued.OPEN_REGISTRATION,
        Issued.PROVIDER_LINKING,
        Issued.DEVICE,
        Issued.PASSKEY,
        Issued.SECOND_FACTOR,
        Issued.BACKUP_CODE,
        Issued.IDENTITY,
        Issued.CONNECTION_IDENTITY,
        Issued.ADMITTED_IDENTITY,
    }
)
# Issued to people that a vendor admits through what it has made for a customer.
_OF_ADMISSION: Final = frozenset(
    {Issued.ADMISSION, Issued.ADMITTED_IDENTITY, Issued.ADMITTED_SESSION, Issued.ADMITTED_VISIT}
)
_UNCONFIRMED: Final = frozenset(
    {Issued.UNCONFIRMED_MEMBERSHIP, Issued.UNCONFIRMED_LINK, Issued.UNCONFIRMED_SUBSCRIPTION}
)
# A suspended member has no access, and gets it back when the directory says so; what is issued then begins anew.
_SUSPENDED: Final = frozenset({Issued.MEMBERSHIP})
# What members make: `made_things.py` says what becomes of it with its maker.
_MADE: Final = PartialTable(
    {
        Issued.SENT_INVITATION: MadeKind.INVITATION,
        Issued.SETUP_LINK: MadeKind.SETUP_LINK,
        Issued.ORGANIZATION_KEY: MadeKind.ORGANIZATION_KEY,
        Issued.API_KEY: MadeKind.API_KEY,
        Issued.SCIM_TOKEN: MadeKind.SCIM_TOKEN,
        Issued.WORKLOAD: MadeKind.WORKLOAD,
        # The maker of a key counts as the maker of what the key makes.
        Issued.SETUP_LINK_BY_KEY: MadeKind.SETUP_LINK,
        Issued.API_KEY_BY_KEY: MadeKind.API_KEY,
        Issued.SCIM_TOKEN_BY_KEY: MadeKind.SCIM_TOKEN,
        Issued.CUSTOMER_SETUP_LINK: MadeKind.SETUP_LINK,
        Issued.CUSTOMER_SCIM_TOKEN: MadeKind.SCIM_TOKEN,
    }
)
# The links that a key has made end with the key, whatever ends it.
_KEY: Final = frozenset({Issued.ORGANIZATION_KEY, Issued.SETUP_LINK_BY_KEY})


# A link that a vendor has mailed belongs to the address, as an invitation does, not to the account with that address.
_OF_ACCOUNT: Final = frozenset(Issued) - {Issued.CUSTOMER_CLAIM}


def _made_ended_by(event: MakerEvent) -> frozenset[Issued]:
    return frozenset(issued for issued, kind in _MADE.items() if kind.becomes(event) is Outcome.ENDS)


ENDED_BY: Final[Mapping[Cause, frozenset[Issued]]] = {
    Cause.LEAVING: _OF_MEMBERSHIP
    | _OF_SERVICE_SESSION
    | {Issued.CONNECTION_SESSION, Issued.CUSTOMER_SESSION}
    | _made_ended_by(MakerEvent.REMOVAL),
    Cause.DIRECTORY_DELETION: _OF_MEMBERSHIP | _IN_ORGANIZATION | _made_ended_by(MakerEvent.REMOVAL),
    Cause.SUSPENSION: _SUSPENDED | _IN_ORGANIZATION | _made_ended_by(MakerEvent.DEACTIVATION),
    Cause.REVOCATION: _IN_ORGANIZATION,
    Cause.DEACTIVATION: _SUSPENDED | _SESSIONS | _made_ended_by(MakerEvent.DEACTIVATION),
    Cause.ADDRESS_CHANGE: _UNCONFIRMED
    | {Issued.MAILED_CONFIRMATION, Issued.MAILED_RESET, Issued.MAILED_SIGN_IN, Issued.REQUESTED_ADDRESS},
    # What organizations gave to the address stays, and is unconfirmed again.
    Cause.FIRST_PROOF: _SESSIONS | _WAYS_IN | _KEY,
    Cause.PASSWORD_RESET: _SESSIONS | {Issued.MAILED_RESET},
    Cause.SIGN_OUT_ELSEWHERE: _SESSIONS,
    # What a takeover gave or made ends, in every account; of what was there before, only the ways into the account end.
    Cause.UNDO_OF_LATER: (_OF_ACCOUNT - frozenset(_MADE)) | _made_ended_by(MakerEvent.UNDO),
    Cause.UNDO_OF_EARLIER: _SESSIONS | _WAYS_IN | _UNCONFIRMED | {Issued.MAILED_CONFIRMATION} | _KEY,
    Cause.LOCK: _SESSIONS | {Issued.MAILED_RESET} | _made_ended_by(MakerEvent.LOCK),
    Cause.CLOSING: _SESSIONS,
    # Memberships stay, so that counts and logs stay correct; nothing can use them any more.
    Cause.ANONYMIZATION: _SESSIONS
    | _WAYS_IN
    | {Issued.MAILED_CONFIRMATION, Issued.SENT_INVITATION, Issued.CUSTOMER_CLAIM}
    | _KEY,
    # What a credential can do belongs to the organization, which keeps it when its maker goes.
    Cause.ACCOUNT_DELETION: (_OF_ACCOUNT - frozenset(_MADE)) | _made_ended_by(MakerEvent.DELETION),
    Cause.SERVICE_DELETION: _OF_SERVICE_SESSION
    | {
        Issued.MEMBER_LINK,
        Issued.GIVEN_SUBSCRIPTION,
        Issued.SERVICE_GRANT,
        Issued.SERVICE_ASSIGNMENT,
        Issued.API_KEY,
        Issued.API_KEY_BY_KEY,
        Issued.WORKLOAD,
    },
    Cause.ORGANIZATION_DELETION: _OF_MEMBERSHIP | _IN_ORGANIZATION | {Issued.VISITOR_LINK} | frozenset(_MADE),
    # What was given stays, and comes back with the organization.
    Cause.RESTORABLE_DELETION: _IN_ORGANIZATION
    | {
        Issued.CUSTOMER_VISIT,
        Issued.CUSTOMER_ASSIGNMENT,
        Issued.GIVEN_SUBSCRIPTION,
    }
    | frozenset(_MADE),
    # Access ends with the record; the sessions follow in batches.
    Cause.CUSTOMER_END: _OF_ADMISSION
    | {
        Issued.CUSTOMER_SESSION,
        Issued.CUSTOMER_VISIT,
        Issued.CUSTOMER_ASSIGNMENT,
        Issued.CUSTOMER_CLAIM,
        Issued.CUSTOMER_SETUP_LINK,
        Issued.CUSTOMER_SCIM_TOKEN,
    },
    # What a key has made stays, so that it can be replaced, unless the caller asks to end it too.
    Cause.KEY_DELETION: _KEY,
    Cause.KEY_DELETION_WITH_MADE: _KEY | {Issued.API_KEY_BY_KEY, Issued.SCIM_TOKEN_BY_KEY},
}
