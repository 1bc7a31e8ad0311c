"""How programs with which teams work together are connected."""

from typing import Final

from entrypoints.pages.console.recipes.recipe import Recipe
from entrypoints.pages.frame.languages import marked

RECIPES: Final = (
    Recipe(
        word="synapse",
        name="Synapse (Matrix)",
        run="1.163.2",
        source="https://element-hq.github.io/synapse/latest/openid.html",
        redirect_uri="@PROGRAM@/_synapse/client/oidc/callback",
        backchannel_uri="@PROGRAM@/_synapse/client/oidc/backchannel_logout",
        settings={
            "homeserver.yaml": """
public_baseurl: @PROGRAM@/
oidc_providers:
  - idp_id: gatehouse
    idp_name: Gatehouse
    discover: true
    issuer: "@ISSUER@"
    client_id: "@CLIENT@"
    client_secret: "@SECRET@"
    scopes: [openid, profile, email]
    pkce_method: auto
    backchannel_logout_enabled: true
    user_mapping_provider:
      config:
        localpart_template: '{{ user.email.split("@")[0] }}'
        display_name_template: '{{ user.name }}'
        email_template: '{{ user.email }}'
    # To let in one group alone:
    # attribute_requirements: [{attribute: groups, value: matrix}]
""",
            "psql": """
-- After the first sign-in of who is to be an admin, in the database of Synapse; then restart it.
UPDATE users SET admin = 1 WHERE name = '@YOU:YOUR-SERVER-NAME';
""",
        },
        groups=marked("attribute_requirements asks for a name in groups or in service_roles, and gives no role."),
        admins=marked(
            "No claim makes an admin: set admin in the table users, or let another admin call its admin API."
        ),
        notes=(
            marked("Two addresses with the same name before the @ collide, and an id cannot be changed later."),
            marked("The path of its sign-in is oidc- and the idp_id."),
            marked(
                "Signing out there ends no session here. Signing out here ends its sessions, where the address for"
                " ended sessions is registered."
            ),
        ),
    ),
    Recipe(
        word="gitlab",
        name="GitLab",
        source="https://docs.gitlab.com/administration/auth/oidc/",
        redirect_uri="@PROGRAM@/users/auth/openid_connect/callback",
        settings={
            "/etc/gitlab/gitlab.rb": """
gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: "Gatehouse",
    args: {
      name: "openid_connect",
      scope: ["openid", "profile", "email"],
      response_type: "code",
      issuer: "@ISSUER@",
      discovery: true,
      client_auth_method: "query",
      uid_field: "sub",
      pkce: true,
      client_options: {
        identifier: "@CLIENT@",
        secret: "@SECRET@",
        redirect_uri: "@PROGRAM@/users/auth/openid_connect/callback",
        gitlab: {
          groups_attribute: "groups",
          admin_groups: ["admins"]
        }
      }
    }
  }
]
""",
        },
        groups=marked("groups_attribute names the claim: groups or service_roles, a list of names."),
        admins=marked("admin_groups makes admins, required_groups says who may come in; both need GitLab Premium."),
        notes=(marked("Run gitlab-ctl reconfigure after a change."),),
    ),
    Recipe(
        word="gitea",
        name="Gitea",
        source="https://docs.gitea.com/administration/command-line",
        redirect_uri="@PROGRAM@/user/oauth2/gatehouse/callback",
        settings={
            "gitea admin": """
gitea admin auth add-oauth \\
  --name gatehouse \\
  --provider openidConnect \\
  --key @CLIENT@ \\
  --secret @SECRET@ \\
  --auto-discover-url @ISSUER@/.well-known/openid-configuration \\
  --scopes openid --scopes email --scopes profile \\
  --group-claim-name groups \\
  --admin-group admins
""",
        },
        groups=marked("group-claim-name names the claim: groups or service_roles, a list of names."),
        admins=marked("admin-group makes admins, required-claim-name and required-claim-value say who may come in."),
        notes=(marked("The name of the source is a part of the redirect URI."),),
    ),
    Recipe(
        word="nextcloud",
        name="Nextcloud",
        source="https://github.com/nextcloud/user_oidc",
        redirect_uri="@PROGRAM@/apps/user_oidc/code",
        logout_uri="@PROGRAM@/",
        backchannel_uri="@PROGRAM@/apps/user_oidc/backchannel-logout/gatehouse",
        settings={
            "occ": """
php occ app:install user_oidc
php occ user_oidc:provider gatehouse \\
  --clientid="@CLIENT@" \\
  --clientsecret="@SECRET@" \\
  --discoveryuri="@ISSUER@/.well-known/openid-configuration" \\
  --scope="openid email profile" \\
  --unique-uid=0 \\
  --mapping-uid=sub \\
  --mapping-email=email \\
  --mapping-display-name=name \\
  --mapping-groups=groups \\
  --group-provisioning=1
""",
        },
        groups=marked("mapping-groups names the claim, a list of names. With group-provisioning it makes the groups."),
        admins=marked("Who is in a group named admin is an admin there."),
        notes=(marked("Without index.php in its addresses; otherwise /index.php stands before /apps in each."),),
    ),
)
