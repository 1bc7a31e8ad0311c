"""How tools for data, dashboards and automation are connected."""

from typing import Final

from entrypoints.pages.console.recipes.recipe import Recipe
from entrypoints.pages.frame.languages import marked

RECIPES: Final = (
    Recipe(
        word="pgadmin",
        name="pgAdmin",
        run="9.18",
        source="https://www.pgadmin.org/docs/pgadmin4/latest/oauth2.html",
        redirect_uri="@PROGRAM@/oauth2/authorize",
        logout_uri="@PROGRAM@/",
        settings={
            "config_local.py": """
AUTHENTICATION_SOURCES = ["oauth2", "internal"]
OAUTH2_AUTO_CREATE_USER = True
OAUTH2_CONFIG = [
    {
        "OAUTH2_NAME": "gatehouse",
        "OAUTH2_DISPLAY_NAME": "Gatehouse",
        "OAUTH2_CLIENT_ID": "@CLIENT@",
        "OAUTH2_CLIENT_SECRET": "@SECRET@",
        "OAUTH2_SERVER_METADATA_URL": "@ISSUER@/.well-known/openid-configuration",
        "OAUTH2_AUTHORIZATION_URL": "@ISSUER@/auth/authorize",
        "OAUTH2_TOKEN_URL": "@ISSUER@/auth/token",
        "OAUTH2_API_BASE_URL": "@ISSUER@/",
        "OAUTH2_USERINFO_ENDPOINT": "auth/userinfo",
        "OAUTH2_SCOPE": "openid email profile",
        "OAUTH2_RESPONSE_TYPE": "code",
        "OAUTH2_CHALLENGE_METHOD": "S256",
        "OAUTH2_USERNAME_CLAIM": "email",
        "OAUTH2_LOGOUT_URL": "@ISSUER@/auth/logout"
        "?post_logout_redirect_uri={redirect_uri}&id_token_hint={id_token}",
        # To let in only members of these groups:
        # "OAUTH2_ADDITIONAL_CLAIMS": {"groups": ["admins", "developers"]},
    }
]
""",
            "pgadmin4-cli": """
# After the first sign-in of who is to be an admin. Where pgAdmin is not of PyPI: python setup.py, in its folder web.
pgadmin4-cli update-external-user YOU@YOUR-DOMAIN --auth-source oauth2 --admin
""",
        },
        groups=marked(
            "It reads the ID token alone. OAUTH2_ADDITIONAL_CLAIMS admits people whose list has one of the names;"
            " it gives no role."
        ),
        admins=marked(
            "No claim makes an admin. pgadmin4-cli makes one after the first sign-in, or an admin there does under User"
            " Management."
        ),
        notes=(marked("It shows a refusal as an error 500 in JSON that has our text in it."),),
    ),
    Recipe(
        word="jupyterhub",
        name="JupyterHub",
        run="6.1.1, oauthenticator 17.4",
        source="https://oauthenticator.readthedocs.io/en/stable/tutorials/provider-specific-setup/providers/generic.html",
        redirect_uri="@PROGRAM@/hub/oauth_callback",
        logout_uri="@PROGRAM@/",
        settings={
            "jupyterhub_config.py": """
c.JupyterHub.authenticator_class = "oauthenticator.generic.GenericOAuthenticator"
c.GenericOAuthenticator.client_id = "@CLIENT@"
c.GenericOAuthenticator.client_secret = "@SECRET@"
c.GenericOAuthenticator.oauth_callback_url = "@PROGRAM@/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = "@ISSUER@/auth/authorize"
c.GenericOAuthenticator.token_url = "@ISSUER@/auth/token"
c.GenericOAuthenticator.userdata_url = "@ISSUER@/auth/userinfo"
c.GenericOAuthenticator.scope = ["openid", "email", "profile"]
c.GenericOAuthenticator.username_claim = "email"
c.GenericOAuthenticator.allow_all = True
# JUPYTERHUB_CRYPT_KEY in the environment: openssl rand -hex 32
c.GenericOAuthenticator.enable_auth_state = True
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.admin_groups = {"admins"}
c.GenericOAuthenticator.logout_redirect_url = (
    "@ISSUER@/auth/logout?client_id=@CLIENT@&post_logout_redirect_uri=@PROGRAM@/"
)
""",
        },
        groups=marked(
            "It reads the names in groups of the user information. With oauth_user.service_roles it reads roles."
        ),
        admins=marked("Who is in a group that admin_groups names is an admin from the next sign-in."),
        notes=(
            marked("allow_all admits everyone that the service admits; allowed_groups is stricter."),
            marked("A wrong client secret is a bare error 500 of the Hub's."),
        ),
    ),
    Recipe(
        word="grafana",
        name="Grafana",
        source="https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/",
        redirect_uri="@PROGRAM@/login/generic_oauth",
        logout_uri="@PROGRAM@/login",
        settings={
            "grafana.ini": """
[server]
root_url = @PROGRAM@/

[auth.generic_oauth]
enabled = true
name = Gatehouse
client_id = @CLIENT@
client_secret = @SECRET@
scopes = openid email profile
auth_url = @ISSUER@/auth/authorize
token_url = @ISSUER@/auth/token
api_url = @ISSUER@/auth/userinfo
use_pkce = true
login_attribute_path = email
groups_attribute_path = groups
role_attribute_path = contains(groups[*], 'admins') && 'Admin' || 'Viewer'
signout_redirect_url = @ISSUER@/auth/logout?post_logout_redirect_uri=@PROGRAM@/login
""",
        },
        groups=marked("An expression in JMESPath reads the names in groups, or in service_roles, and gives the role."),
        admins=marked(
            "role_attribute_path makes the group admins an Admin. GrafanaAdmin needs allow_assign_grafana_admin."
        ),
        notes=(marked("Behind a proxy root_url has to be the address that people open."),),
    ),
    Recipe(
        word="flask-appbuilder",
        name="Flask-AppBuilder (Superset, Airflow)",
        run="5.3, Authlib 1.9.10",
        source="https://flask-appbuilder.readthedocs.io/en/latest/security.html#authentication-oauth",
        redirect_uri="@PROGRAM@/oauth-authorized/gatehouse",
        settings={
            "superset_config.py": """
from flask_appbuilder.security.manager import AUTH_OAUTH
from superset.security import SupersetSecurityManager

AUTH_TYPE = AUTH_OAUTH
AUTH_USER_REGISTRATION = True
AUTH_USER_REGISTRATION_ROLE = "Gamma"
AUTH_ROLES_SYNC_AT_LOGIN = True
AUTH_ROLES_MAPPING = {"admins": ["Admin"]}
OAUTH_PROVIDERS = [
    {
        "name": "gatehouse",
        "icon": "fa-key",
        "token_key": "access_token",
        "remote_app": {
            "client_id": "@CLIENT@",
            "client_secret": "@SECRET@",
            "server_metadata_url": "@ISSUER@/.well-known/openid-configuration",
            "api_base_url": "@ISSUER@/auth/",
            "client_kwargs": {"scope": "openid email profile", "code_challenge_method": "S256"},
        },
    }
]


class GatehouseSecurityManager(SupersetSecurityManager):
    def oauth_user_info(self, provider, response=None):
        me = self.appbuilder.sm.oauth_remotes[provider].get("userinfo").json()
        return {
            "username": me["email"],
            "email": me["email"],
            "first_name": me.get("given_name") or me.get("name") or me["email"],
            "last_name": me.get("family_name", ""),
            "role_keys": me.get("groups", []),
        }


CUSTOM_SECURITY_MANAGER = GatehouseSecurityManager
""",
        },
        groups=marked("oauth_user_info hands the names in groups, or in service_roles, over as role_keys."),
        admins=marked("AUTH_ROLES_MAPPING gives each name roles there, from the next sign-in."),
        notes=(marked("In Airflow the class derives from FabAirflowSecurityManagerOverride; the rest is the same."),),
    ),
    Recipe(
        word="directus",
        name="Directus",
        run="11.17.4",
        source="https://directus.io/docs/configuration/auth-sso",
        redirect_uri="@PROGRAM@/auth/login/gatehouse/callback",
        settings={
            ".env": """
PUBLIC_URL="@PROGRAM@"
AUTH_PROVIDERS="gatehouse"
AUTH_GATEHOUSE_DRIVER="openid"
AUTH_GATEHOUSE_CLIENT_ID="@CLIENT@"
AUTH_GATEHOUSE_CLIENT_SECRET="@SECRET@"
AUTH_GATEHOUSE_ISSUER_URL="@ISSUER@/.well-known/openid-configuration"
AUTH_GATEHOUSE_IDENTIFIER_KEY="email"
AUTH_GATEHOUSE_ALLOW_PUBLIC_REGISTRATION="true"
AUTH_GATEHOUSE_REQUIRE_VERIFIED_EMAIL="true"
AUTH_GATEHOUSE_DEFAULT_ROLE_ID="ID_OF_A_ROLE"
AUTH_GATEHOUSE_GROUP_CLAIM_NAME="groups"
AUTH_GATEHOUSE_ROLE_MAPPING='json:{"admins": "ID_OF_THE_ADMINISTRATOR_ROLE"}'
""",
        },
        groups=marked("It reads the claim that GROUP_CLAIM_NAME names: groups or service_roles, a list of names."),
        admins=marked("ROLE_MAPPING gives each name a role of Directus by its id, at every sign-in."),
        notes=(
            marked("A refusal and a cancelled sign-in both read INVALID_CREDENTIALS there."),
            marked("Signing out ends the session there alone."),
            marked("The role of DEFAULT_ROLE_ID needs a policy with App Access, or its people see nothing."),
        ),
    ),
    Recipe(
        word="node-red",
        name="Node-RED",
        run="4, passport-openidconnect 0.1.2",
        source="https://nodered.org/docs/user-guide/runtime/securing-node-red#oauthopenid-based-authentication",
        redirect_uri="@PROGRAM@/auth/strategy/callback/",
        settings={
            "settings.js": """
adminAuth: {
  type: 'strategy',
  strategy: {
    name: 'openidconnect',
    label: 'Sign in with Gatehouse',
    icon: 'fa-key',
    strategy: require('passport-openidconnect').Strategy,
    options: {
      issuer: '@ISSUER@',
      authorizationURL: '@ISSUER@/auth/authorize',
      tokenURL: '@ISSUER@/auth/token',
      userInfoURL: '@ISSUER@/auth/userinfo',
      clientID: '@CLIENT@',
      clientSecret: '@SECRET@',
      callbackURL: '@PROGRAM@/auth/strategy/callback/',
      scope: ['profile', 'email'],
      verify: (issuer, profile, done) => done(null, { username: profile.emails[0].value }),
    },
  },
  users: [{ username: 'YOU@YOUR-DOMAIN', permissions: ['*'] }],
},
""",
        },
        groups=marked("It reads none. Let the service admit chosen people alone."),
        admins=marked("users names who may change something, each by the address."),
        notes=(marked("The redirect URI ends with a slash."),),
    ),
)
