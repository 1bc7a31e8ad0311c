"""How applications in Python are connected that have a library for it."""

from typing import Final

from entrypoints.pages.console.recipes.recipe import SAML_GROUPS, Protocol, Recipe
from entrypoints.pages.frame.languages import marked

RECIPES: Final = (
    Recipe(
        word="mozilla-django-oidc",
        name="mozilla-django-oidc (Django)",
        run="5.0.2",
        source="https://mozilla-django-oidc.readthedocs.io/en/stable/installation.html",
        redirect_uri="@PROGRAM@/oidc/callback/",
        logout_uri="@PROGRAM@/",
        settings={
            "settings.py": """
INSTALLED_APPS += ["mozilla_django_oidc"]
MIDDLEWARE += ["mozilla_django_oidc.middleware.SessionRefresh"]
AUTHENTICATION_BACKENDS = ["gatehouse.GatehouseBackend"]
LOGIN_URL = "oidc_authentication_init"
LOGIN_REDIRECT_URL = LOGIN_REDIRECT_URL_FAILURE = LOGOUT_REDIRECT_URL = "/"
OIDC_RP_CLIENT_ID = "@CLIENT@"
OIDC_RP_CLIENT_SECRET = "@SECRET@"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_RP_SCOPES = "openid email profile"
OIDC_USE_PKCE = True
OIDC_OP_AUTHORIZATION_ENDPOINT = "@ISSUER@/auth/authorize"
OIDC_OP_TOKEN_ENDPOINT = "@ISSUER@/auth/token"
OIDC_OP_USER_ENDPOINT = "@ISSUER@/auth/userinfo"
OIDC_OP_JWKS_ENDPOINT = "@ISSUER@/.well-known/jwks.json"
OIDC_STORE_ID_TOKEN = True
OIDC_OP_LOGOUT_URL_METHOD = "gatehouse.logout_url"
""",
            "gatehouse.py": """
from urllib.parse import urlencode

from mozilla_django_oidc.auth import OIDCAuthenticationBackend


class GatehouseBackend(OIDCAuthenticationBackend):
    def create_user(self, claims):
        return self.update_user(super().create_user(claims), claims)

    def update_user(self, user, claims):
        user.is_staff = user.is_superuser = "admins" in claims.get("groups", [])
        user.save()
        return user


def logout_url(request):
    query = {"id_token_hint": request.session["oidc_id_token"], "post_logout_redirect_uri": "@PROGRAM@/"}
    return f"@ISSUER@/auth/logout?{urlencode(query)}"
""",
            "urls.py": """
from django.urls import include, path

urlpatterns += [path("oidc/", include("mozilla_django_oidc.urls"))]
""",
        },
        groups=marked("Your backend gets the claims, and reads the names in groups or service_roles."),
        admins=marked("update_user sets is_staff and is_superuser by the group, at every sign-in."),
        notes=(
            marked("The redirect URI ends with a slash."),
            marked("Its user names are hashes of the address; OIDC_USERNAME_ALGO takes a function of yours."),
        ),
    ),
    Recipe(
        word="social-auth-app-django",
        name="social-auth-app-django (Django)",
        run="8.0",
        source="https://python-social-auth.readthedocs.io/en/latest/backends/oidc.html",
        redirect_uri="@PROGRAM@/complete/oidc/",
        settings={
            "settings.py": """
INSTALLED_APPS += ["social_django"]
AUTHENTICATION_BACKENDS = ["social_core.backends.open_id_connect.OpenIdConnectAuth"]
LOGIN_REDIRECT_URL = "/"
SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "@ISSUER@"
SOCIAL_AUTH_OIDC_KEY = "@CLIENT@"
SOCIAL_AUTH_OIDC_SECRET = "@SECRET@"
SOCIAL_AUTH_PIPELINE = (*DEFAULT_AUTH_PIPELINE, "gatehouse.set_admin")  # from social_core.pipeline
""",
            "gatehouse.py": """
def set_admin(backend, user, response, *args, **kwargs):
    user.is_staff = user.is_superuser = "admins" in response.get("groups", [])
    user.save()
""",
            "urls.py": """
from django.urls import include, path

urlpatterns += [path("", include("social_django.urls", namespace="social"))]
""",
        },
        groups=marked("A step of your own in its pipeline reads the names in groups or service_roles of the response."),
        admins=marked("The step sets is_staff and is_superuser by the group, at every sign-in."),
        notes=(marked("The redirect URI ends with a slash."),),
    ),
    Recipe(
        word="python3-saml",
        name="python3-saml",
        run="1.16",
        source="https://github.com/SAML-Toolkits/python3-saml",
        protocol=Protocol.SAML,
        entity_id="@PROGRAM@/saml/metadata/",
        redirect_uri="@PROGRAM@/saml/?acs",
        logout_uri="@PROGRAM@/saml/?sls",
        settings={
            "saml/settings.json": """
{
  "strict": true,
  "sp": {
    "entityId": "@PROGRAM@/saml/metadata/",
    "assertionConsumerService": {
      "url": "@PROGRAM@/saml/?acs",
      "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
    },
    "singleLogoutService": {
      "url": "@PROGRAM@/saml/?sls",
      "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    },
    "NameIDFormat": "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
  },
  "idp": {
    "entityId": "@IDP@",
    "singleSignOnService": {
      "url": "@IDP@/sso",
      "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    },
    "singleLogoutService": {
      "url": "@IDP@/slo",
      "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
    },
    "x509cert": "THE_CERTIFICATE_OF_THE_PAGE_SAML"
  },
  "security": {"wantAssertionsSigned": true, "wantMessagesSigned": true}
}
""",
        },
        groups=SAML_GROUPS,
        admins=marked("Compare the names that get_attributes() has, in your own code."),
    ),
)
