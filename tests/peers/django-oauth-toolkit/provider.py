"""An OpenID provider that is made with django-oauth-toolkit, as its documents say.

    python provider.py FOLDER CLIENT_ID CLIENT_SECRET KEY…

Each KEY is a file with a private key, of which the first one signs; `rotate` goes on to the next one. By itself it
says nothing of a user but an id: the address and the groups take a validator of one's own.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

from tests.identity_programs import django_site

folder, (client_id, client_secret, *keys) = Path(sys.argv[1]), sys.argv[2:]
pems = [Path(key).read_text() for key in keys]
SETTINGS = {
    "OAUTH2_VALIDATOR_CLASS": "__main__.Validator",
    "OIDC_ENABLED": True,
    "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
    "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
    "SCOPES": {"openid": "Who you are", "email": "Your address", "profile": "Your name"},
}
server = django_site.bound()
django_site.prepare(
    folder,
    "oauth2_provider",
    LOGIN_URL="/sign-in/",
    OAUTH2_PROVIDER={**SETTINGS, "OIDC_RSA_PRIVATE_KEY": pems[0]},
)


class Validator(importlib.import_module("oauth2_provider.oauth2_validators").OAuth2Validator):
    """What is said of a user besides the id."""

    oidc_claim_scope = None

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        """Return the claims of a user besides the id."""
        user = request.user
        return {
            "email": user.email,
            "email_verified": True,
            "name": user.get_full_name(),
            "groups": django_site.groups_of(user),
        }


urls = importlib.import_module("django.urls")
login_page = importlib.import_module("django.contrib.auth.views").LoginView
urlpatterns = [
    urls.path("o/", urls.include("oauth2_provider.urls", namespace="oauth2_provider")),
    urls.path("sign-in/", login_page.as_view(template_name="sign-in.html")),
]
(folder / "templates").mkdir()
(folder / "templates" / "sign-in.html").write_text('<form method="post">{% csrf_token %}{{ form }}</form>')

importlib.import_module("oauth2_provider.models").get_application_model().objects.create(
    name="Gatehouse",
    client_id=client_id,
    client_secret=client_secret,
    client_type="confidential",
    authorization_grant_type="authorization-code",
    redirect_uris=django_site.CALLBACK,
    post_logout_redirect_uris=django_site.SIGNED_OUT,
    algorithm="RS256",
)


def rotate(*, keeps_old: bool) -> None:
    """Sign with the next key; keep the old one in the published set, or not."""
    old = pems.pop(0)
    keys = {"OIDC_RSA_PRIVATE_KEY": pems[0], "OIDC_RSA_PRIVATE_KEYS_INACTIVE": [old] if keeps_old else []}
    django_site.change_setting("OAUTH2_PROVIDER", {**SETTINGS, **keys})


django_site.serve(server, {"set_groups": django_site.set_groups, "rotate": rotate})
