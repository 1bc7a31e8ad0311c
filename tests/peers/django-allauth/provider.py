"""An OpenID provider that is made with django-allauth's `idp.oidc`, as its documents say.

    python provider.py FOLDER CLIENT_ID CLIENT_SECRET KEY…

Each KEY is a file with a private key, of which the first one signs; `rotate` goes on to the next one. It names the
groups of a user in a claim, which takes an adapter of one's own.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

from tests.identity_programs import django_site

folder, (client_id, client_secret, *keys) = Path(sys.argv[1]), sys.argv[2:]
pems = [Path(key).read_text() for key in keys]
server = django_site.bound()
django_site.prepare(
    folder,
    "allauth",
    "allauth.account",
    "allauth.idp.oidc",
    MIDDLEWARE=("allauth.account.middleware.AccountMiddleware",),
    ACCOUNT_EMAIL_VERIFICATION="none",
    ACCOUNT_RATE_LIMITS=False,
    AUTHENTICATION_BACKENDS=["allauth.account.auth_backends.AuthenticationBackend"],
    IDP_OIDC_ADAPTER="__main__.Adapter",
    IDP_OIDC_PRIVATE_KEYS=[{"pem": pems[0]}],
)


class Adapter(importlib.import_module("allauth.idp.oidc.adapter").DefaultOIDCAdapter):
    """What is said of a user besides the standard claims."""

    def get_claims(self, purpose: Any, user: Any, client: Any, scopes: Any, **options: Any) -> dict[str, Any]:
        """Return the claims of a user, with the groups."""
        claims = super().get_claims(purpose, user, client, scopes, **options)
        return {**claims, "groups": django_site.groups_of(user)}


urls = importlib.import_module("django.urls")
urlpatterns = [urls.path("", urls.include("allauth.idp.urls")), urls.path("accounts/", urls.include("allauth.urls"))]

Client = importlib.import_module("allauth.idp.oidc.models").Client
client = Client(id=client_id, name="Gatehouse", scopes="openid\nemail\nprofile", redirect_uris=django_site.CALLBACK)
client.set_secret(client_secret)
client.set_post_logout_redirect_uris([django_site.SIGNED_OUT])
client.save()
EmailAddress = importlib.import_module("allauth.account.models").EmailAddress
for user in importlib.import_module("django.contrib.auth").get_user_model().objects.all():
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)


def rotate(*, keeps_old: bool) -> None:
    """Sign with the next key; keep the old one in the published set, or not."""
    old = pems.pop(0)
    newest = {"pem": pems[0], "issued_at": "2026-01-01T00:00:00+00:00"}
    django_site.change_setting("IDP_OIDC_PRIVATE_KEYS", [newest, *([{"pem": old}] if keeps_old else [])])


django_site.serve(server, {"set_groups": django_site.set_groups, "rotate": rotate})
