"""The SAML fields that the console and the pages of setup links ask for, and the values that they offer to copy."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from core.lazy_dataclasses import dataclass
from core.saml.configuration import SamlConfiguration
from core.saml.messages import NameIdFormat
from entrypoints.pages.console.setup_steps import ProviderKind
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.saml import application_kinds
from entrypoints.web.serving.calls import Call

# The names of users in assertions that the page offers.
NAMES: Final = (
    (NameIdFormat.EMAIL_ADDRESS.value, marked("Email address")),
    (NameIdFormat.PERSISTENT.value, marked("Persistent id")),
    (NameIdFormat.UNSPECIFIED.value, marked("Unspecified")),
)


class TypedApplication(Protocol):
    """A form: the metadata of the application, or its entity id and address; and how it names users."""

    metadata: str
    entity_id: str
    acs_url: str
    name_id_format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedApplication:
    """What stands in the fields before anything is typed."""

    metadata: str = ""
    entity_id: str = ""
    acs_url: str = ""
    name_id_format: str
    email_attribute: str = ""


# What Microsoft Entra is as a service provider, the same for all of its customers.
ENTRA: Final = ProposedApplication(
    entity_id=application_kinds.ENTRA_ENTITY_ID,
    acs_url="https://login.microsoftonline.com/login.srf",
    name_id_format=NameIdFormat.PERSISTENT.value,
    email_attribute="http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
)


def copies_of(entity_id: str) -> Mapping[str, tuple[str, str]]:
    """Return the addresses of an identity provider to copy, each with its label in English."""
    return {
        "entity_id": (marked("Entity id, or issuer"), entity_id),
        "sso_url": (marked("Sign-in address"), f"{entity_id}/sso"),
        "slo_url": (marked("Sign-out address"), f"{entity_id}/slo"),
        "metadata_url": (marked("Metadata address"), f"{entity_id}/metadata"),
    }


async def changes_of(call: Call, form: TypedApplication) -> Mapping[str, Any]:
    """Return what a form changes; what metadata say is followed, whatever is typed beside them."""
    typed = {
        "entity_id": form.entity_id.strip() or None,
        "acs_url": form.acs_url.strip() or None,
        "name_id_format": form.name_id_format or None,
    }
    if not form.metadata.strip():
        return typed
    fields = await call.installation.saml.read_metadata(form.metadata, at=call.installation.clock())
    return {**fields, "name_id_format": fields["name_id_format"] or typed["name_id_format"]}


def proposed(
    stored: SamlConfiguration, kind: ProviderKind | None, stored_kind: ProviderKind | None
) -> ProposedApplication:
    """Return the fields as they are stored; of another application than the stored one, what is known of it."""
    if kind is not None and kind is not stored_kind:
        return ENTRA if kind.word == "entra" else ProposedApplication(name_id_format=stored.effective_format.value)
    return ProposedApplication(
        entity_id=stored.entity_id or "",
        acs_url=stored.acs_url or "",
        name_id_format=stored.effective_format.value,
        email_attribute=(stored.attribute_mapping or {}).get("email", ""),
    )
