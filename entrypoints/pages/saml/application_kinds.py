"""The applications that the page of a setup link for SAML knows, and what to do in the console of each."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from entrypoints.pages.console.setup_steps import ProviderKind, Step, kind_of, step
from entrypoints.pages.frame.languages import marked

READ_IN: Final = "2026-11"
_USERS: Final = step(
    "Choose what the application receives about a user. In doubt, leave it as it is.",
    fields=("name_id_format", "email_attribute"),
)


def _kind(word: str, name: str, source: str, *steps: Step) -> ProviderKind:
    return ProviderKind(word=word, name=name, source=source, read_in=READ_IN, steps=steps)


OTHER: Final = _kind(
    "other",
    marked("Another application"),
    "https://docs.oasis-open.org/security/saml/v2.0/saml-metadata-2.0-os.pdf",
    step(
        "At the application, set up sign-in by SAML 2.0. If it reads metadata, give it the metadata address; else"
        " enter the other values, and the certificate above.",
        copies=("metadata_url", "entity_id", "sso_url", "slo_url"),
    ),
    step(
        "Paste the metadata of the application here. Instead, you can enter its entity id and its address for"
        " assertions.",
        fields=("metadata", "entity_id", "acs_url"),
    ),
    _USERS,
)
KINDS: Final = (
    _kind(
        "okta",
        "Okta",
        "https://developer.okta.com/docs/guides/add-an-external-idp/saml2/main/",
        step(
            "In the Okta Admin Console, open “Security” and “Identity Providers”. Choose “Add identity provider”"
            " and “SAML 2.0 IdP”, then “Next”."
        ),
        step(
            "Enter these as “IdP Issuer URI” and “IdP Single Sign-On URL”, and upload the certificate above as a"
            " .pem file. Choose “Finish”.",
            copies=("entity_id", "sso_url"),
        ),
        step(
            "At the new identity provider, choose “Actions” and “Download metadata”, and paste the file here."
            " Instead, you can enter its entity id and its address for assertions.",
            fields=("metadata", "entity_id", "acs_url"),
        ),
        _USERS,
    ),
    _kind(
        "entra",
        "Microsoft Entra ID",
        "https://learn.microsoft.com/en-us/entra/external-id/direct-federation",
        step(
            "In the Microsoft Entra admin center, open “External Identities” and “All identity providers”. On the"
            " tab “Custom”, choose “Add new” and “SAML/WS-Fed”."
        ),
        step(
            "After step 2 there, enter the metadata address and choose “Parse”. Instead, you can enter the entity"
            " id as “Issuer URI”, the sign-in address as “Passive authentication endpoint”, and the certificate"
            " above.",
            copies=("metadata_url", "entity_id", "sso_url"),
        ),
        step(
            "These are filled in, and the same for every customer of Microsoft. Leave them as they are, and save.",
            fields=("entity_id", "acs_url", "name_id_format", "email_attribute"),
        ),
    ),
    _kind(
        "google",
        "Google Workspace",
        "https://support.google.com/a/answer/12032922",
        step(
            "In the Google Admin console, open “Security”, “Authentication” and “SSO with third-party IdP”, and"
            " choose “Add SAML profile”."
        ),
        step(
            "Enter these as “IDP entity ID”, “Sign-in page URL” and “Sign-out page URL”. Upload the certificate"
            " above as a .pem file, and save.",
            copies=("entity_id", "sso_url", "slo_url"),
        ),
        step("Under “SP details”, copy “Entity ID” and “ACS URL”.", fields=("entity_id", "acs_url")),
        _USERS,
        step("Save here. At Google, assign the profile under “Manage SSO profile assignments”."),
    ),
    OTHER,
)
# The names under which the products call themselves in entity ids.
_HOSTS: Final[Mapping[str, str]] = {"www.okta.com": "okta", "accounts.google.com": "google"}
ENTRA_ENTITY_ID: Final = "urn:federation:MicrosoftOnline"


def kind_of_application(entity_id: str) -> ProviderKind | None:
    """Return the kind of an application by its entity id; None without one."""
    if not entity_id:
        return None
    if entity_id == ENTRA_ENTITY_ID:
        return kind_of(KINDS, "entra")
    try:
        host = urlsplit(entity_id).hostname
    except ValueError:
        host = None
    return kind_of(KINDS, _HOSTS.get(host or "", OTHER.word))
