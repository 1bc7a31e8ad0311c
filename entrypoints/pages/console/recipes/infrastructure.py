"""How programs that run infrastructure are connected."""

from typing import Final

from core.services.services import ServiceType
from entrypoints.pages.console.recipes.recipe import Recipe
from entrypoints.pages.frame.languages import marked

RECIPES: Final = (
    Recipe(
        word="vault",
        name="Vault",
        source="https://developer.hashicorp.com/vault/docs/auth/jwt",
        redirect_uri="@PROGRAM@/ui/vault/auth/oidc/oidc/callback",
        settings={
            "vault": """
vault auth enable oidc
vault write auth/oidc/config \\
  oidc_discovery_url="@ISSUER@" \\
  oidc_client_id="@CLIENT@" \\
  oidc_client_secret="@SECRET@" \\
  default_role="people"
vault write auth/oidc/role/people \\
  user_claim="sub" \\
  groups_claim="groups" \\
  oidc_scopes="openid,email,profile" \\
  allowed_redirect_uris="@PROGRAM@/ui/vault/auth/oidc/oidc/callback" \\
  allowed_redirect_uris="http://localhost:8250/oidc/callback" \\
  token_policies="default"
accessor=$(vault auth list -format=json | jq -r '."oidc/".accessor')
group=$(vault write -field=id identity/group name=admins type=external policies=admin)
vault write identity/group-alias name=admins mount_accessor="$accessor" canonical_id="$group"
""",
        },
        groups=marked(
            "groups_claim names the claim, a list of names. Each name is the alias of an external group there."
        ),
        admins=marked("The alias admins gives the policy admin, which has to exist."),
        notes=(marked("For the command line, register http://localhost:8250/oidc/callback too."),),
    ),
    Recipe(
        word="argo-cd",
        name="Argo CD",
        source="https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/#existing-oidc-provider",
        redirect_uri="@PROGRAM@/auth/callback",
        logout_uri="@PROGRAM@/",
        settings={
            "argocd-cm": """
# The secret is the key oidc.gatehouse.clientSecret of argocd-secret.
data:
  url: @PROGRAM@
  oidc.config: |
    name: Gatehouse
    issuer: @ISSUER@
    clientID: @CLIENT@
    clientSecret: $oidc.gatehouse.clientSecret
    requestedScopes: [openid, profile, email]
    logoutURL: @ISSUER@/auth/logout?id_token_hint={{token}}&post_logout_redirect_uri={{logoutRedirectURL}}
""",
            "argocd-rbac-cm": """
data:
  scopes: "[groups, email]"
  policy.default: role:readonly
  policy.csv: |
    g, admins, role:admin
""",
        },
        groups=marked(
            "It reads the claims that scopes of argocd-rbac-cm names: groups or service_roles, lists of names."
        ),
        admins=marked("A line g in policy.csv gives a name a role there."),
        notes=(marked("For its command line, make a desktop service besides, and name it as cliClientID."),),
    ),
    Recipe(
        word="proxmox",
        name="Proxmox VE",
        source="https://pve.proxmox.com/pve-docs/chapter-pveum.html#pveum_openid",
        redirect_uri="@PROGRAM@",
        settings={
            "pveum": """
pveum realm add gatehouse --type openid \\
  --issuer-url @ISSUER@ \\
  --client-id @CLIENT@ \\
  --client-key @SECRET@ \\
  --scopes "openid email profile" \\
  --username-claim email \\
  --groups-claim groups --groups-autocreate 1 --groups-overwrite 1 \\
  --autocreate 1
pveum group add admins-gatehouse
pveum acl modify / --groups admins-gatehouse --roles Administrator
""",
        },
        groups=marked(
            "groups-claim names the claim, a list of names. Each becomes a group with -gatehouse at its end."
        ),
        admins=marked("An ACL gives the group its role; without one, no one sees anything there."),
        notes=(marked("The redirect URI is the address that people open, with its port and without a path."),),
    ),
    Recipe(
        word="portainer",
        name="Portainer",
        source="https://docs.portainer.io/admin/settings/authentication/oauth",
        redirect_uri="@PROGRAM@",
        settings={
            "Settings, Authentication, OAuth, Custom": """
Client ID: @CLIENT@
Client secret: @SECRET@
Authorization URL: @ISSUER@/auth/authorize
Access token URL: @ISSUER@/auth/token
Resource URL: @ISSUER@/auth/userinfo
Redirect URL: @PROGRAM@
Logout URL: @ISSUER@/auth/logout
User identifier: email
Scopes: openid email profile
Auth Style: In Header
""",
        },
        groups=marked("Automatic team membership reads a claim, such as groups; it needs the Business Edition."),
        admins=marked("Admin mapping of the Business Edition takes a name; else an admin there makes others."),
        notes=(marked("Turn Automatic user provisioning on, or make each account before."),),
    ),
    Recipe(
        word="kubernetes",
        name="Kubernetes (API server)",
        source="https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens",
        service_type=ServiceType.DESKTOP,
        redirect_uri="http://localhost:8000",
        settings={
            "authentication.yaml": """
# kube-apiserver --authentication-config=authentication.yaml
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
  - issuer:
      url: @ISSUER@
      audiences: ["@CLIENT@"]
    claimMappings:
      username: {claim: email, prefix: "gatehouse:"}
      groups: {claim: groups, prefix: "gatehouse:"}
""",
            "kubectl": """
# With the plugin oidc-login (kubelogin).
kubectl config set-credentials gatehouse \\
  --exec-api-version=client.authentication.k8s.io/v1 \\
  --exec-command=kubectl \\
  --exec-arg=oidc-login --exec-arg=get-token \\
  --exec-arg=--oidc-issuer-url=@ISSUER@ \\
  --exec-arg=--oidc-client-id=@CLIENT@ \\
  --exec-arg=--oidc-extra-scope=email --exec-arg=--oidc-extra-scope=profile
kubectl create clusterrolebinding gatehouse-admins --clusterrole=cluster-admin --group=gatehouse:admins
""",
        },
        groups=marked("It reads the ID token: claimMappings names groups or service_roles, a list of names."),
        admins=marked("A ClusterRoleBinding gives a group, with its prefix, a role in the cluster."),
        notes=(marked("The issuer has to be https, and reachable from the API server."),),
    ),
    Recipe(
        word="oauth2-proxy",
        name="oauth2-proxy",
        source="https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect",
        redirect_uri="@PROGRAM@/oauth2/callback",
        settings={
            "oauth2-proxy.cfg": """
provider = "oidc"
oidc_issuer_url = "@ISSUER@"
client_id = "@CLIENT@"
client_secret = "@SECRET@"
redirect_url = "@PROGRAM@/oauth2/callback"
scope = "openid email profile"
code_challenge_method = "S256"
email_domains = ["*"]
oidc_groups_claim = "groups"
# To let in one group alone:
# allowed_groups = ["admins"]
backend_logout_url = "@ISSUER@/auth/logout?id_token_hint={id_token}"
# openssl rand -base64 32 | tr -- '+/' '-_'
cookie_secret = "YOUR_COOKIE_SECRET"
""",
        },
        groups=marked("oidc_groups_claim names the claim, a list of names. allowed_groups says who may come in."),
        admins=marked("It has no admins. The program behind it reads the names in X-Forwarded-Groups."),
    ),
)
