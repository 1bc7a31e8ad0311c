"""The identity providers that the pages of a setup link know, and what to do in the console of each."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from core.sign_in.upstream.connections import ConnectionRecord
from entrypoints.pages.console.setup_steps import ProviderKind, Step
from entrypoints.pages.frame.languages import marked

_NAME: Final = Step(text=marked("Say how the sign-in page names the connection."), fields=("name",))
OPENID: Final = ProviderKind(
    word="oidc",
    name=marked("Another OpenID provider"),
    steps=(
        Step(
            text=marked(
                "At your provider, register a web application that signs users in with an authorization code. Enter"
                " this address as its redirect URI, character for character."
            ),
            copies=("redirect_uri",),
        ),
        Step(
            text=marked(
                "Enter the issuer exactly as the provider names itself: the value of issuer in the document below"
                " /.well-known/openid-configuration."
            ),
            fields=("issuer",),
        ),
        Step(
            text=marked("Copy the client id and the client secret of the application."),
            fields=("client_id", "client_secret"),
        ),
        _NAME,
    ),
)
SAML: Final = ProviderKind(
    word="saml",
    name=marked("Another SAML provider"),
    steps=(
        Step(
            text=marked(
                "At your identity provider, make an application by SAML 2.0. If it reads metadata, give it the metadata"
                " address; else enter the entity id and the address for assertions."
            ),
            copies=("metadata_address", "entity_id", "acs_url", "slo_url"),
        ),
        Step(
            text=marked(
                "Choose the persistent id as the name of users (NameID), and have the attribute email sent with the"
                " email address."
            ),
        ),
        Step(
            text=marked("Enter where your identity provider publishes its metadata, or paste the file."),
            fields=("metadata_url", "metadata_xml"),
        ),
    ),
)
KINDS: Final = (
    ProviderKind(
        word="okta",
        name="Okta",
        instead="okta-saml",
        steps=(
            Step(
                text=marked(
                    "In the Okta Admin Console, open “Applications” and “Applications”, and choose “Create App"
                    " Integration”. Choose “OIDC - OpenID Connect” and “Web Application”, then “Next”."
                )
            ),
            Step(
                text=marked(
                    "Enter a name, and this address under “Sign-in redirect URIs”. “Sign-out redirect URIs” may stay"
                    " empty."
                ),
                copies=("redirect_uri",),
            ),
            Step(text=marked("Under “Assignments”, choose who may sign in, and choose “Save”.")),
            Step(
                text=marked("On the tab “General”, copy “Client ID” and, under “Client Secrets”, the secret."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked(
                    "The issuer is the address of your Okta organization, such as https://acme.okta.com: without -admin"
                    " in the name, and without a slash at the end."
                ),
                fields=("issuer",),
            ),
            _NAME,
        ),
    ),
    ProviderKind(
        word="entra",
        name="Microsoft Entra ID",
        instead="entra-saml",
        steps=(
            Step(
                text=marked(
                    "In the Microsoft Entra admin center, open “Entra ID”, “App registrations” and “New registration”."
                    " Enter a name, and choose the accounts of your own directory alone (single tenant)."
                )
            ),
            Step(
                text=marked("Under “Redirect URI”, choose “Web” and enter this address. Choose “Register”."),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked(
                    "On “Overview”, copy “Application (client) ID”, and “Directory (tenant) ID”. The issuer is"
                    " https://login.microsoftonline.com/, then the directory id, then /v2.0."
                ),
                fields=("client_id", "issuer"),
            ),
            Step(
                text=marked(
                    "Open “Certificates & secrets” and “New client secret”, and choose “Add”. Copy “Value” at once, not"
                    " “Secret ID”: it is shown only now."
                ),
                fields=("client_secret",),
            ),
            Step(
                text=marked(
                    "Open “Token configuration” and “Add optional claim”. Choose “ID” and “email”, then “Add”; agree to"
                    " the permission that is asked for."
                )
            ),
            _NAME,
        ),
    ),
    ProviderKind(
        word="google",
        name="Google Workspace",
        instead="google-saml",
        steps=(
            Step(
                text=marked(
                    "In the Google Cloud console, open “Google Auth Platform” with a project of your organization. If"
                    " it asks you to get started, enter a name and choose “Internal” as the audience."
                )
            ),
            Step(
                text=marked(
                    "Open “Clients” and “Create client”, and choose “Web application”. Under “Authorized redirect"
                    " URIs”, choose “Add URI” and enter this address. Choose “Create”."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Copy “Client ID” and “Client secret” before you close the window."),
                fields=("client_id", "client_secret"),
            ),
            Step(text=marked("The issuer is the same for all of Google."), fields=("issuer",)),
            _NAME,
        ),
    ),
    OPENID,
    SAML,
)
_BY_SAML: Final = (
    ProviderKind(
        word="okta-saml",
        name="Okta",
        instead="okta",
        steps=(
            Step(
                text=marked(
                    "In the Okta Admin Console, open “Applications” and “Applications”, and choose “Create App"
                    " Integration”. Choose “SAML 2.0”, then “Next”, and enter a name."
                )
            ),
            Step(
                text=marked(
                    "Enter these two as “Single sign-on URL” and as “Audience URI (SP Entity ID)”. Choose “Persistent”"
                    " as “Name ID format”."
                ),
                copies=("acs_url", "entity_id"),
            ),
            Step(
                text=marked(
                    "Under “Attribute Statements”, add the name email with the value user.email. Choose “Next” and"
                    " “Finish”, and assign people on the tab “Assignments”."
                )
            ),
            Step(text=marked("On the tab “Sign On”, copy “Metadata URL”."), fields=("metadata_url", "metadata_xml")),
        ),
    ),
    ProviderKind(
        word="entra-saml",
        name="Microsoft Entra ID",
        instead="entra",
        steps=(
            Step(
                text=marked(
                    "In the Microsoft Entra admin center, open “Entra ID”, “Enterprise apps”, “New application” and"
                    " “Create your own application”. Enter a name, and choose the one that is not in the gallery."
                )
            ),
            Step(
                text=marked(
                    "Open “Single sign-on” and “SAML”. Under “Basic SAML Configuration”, enter these as “Identifier"
                    " (Entity ID)”, “Reply URL (Assertion Consumer Service URL)” and “Logout Url”."
                ),
                copies=("entity_id", "acs_url", "slo_url"),
            ),
            Step(
                text=marked(
                    "Under “Attributes & Claims”, check that the claim emailaddress has the source user.mail. Under"
                    " “Users and groups”, assign who may sign in."
                )
            ),
            Step(
                text=marked("Under “SAML Certificates”, copy “App Federation Metadata Url”."),
                fields=("metadata_url", "metadata_xml"),
            ),
        ),
    ),
    ProviderKind(
        word="google-saml",
        name="Google Workspace",
        instead="google",
        steps=(
            Step(
                text=marked(
                    "In the Google Admin console, open “Apps” and “Web and mobile apps”, and choose “Add app” and “Add"
                    " custom SAML app”. Enter a name."
                )
            ),
            Step(
                text=marked("Choose “Download metadata”, open the file with a text editor, and paste it here."),
                fields=("metadata_xml",),
            ),
            Step(
                text=marked(
                    "On the next page, enter these as “ACS URL” and “Entity ID”. Choose “PERSISTENT” as “Name ID"
                    " format”."
                ),
                copies=("acs_url", "entity_id"),
            ),
            Step(
                text=marked(
                    "Under “Attribute mapping”, map “Primary email” to email. Choose “Finish”, and turn the app on"
                    " under “User access”."
                )
            ),
        ),
    ),
)
ALL: Final = KINDS + _BY_SAML
# What the issuer of a provider is that has but one.
ISSUERS: Final[Mapping[str, str]] = {"google": "https://accounts.google.com"}
_HOSTS: Final = (
    ("okta", (".okta.com", ".oktapreview.com", ".okta-emea.com")),
    ("entra", ("login.microsoftonline.com", "login.microsoftonline.us", "sts.windows.net")),
    ("google", ("accounts.google.com",)),
)


def is_saml(kind: ProviderKind) -> bool:
    """Return whether a kind connects by SAML."""
    return kind.word.endswith("saml")


def kind_of_connection(connection: ConnectionRecord, word: str) -> ProviderKind:
    """Return the kind whose steps the page of a connection shows: that of the address, else that of its issuer."""
    suffix = "-saml" if connection.is_saml else ""
    named = next((kind for kind in ALL if kind.word == word and is_saml(kind) == connection.is_saml), None)
    if named is not None:
        return named
    host = "." + (urlsplit(connection.issuer or "").hostname or "")
    found = next((product for product, ends in _HOSTS if host.endswith(tuple(ends))), None)
    general = SAML if connection.is_saml else OPENID
    return next((kind for kind in ALL if found is not None and kind.word == f"{found}{suffix}"), general)
