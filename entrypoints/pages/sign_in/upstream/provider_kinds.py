"""The identity providers that the pages of a setup link know, and what to do in the console of each."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from core.sign_in.upstream.connections import ConnectionRecord
from entrypoints.pages.console.setup_steps import ProviderKind, Step
from entrypoints.pages.frame.languages import marked

_NAME: Final = Step(text=marked("Say how the sign-in page names the connection."), fields=("name",))
_CREDENTIALS: Final = Step(
    text=marked("Enter the client id and the client secret here as well."), fields=("client_id", "client_secret")
)
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
# Those that organizations run themselves, by which the long tests connect them (`tests/identity_programs/`).
_SELF_HOSTED: Final = (
    ProviderKind(
        word="lemonldap",
        name="LemonLDAP::NG",
        instead="lemonldap-saml",
        steps=(
            Step(
                text=marked(
                    "In the Manager of LemonLDAP::NG, open “General Parameters”, “Issuer modules” and “OpenID Connect”,"
                    " and switch “Activation” on. “OpenID Connect Service” has to have keys."
                )
            ),
            Step(
                text=marked(
                    "Under “OpenID Connect Relying Parties”, add one. Under “Options”, enter a client id and a client"
                    " secret, choose RS256 as “ID Token signature algorithm”, and enter this address under “Allowed"
                    " redirection addresses for login”."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked(
                    "Under “Exported attributes (claims)”, add email with the attribute mail. For roles by groups, add"
                    " groups too, and under “Scope values content” the scope email with the value: email groups."
                )
            ),
            _CREDENTIALS,
            Step(
                text=marked(
                    "The issuer is “Issuer identifier” under “OpenID Connect Service”, else the address of the portal."
                ),
                fields=("issuer",),
            ),
            _NAME,
        ),
    ),
    ProviderKind(
        word="glewlwyd",
        name="Glewlwyd",
        steps=(
            Step(
                text=marked(
                    "In Glewlwyd, open “Parameters” and “Plugins”, and add the OpenID Connect plugin. Give it an RSA"
                    " key, and choose “Mandatory” as “E-mail claim”: else no address is sent."
                )
            ),
            Step(
                text=marked(
                    "Under “Clients”, add one that is confidential, with a password, the authorization type code, the"
                    " scope openid, and this address under “Redirect URIs”."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Enter its client id here, and its password as the client secret."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked(
                    "The issuer is “Issuer” of the plugin. It has to be the address of Glewlwyd with /api/ and the name"
                    " of the plugin, such as https://sso.acme.example/api/oidc."
                ),
                fields=("issuer",),
            ),
            _NAME,
        ),
    ),
    ProviderKind(
        word="django-allauth",
        name="django-allauth",
        steps=(
            Step(
                text=marked(
                    "In the settings of the site, add allauth.idp.oidc to INSTALLED_APPS, and a key to"
                    " IDP_OIDC_PRIVATE_KEYS. Include allauth.idp.urls at the root of the addresses."
                )
            ),
            Step(
                text=marked(
                    "In the administration of Django, add a client of allauth: confidential, with the scopes openid,"
                    " email and profile, and this address as its redirect URI."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Copy its id, and its secret before you leave the page."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked("The issuer is the address of the site, without a path and without a slash at the end."),
                fields=("issuer",),
            ),
            _NAME,
        ),
    ),
    ProviderKind(
        word="django-oauth-toolkit",
        name="django-oauth-toolkit",
        steps=(
            Step(
                text=marked(
                    "In OAUTH2_PROVIDER of the site's settings, set OIDC_ENABLED, OIDC_RSA_PRIVATE_KEY, and the scopes"
                    " openid, email and profile."
                )
            ),
            Step(
                text=marked(
                    "It sends no address by itself: set OAUTH2_VALIDATOR_CLASS to a class of your own, whose"
                    " get_additional_claims returns email. If it returns groups too, set its oidc_claim_scope to None."
                )
            ),
            Step(
                text=marked(
                    "In the administration of Django, add an application: confidential, with an authorization code, the"
                    " algorithm RS256, and this address as its redirect URI."
                ),
                copies=("redirect_uri",),
            ),
            Step(
                text=marked("Copy its client id, and its client secret before you save: it keeps a hash alone."),
                fields=("client_id", "client_secret"),
            ),
            Step(
                text=marked(
                    "The issuer is the address at which oauth2_provider.urls is included, without a slash at the end,"
                    " such as https://site.acme.example/o."
                ),
                fields=("issuer",),
            ),
            _NAME,
        ),
    ),
    ProviderKind(
        word="djangosaml2idp-saml",
        name="djangosaml2idp",
        steps=(
            Step(
                text=marked(
                    "In SAML_IDP_CONFIG of the site's settings, name a key and its certificate, and the formats"
                    " persistent and unspecified under name_id_format."
                )
            ),
            Step(
                text=marked(
                    "In the administration of Django, add a service provider with this entity id and metadata."
                ),
                copies=("entity_id", "metadata_address"),
            ),
            Step(
                text=marked(
                    "Switch “Sign assertion” of that service provider on: it signs nothing by itself. Leave email in"
                    " its attribute mapping."
                )
            ),
            Step(
                text=marked(
                    "Its metadata are at /metadata/ below the address at which djangosaml2idp.urls is included."
                ),
                fields=("metadata_url", "metadata_xml"),
            ),
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
    *_SELF_HOSTED,
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
    ProviderKind(
        word="lemonldap-saml",
        name="LemonLDAP::NG",
        instead="lemonldap",
        steps=(
            Step(
                text=marked(
                    "In the Manager of LemonLDAP::NG, open “General Parameters”, “Issuer modules” and “SAML”, and"
                    " switch “Activation” on. “SAML2 Service” has to have a key with a certificate."
                )
            ),
            Step(
                text=marked("Under “SAML Service Providers”, add one, and load these metadata."),
                copies=("metadata_address",),
            ),
            Step(
                text=marked(
                    "Under “Options”, choose “Persistent” as “Default NameID format”. Under “Exported attributes”, add"
                    " mail with the name email."
                )
            ),
            Step(
                text=marked("Its metadata are at /saml/metadata/idp below the address of the portal."),
                fields=("metadata_url", "metadata_xml"),
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
