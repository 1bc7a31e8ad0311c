"""What the fields of SAML mean: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


FIELDS: Final[dict[str, dict[str, Any]]] = {
    # The configuration
    "entity_id": _field(
        "The entity id of the service provider; required when SAML is enabled.",
        examples=["https://app.example.com/saml/metadata"],
    ),
    "acs_url": _field(
        "The only address to which assertions go: the assertion consumer service; required when SAML is enabled.",
        examples=["https://app.example.com/saml/acs"],
    ),
    "slo_url": _field(
        "Where messages about logouts go; without it none are sent.", examples=["https://app.example.com/saml/slo"]
    ),
    "slo_binding": _field("How messages reach `slo_url`."),
    "name_id_format": _field("The format of the user's name in assertions; null means the email address."),
    "attribute_mapping": _field(
        "The names of the attributes in assertions, by the fields of a user: `email` and `id`, and for members also"
        " `name`, `role` and `groups`. At a service with customers also `customer.id`, `customer.slug`,"
        " `customer.name`, `customer.role`, `customer.external_id` and `customer.service_roles`, for a user who comes"
        " for one. Null means `email` and `id` under these names."
    ),
    "sign_assertions": _field("Whether assertions are signed."),
    "sign_response": _field("Whether responses are signed."),
    "sp_certificate": _field(
        "The certificate of the service provider, as PEM. With it, requests without its signature are refused."
    ),
    "members_only": _field(
        "Whether only members, users that the organization created, existing end users of the service, and people of"
        " its customers may sign in."
    ),
    "has_certificate": _field("Whether the service has an active certificate, without which SAML does not work."),
    "ProviderDescription.metadata": _field("The metadata of the service provider: the XML of an EntityDescriptor."),
    # Certificates
    "public_key": _field("The X.509 certificate, as PEM."),
    "valid_from": _field("When the certificate begins to be valid."),
    "valid_until": _field("When the certificate ends."),
    "CertificateRecord.is_active": _field("Whether Gatehouse signs with it."),
    # Messages
    "SAMLRequest": _field("A request of a service provider, encoded for its binding."),
    "SAMLResponse": _field("An answer of a service provider, encoded for its binding."),
    "RelayState": _field("What the service provider gets back unchanged."),
    "relay_state": _field("What the service provider gets with the assertion."),
    "saml_state": _field("The state under which a request of a service provider waits."),
    "ticket": _field("The ticket of a sign-in elsewhere, valid once, for a minute."),
    "saml_redirect_url": _field(
        "Where to send the browser, within a minute, so that it is signed in to the application that has asked."
    ),
}
