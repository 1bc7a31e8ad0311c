"""What a page of a setup link says of each problem of a provider, with what to do next, and at which field."""

from collections.abc import Mapping
from typing import Final

from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.saml import MetadataExpired
from core.tables import PartialTable
from entrypoints.pages.frame.languages import marked

SENTENCES: Final[Mapping[ProviderProblem, str]] = {
    ProviderProblem.NAME_UNKNOWN: marked(
        "No server has this name. Check the address for a typing mistake, and that the name is public."
    ),
    ProviderProblem.ADDRESS_REFUSED: marked(
        "This name leads to a private address, to which no connection is made. Enter the public address of your"
        " provider."
    ),
    ProviderProblem.UNREACHABLE: marked(
        "The server does not accept connections at this address. Check the name and the port, and whether a firewall"
        " is in the way."
    ),
    ProviderProblem.NO_TLS: marked(
        "The server does not speak HTTPS at this address. Check the port, and that it offers TLS 1.2 or newer."
    ),
    ProviderProblem.CERTIFICATE: marked(
        "The certificate of the server is not valid: it has expired, is for another name, or its issuer is not"
        " trusted. Have it renewed, then save again."
    ),
    ProviderProblem.TOO_SLOW: marked(
        "The server did not answer in time. Check the address, and whether a firewall is in the way; then save again."
    ),
    ProviderProblem.NO_ANSWER: marked(
        "The server closed the connection without a usable answer. Check the address and the port."
    ),
    ProviderProblem.TOO_LARGE: marked("The answer of the server is too large for a provider. Check the address."),
    ProviderProblem.BUSY: marked("Too many requests wait for an answer of this server. Try again in a minute."),
    ProviderProblem.NO_DOCUMENT: marked(
        "The server answers, but has no OpenID configuration at this issuer. Copy the issuer again from your provider,"
        " with its whole path."
    ),
    ProviderProblem.NOT_JSON: marked(
        "The server answers with something else than an OpenID configuration, for example a sign-in page. Copy the"
        " issuer again from your provider, with its whole path."
    ),
    ProviderProblem.OTHER_ISSUER: marked(
        "The provider at this address names itself differently. Enter the issuer exactly as its OpenID configuration"
        " names it."
    ),
    ProviderProblem.OTHER_SLASH: marked(
        "The issuer differs from what the provider calls itself by the slash at the end."
    ),
    ProviderProblem.NO_ENDPOINT: marked(
        "The OpenID configuration of the provider lacks an address that signing in takes, or has one without HTTPS. Ask"
        " the vendor of your provider."
    ),
    ProviderProblem.NO_KEYS: marked(
        "The keys of the provider cannot be read. Ask the vendor of your provider, or try again later."
    ),
    ProviderProblem.METADATA: marked(
        "The metadata cannot be used. Check that the address, or the file, belongs to your identity provider."
    ),
    ProviderProblem.METADATA_ENDED: marked(
        "The metadata of the identity provider have expired. Export them again there, and save them here."
    ),
    ProviderProblem.REQUEST_REFUSED: marked(
        "The identity provider answered a request for a sign-in with an error. Its own log says why: compare the entity"
        " id and the address for assertions that are entered there, and sign in once to find out."
    ),
    ProviderProblem.TOKEN_ENDPOINT: marked(
        "The token endpoint of the provider gave no usable answer. Try again later, or ask the vendor of your provider."
    ),
    ProviderProblem.WRONG_SECRET: marked(
        "The provider does not accept the client secret. Copy it again from your provider (its value, not its id), or"
        " make a new one there."
    ),
    ProviderProblem.SECRET_ENDED: marked(
        "The client secret has expired at the provider. Make a new one there, and enter it here."
    ),
    ProviderProblem.UNKNOWN_CLIENT: marked(
        "The provider refuses the application: it does not know the client id, or takes another client secret, or does"
        " not let the application sign users in. Compare the client id, enter the client secret again, and allow the"
        " authorization code grant there."
    ),
    ProviderProblem.WRONG_REDIRECT: marked(
        "The redirect URI is not registered at the provider. Copy it from the steps below into the application there."
    ),
    ProviderProblem.SECRET_UNCLEAR: marked(
        "The provider can be reached, but does not say whether the client secret is right. Sign in once to find out."
    ),
    ProviderProblem.DECLINED: marked(
        "The provider sent people back without signing them in. Check that they are assigned to the application there."
    ),
    ProviderProblem.ERROR_AT_PROVIDER: marked(
        "The provider answered with an error in place of a sign-in. Its own log says why; compare the addresses that"
        " are entered there, and the scopes that the application may ask for."
    ),
    ProviderProblem.CODE_REFUSED: marked(
        "The provider refused to exchange the code of a sign-in. That happens when people go back or wait for long."
        " Test the connection if it happens often."
    ),
    ProviderProblem.NO_TOKEN: marked(
        "The provider answered without the ID token that a sign-in takes. Check that the application may ask for the"
        " scope openid there."
    ),
    ProviderProblem.USER_UNKNOWN: marked(
        "The provider did not describe the user, or described another one (userinfo). Have the email address put into"
        " the ID token, or ask the vendor of your provider."
    ),
    ProviderProblem.UNREADABLE: marked(
        "The answer of the provider cannot be read, or lacks a part that a sign-in takes. Test the connection: the"
        " exact reason is shown with the test."
    ),
    ProviderProblem.UNSIGNED: marked(
        "The identity provider has signed neither its answer nor the assertion. Have it sign assertions."
    ),
    ProviderProblem.SIGNATURE: marked(
        "The answer of the provider was not signed with its key. By SAML, save the metadata of the identity provider"
        " again, which contain its certificate; by OpenID Connect, compare the issuer."
    ),
    ProviderProblem.WEAK_SIGNATURE: marked(
        "The answer is signed with an algorithm that is not accepted. Choose RSA with SHA-256 at the identity provider."
    ),
    ProviderProblem.UNDECIPHERED: marked(
        "The assertion is encrypted for another key, or in a way that is not accepted. Give the identity provider our"
        " metadata again, or have it send assertions without encryption."
    ),
    ProviderProblem.CLOCKS: marked(
        "The answer of the provider was outside of the time for which it is valid. Check the clock of the provider."
    ),
    ProviderProblem.FOR_ANOTHER: marked(
        "The answer of the provider was meant for another application. Compare the client id, or the entity id and the"
        " address for assertions."
    ),
    ProviderProblem.OF_ANOTHER: marked(
        "The answer names another issuer than the connection. Compare the issuer with the tenant in which people sign"
        " in; by SAML, save the metadata of the identity provider again."
    ),
    ProviderProblem.OTHER_SIGN_IN: marked(
        "The answer belongs to another sign-in, or came without having been asked for. Begin the sign-in here, not at"
        " the provider, and in one window. If it happens each time, ask the vendor of your provider."
    ),
    ProviderProblem.SESSION_OVER: marked(
        "The session at the provider was over when its answer arrived. Sign out there, and sign in again; if it happens"
        " each time, check the clock of the provider."
    ),
    ProviderProblem.NO_ID: marked(
        "The provider sent no stable id of the account. By SAML, choose the persistent id as the name of users (NameID)"
        " there; by OpenID Connect it is the claim sub. If another one is named for the id, have that one sent."
    ),
    ProviderProblem.TRANSIENT_ID: marked(
        "The identity provider names people anew at each sign-in (a transient NameID). Choose the persistent id there."
    ),
    ProviderProblem.NO_ADDRESS: marked(
        "The provider sent no email address that can be used. Add the claim or attribute email there."
    ),
    ProviderProblem.NOT_AN_ADDRESS: marked(
        "The provider sent something as the email address that is none, such as a name without @. Have the address"
        " sent, or name the claim or attribute in which it is."
    ),
    ProviderProblem.FOREIGN_DOMAIN: marked(
        "The provider sent an address outside of your verified mail domains. Verify its domain below, then sign in"
        " again: nothing has to be changed at the provider."
    ),
    ProviderProblem.CERTIFICATES_REPLACED: marked(
        "The identity provider signs with a certificate that its metadata did not contain. Save its metadata again."
    ),
    ProviderProblem.NOT_ADMITTED: marked(
        "The person belongs neither to the organization nor to its mail domains. Verify the mail domain, or have them"
        " invited."
    ),
    ProviderProblem.ORGANIZATION_FULL: marked(
        "The organization has as many members as it may have. Ask the person who sent you the link to make room."
    ),
    ProviderProblem.OTHER: marked(
        "A sign-in was refused for another reason. The operator finds it in the log by the request id."
    ),
}
_NOT_REACHED: Final = marked(
    "Your organization's identity provider cannot be reached now. Try again in a moment; if it happens again, tell your"
    " IT staff the id below."
)
_MISCONFIGURED: Final = marked(
    "Your organization's identity provider is not set up as it should be. Tell your IT staff the id below: trying again"
    " does not help."
)
_UNREADABLE: Final = marked(
    "The answer of your organization's identity provider cannot be used. Tell your IT staff the id below."
)
_CREDENTIALS: Final = marked(
    "Your organization's identity provider does not accept the credentials that were set up for signing in here. Tell"
    " your IT staff the id below: trying again does not help."
)
_BEGIN_AGAIN: Final = marked(
    "The answer of your organization's identity provider belongs to another sign-in. Begin again here, in one window;"
    " if it happens again, tell your IT staff the id below."
)
# For the person who wanted to sign in: what failed, whether trying again can help, and who can repair it.
TO_PEOPLE: Final[Mapping[ProviderProblem, str]] = {
    **dict.fromkeys(
        (
            ProviderProblem.NAME_UNKNOWN,
            ProviderProblem.UNREACHABLE,
            ProviderProblem.TOO_SLOW,
            ProviderProblem.NO_ANSWER,
            ProviderProblem.BUSY,
        ),
        _NOT_REACHED,
    ),
    **dict.fromkeys(
        (
            ProviderProblem.ADDRESS_REFUSED,
            ProviderProblem.NO_TLS,
            ProviderProblem.CERTIFICATE,
            ProviderProblem.TOO_LARGE,
            ProviderProblem.NO_DOCUMENT,
            ProviderProblem.NOT_JSON,
            ProviderProblem.OTHER_ISSUER,
            ProviderProblem.OTHER_SLASH,
            ProviderProblem.NO_ENDPOINT,
            ProviderProblem.NO_KEYS,
            ProviderProblem.METADATA,
            ProviderProblem.REQUEST_REFUSED,
            ProviderProblem.TOKEN_ENDPOINT,
            ProviderProblem.WRONG_REDIRECT,
            ProviderProblem.FOR_ANOTHER,
            ProviderProblem.OF_ANOTHER,
            ProviderProblem.NO_TOKEN,
        ),
        _MISCONFIGURED,
    ),
    **dict.fromkeys(
        (
            ProviderProblem.WRONG_SECRET,
            ProviderProblem.SECRET_ENDED,
            ProviderProblem.UNKNOWN_CLIENT,
            ProviderProblem.SECRET_UNCLEAR,
        ),
        _CREDENTIALS,
    ),
    ProviderProblem.METADATA_ENDED: MetadataExpired.default_message,
    ProviderProblem.DECLINED: marked(
        "Your organization's identity provider sent you back without signing you in. Begin again, or tell your IT staff"
        " the id below."
    ),
    ProviderProblem.ERROR_AT_PROVIDER: marked(
        "Your organization's identity provider answered with an error in place of a sign-in. Tell your IT staff the id"
        " below; the log there says why."
    ),
    ProviderProblem.CODE_REFUSED: marked(
        "Your organization's identity provider took its own answer back, as it does after a long wait. Begin again"
        " here; if it happens again, tell your IT staff the id below."
    ),
    ProviderProblem.USER_UNKNOWN: marked(
        "Your organization's identity provider did not say who you are. Tell your IT staff the id below."
    ),
    ProviderProblem.OTHER: _UNREADABLE,
    # What an encrypted answer is refused for shows in no word of the page, as it shows in no difference of time.
    **dict.fromkeys(
        (
            ProviderProblem.UNREADABLE,
            ProviderProblem.UNDECIPHERED,
            ProviderProblem.UNSIGNED,
            ProviderProblem.SIGNATURE,
            ProviderProblem.WEAK_SIGNATURE,
            ProviderProblem.CERTIFICATES_REPLACED,
        ),
        marked(
            "The answer of your organization's identity provider is not signed, or not encrypted, as it was agreed."
            " Tell your IT staff the id below: trying again does not help."
        ),
    ),
    ProviderProblem.CLOCKS: marked(
        "The answer of your organization's identity provider is not valid at this time, as when its clock is wrong."
        " Begin again if you have waited for long; else tell your IT staff the id below."
    ),
    ProviderProblem.OTHER_SIGN_IN: _BEGIN_AGAIN,
    ProviderProblem.SESSION_OVER: marked(
        "Your session at your organization's identity provider has ended. Sign out there, and sign in again; if it"
        " happens again, tell your IT staff the id below."
    ),
    **dict.fromkeys(
        (ProviderProblem.NO_ID, ProviderProblem.TRANSIENT_ID),
        marked(
            "Your organization's identity provider did not name you by an id that stays the same. Tell your IT staff"
            " the id below: trying again does not help."
        ),
    ),
    ProviderProblem.NO_ADDRESS: _MISCONFIGURED,
    ProviderProblem.NOT_AN_ADDRESS: _MISCONFIGURED,
    ProviderProblem.FOREIGN_DOMAIN: _MISCONFIGURED,
    ProviderProblem.NOT_ADMITTED: _MISCONFIGURED,
    ProviderProblem.ORGANIZATION_FULL: _MISCONFIGURED,
}
# What the console says to members, in place of what is for the holder of a setup link.
TO_MEMBERS: Final[Mapping[ProviderProblem, str]] = {
    **SENTENCES,
    ProviderProblem.ORGANIZATION_FULL: marked(
        "The organization has as many members as it may have. Remove members who have left, or ask for a larger tier."
    ),
    ProviderProblem.FOREIGN_DOMAIN: marked(
        "The provider sent an address outside of your verified mail domains. Verify its domain here, then sign in"
        " again: nothing has to be changed at the provider."
    ),
    ProviderProblem.OTHER: marked(
        "The answer was refused for another reason. The operators of the platform find it in their log."
    ),
}
# The field that a problem is about; the issuer for every other one.
_FIELDS: Final = PartialTable(
    {
        ProviderProblem.WRONG_SECRET: "client_secret",
        ProviderProblem.SECRET_ENDED: "client_secret",
        ProviderProblem.UNKNOWN_CLIENT: "client_id",
    }
)


def field_of(problem: ProviderProblem) -> str:
    """Return the name of the field of an OpenID connection at which a problem is shown."""
    return _FIELDS.get(problem, "issuer")
