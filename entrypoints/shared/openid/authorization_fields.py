"""The parameters of an authorization request, as a browser brings them and as a backend pushes them."""

from uuid import UUID

from core.openid import requests
from entrypoints.shared.openid.id_tokens import hinted_claims
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.hosts import issuer_of
from entrypoints.web.serving.calls import Call


def is_own_resource(call: Call, resource: str | None) -> bool:
    """Return whether a resource is our own interface, as its metadata name it (RFC 9728); it counts as no resource."""
    return resource is not None and resource.removesuffix("/") in {
        issuer_of(call),
        call.installation.settings.base_url,
    }


class AuthorizationFields(SecretBody, kw_only=True):
    """The parameters of an authorization request."""

    client_id: str | None = None
    response_type: str | None = None
    response_mode: str | None = None
    redirect_uri: str | None = None
    scope: str | None = None
    state: str | None = None
    nonce: str | None = None
    code_challenge: str | None = None
    code_challenge_method: str | None = None
    prompt: str | None = None
    max_age: str | None = None
    login_hint: str | None = None
    id_token_hint: str | None = None
    acr_values: str | None = None
    claims: str | None = None
    ui_locales: str | None = None
    resource: str | None = None
    dpop_jkt: str | None = None
    request: str | None = None
    request_uri: str | None = None
    customer: str | None = None

    def given(self) -> dict[str, str]:
        """Return the parameters that are set; one without a value counts as left out (RFC 6749, 3.1).

        Only the customer may be empty, which says that the user comes as an individual.
        """
        fields = {name: getattr(self, name) for name in AuthorizationFields.__struct_fields__}
        return {name: value for name, value in fields.items() if value or (name == requests.CUSTOMER and value == "")}

    def judged(self, call: Call, client_id: UUID) -> dict[str, str]:
        """Return the same, with the user that an ID token of this client names in place of the token."""
        parameters = self.given()
        if (resource := parameters.pop("resource", None)) is not None and not is_own_resource(call, resource):
            parameters["resource"] = resource
        hint = hinted_claims(call, parameters.pop("id_token_hint", ""))
        if hint is not None and hint["aud"] == str(client_id):
            parameters[requests.HINTED_USER] = hint["sub"]
        return parameters
