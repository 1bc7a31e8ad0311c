"""The directories that the pages of a setup link know, and what to do at each: for people, and for groups.

Every kind names the page of the product's documentation that its steps follow, and when it was read.
"""

from functools import partial
from typing import Final

from entrypoints.pages.console.setup_steps import ProviderKind, Step
from entrypoints.pages.frame.languages import marked

_kind: Final = partial(ProviderKind, read_in="2026-11")


def _steps(*given: str | Step) -> tuple[Step, ...]:
    """Return the steps; most of them are a text alone."""
    return tuple(one if isinstance(one, Step) else Step(text=one) for one in given)


_TOKEN: Final = marked("Create a token on this page. It is shown once; copy it then.")
KINDS: Final = (
    _kind(
        word="okta",
        name="Okta",
        source="https://help.okta.com/en-us/content/topics/apps/apps_app_integration_wizard_scim.htm",
        steps=_steps(
            _TOKEN,
            marked(
                "In the Okta Admin Console, open “Applications” and your application. On the tab “General”, edit"
                " “App Settings”, choose “SCIM” as “Provisioning”, and “Save”."
            ),
            Step(
                text=marked(
                    "On the tab “Provisioning”, edit “Integration”. Enter these as “SCIM connector base URL” and"
                    " “Unique identifier field for users”. Choose “HTTP Header”, and enter the token."
                ),
                copies=("scim_url", "identifier"),
            ),
            marked(
                "Choose “Test Connector Configuration” and “Save”. Then, under “To App”, enable “Create Users”,"
                " “Update User Attributes” and “Deactivate Users”."
            ),
        ),
    ),
    _kind(
        word="entra",
        name="Microsoft Entra ID",
        source="https://learn.microsoft.com/en-us/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups",
        steps=_steps(
            _TOKEN,
            marked(
                "In the Microsoft Entra admin center, open “Entra ID”, “Enterprise apps” and your application, then"
                " “Provisioning” and “Connect your application”."
            ),
            Step(
                text=marked("Enter this as “Tenant URL” and the token as “Secret token”. Choose “Test connection”."),
                copies=("entra_url",),
            ),
            marked(
                "Choose “Create”. Under “Users and groups”, assign who is to be provisioned, and choose “Start"
                " provisioning”."
            ),
        ),
    ),
    _kind(
        word="google",
        name="Google Workspace",
        source="https://support.google.com/a/answer/7681608",
        steps=_steps(
            _TOKEN,
            marked(
                "In the Google Admin console, open “Apps”, “Web and mobile apps” and your application, then"
                " “Autoprovisioning” and “Set up autoprovisioning”."
            ),
            Step(text=marked("Enter the token as “Access token”, and this as “Endpoint URL”."), copies=("scim_url",)),
            marked("Check the mapping of attributes, choose “Finish”, and turn autoprovisioning on."),
        ),
    ),
    _kind(
        word="jumpcloud",
        name="JumpCloud",
        source="https://jumpcloud.com/support/provision-and-manage-users-and-groups-in-apps-using-custom-scim-identity-management-integration",
        steps=_steps(
            _TOKEN,
            marked(
                "In the JumpCloud Admin Portal, open “SSO Applications” and your application, and its tab"
                " “Identity Management”. Choose “SCIM API”, “SCIM 2.0” and “Configure”."
            ),
            Step(
                text=marked(
                    "Enter this as “Base URL” and the token as “Token Key”, and a “Test User Email” of your mail"
                    " domain. Choose “Test Connection”, then “Activate”."
                ),
                copies=("scim_url",),
            ),
            marked("On the tab “User Groups”, choose whose accounts are created here, and “Save”."),
        ),
    ),
    _kind(
        word="onelogin",
        name="OneLogin",
        source="https://developers.onelogin.com/scim",
        steps=_steps(
            _TOKEN,
            marked(
                "In the OneLogin administration, open “Applications” and “Add App”. Look for “SCIM Provisioner"
                " with SAML (SCIM v2 Core)”, enter a name, and “Save”."
            ),
            Step(
                text=marked(
                    "On “Configuration”, enter this as “SCIM Base URL” and the token as “SCIM Bearer Token”. Choose"
                    " “Enable” at “API Status”, and “Save”."
                ),
                copies=("scim_url",),
            ),
            marked("On “Parameters”, choose “Email” as the value of “scimusername”."),
            marked(
                "On “Provisioning”, turn “Enable provisioning” on, and say which actions an administrator has to"
                " approve. On “Access”, choose the roles whose people are created here, and “Save”."
            ),
        ),
    ),
    _kind(
        word="ping",
        name="PingOne",
        source="https://docs.pingidentity.com/r/en-us/pingone/pingone_create_provisioning_connection",
        steps=_steps(
            _TOKEN,
            marked(
                "In the PingOne admin console, open “Integrations” and “Provisioning”, and choose the plus sign,"
                " “New Connection”, “Identity Store” and “SCIM Outbound”. Enter a name."
            ),
            Step(
                text=marked(
                    "Enter this as “SCIM Base URL”. Choose “2.0” as “SCIM Version” and “OAuth 2 Bearer Token” as"
                    " “Authentication Method”, and enter the token. Choose “Test Connection”, and save."
                ),
                copies=("scim_url",),
            ),
            marked(
                "Turn the connection on. Choose the plus sign and “New Rule” from PingOne to the connection, with"
                " a filter for the people who are created here, and turn the rule on."
            ),
        ),
    ),
    _kind(
        word="keycloak",
        name="Keycloak",
        source="https://www.keycloak.org/docs/latest/server_admin/",
        steps=_steps(
            marked(
                "Keycloak sends nothing by SCIM itself. Skip this part: an account is known from the first sign-in"
                " by the connection, and groups may come with each sign-in."
            ),
            Step(
                text=marked(
                    "An extension of Keycloak that provisions by SCIM 2.0 takes this address, and a token of this page."
                ),
                copies=("scim_url",),
            ),
        ),
    ),
    _kind(
        word="other",
        name=marked("Another directory"),
        source="https://www.rfc-editor.org/rfc/rfc7644",
        steps=_steps(
            _TOKEN,
            Step(
                text=marked(
                    "Enter this address as the base URL of SCIM 2.0, and this as the field that identifies users."
                    " Choose the HTTP header Authorization with a Bearer token, and enter the token."
                ),
                copies=("scim_url", "identifier"),
            ),
            marked("Turn on creating, changing and deactivating users."),
        ),
    ),
)
_PROVISIONED: Final = marked("First set up provisioning by SCIM, with a token of a link that is also for groups.")
GROUP_KINDS: Final = (
    _kind(
        word="okta",
        name="Okta",
        source="https://help.okta.com/en-us/content/topics/users-groups-profiles/usgp-enable-group-push.htm",
        steps=_steps(
            _PROVISIONED,
            marked(
                "In the Okta Admin Console, open “Applications” and your application. On the tab “Assignments”,"
                " assign the people of the groups: a group that is pushed holds only those who are provisioned."
            ),
            marked(
                "On the tab “Push Groups”, choose “Push Groups” and “Find groups by name”. Enter the group, keep"
                " “Push group memberships immediately”, and “Save”."
            ),
        ),
        arrives=marked("The name of each pushed group arrives, and its members, within a minute."),
    ),
    _kind(
        word="entra",
        name="Microsoft Entra ID",
        source="https://learn.microsoft.com/en-us/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups",
        steps=_steps(
            _PROVISIONED,
            marked(
                "In the Microsoft Entra admin center, open “Enterprise apps” and your application. Under “Users and"
                " groups”, assign the groups. The people of groups inside a group are not sent."
            ),
            marked(
                "Under “Provisioning”, “Mappings”, see that “Provision Microsoft Entra ID Groups” is enabled, and"
                " start provisioning."
            ),
            marked(
                "Without SCIM, open “App registrations”, your application and “Token configuration”. Choose “Add"
                " groups claim”, “Groups assigned to the application” and “Group ID”: with all groups, a person who"
                " is in too many sends none."
            ),
        ),
        arrives=marked(
            "By SCIM, the name of each assigned group arrives, and its members, within 40 minutes. Without it, the ids"
            " of the groups arrive when a person signs in."
        ),
    ),
    _kind(
        word="google",
        name="Google Workspace",
        source="https://support.google.com/a/answer/11143403",
        steps=_steps(
            marked("Google Workspace sends groups when a person signs in by SAML, and not by provisioning."),
            marked(
                "In the Google Admin console, open “Apps”, “Web and mobile apps” and your application, then “SAML"
                " attribute mapping”."
            ),
            marked(
                "Under “Group membership”, choose the groups, at most 75. Enter groups as “App attribute”, and “Save”."
            ),
        ),
        arrives=marked("The names of those chosen groups that a person is in arrive when the person signs in."),
    ),
    _kind(
        word="jumpcloud",
        name="JumpCloud",
        source="https://jumpcloud.com/support/provision-and-manage-users-and-groups-in-apps-using-custom-scim-identity-management-integration",
        steps=_steps(
            marked(
                "In the JumpCloud Admin Portal, open “SSO Applications” and your application. Under “User Groups”,"
                " select the groups, and “Save”."
            ),
            marked(
                "With provisioning: under “Identity Management”, turn “Enable management of User Groups and Group"
                " Membership in this application” on, and “Activate”."
            ),
            marked(
                "Without it: under “SSO”, “Attributes”, turn “include group attribute” on, and enter groups as its"
                " name."
            ),
        ),
        arrives=marked(
            "The names of the selected groups arrive: by provisioning with their members, otherwise a person's groups"
            " when the person signs in."
        ),
    ),
    _kind(
        word="onelogin",
        name="OneLogin",
        source="https://developers.onelogin.com/scim",
        steps=_steps(
            marked(
                "With provisioning: on “Parameters” of the application, open “Groups”, and turn “Include in User"
                " Provisioning” on. On “Rules”, add one whose action is “Set Groups” by the roles of a person, and"
                " “Save”."
            ),
            marked(
                "Without it, by SAML: on “Parameters”, add groups with the value “User Roles”, and turn “Include"
                " in SAML assertion” and “Multi-value parameter” on."
            ),
        ),
        arrives=marked(
            "By provisioning, the name of each group that a rule sets arrives, and its members; otherwise the names of"
            " the roles of a person when the person signs in."
        ),
    ),
    _kind(
        word="ping",
        name="PingOne",
        source="https://docs.pingidentity.com/pingone/integrations/p1_provisioning_outbound_group_provisioning.html",
        steps=_steps(
            marked(
                "With provisioning: in the PingOne admin console, open “Integrations”, “Provisioning” and the rule"
                " of the connection. Under “Group Provisioning”, add the groups, and save."
            ),
            marked(
                "Without it: on “Attribute Mappings” of the application, add groups with the PingOne mapping"
                " “Group Names”."
            ),
        ),
        arrives=marked(
            "The names of the groups arrive: by provisioning with their members, otherwise a person's groups when the"
            " person signs in."
        ),
    ),
    _kind(
        word="keycloak",
        name="Keycloak",
        source="https://www.keycloak.org/docs/latest/server_admin/#_protocol-mappers",
        steps=_steps(
            marked(
                "In the Keycloak admin console, open “Clients”, your client, “Client scopes” and the scope whose"
                " name ends in -dedicated."
            ),
            marked(
                "Choose “Add mapper”, “By configuration” and “Group Membership”; for a client of SAML, “Group list”."
            ),
            marked(
                "Enter groups as “Token Claim Name” or “Group attribute name”. Turn “Full group path” off, keep"
                " “Add to ID token” on, and “Save”."
            ),
        ),
        arrives=marked("The names of the groups of a person arrive when the person signs in."),
    ),
    _kind(
        word="other",
        name=marked("Another directory"),
        source="https://www.rfc-editor.org/rfc/rfc7643",
        steps=_steps(
            marked("By SCIM, let your directory push its groups, each with its members, who are provisioned before."),
            marked(
                "Without SCIM, let your identity provider name the groups of a person: in the claim groups of"
                " OpenID Connect, or in the attribute groups of SAML. Choose ids if it offers them."
            ),
        ),
        arrives=marked("By SCIM, names and members arrive; otherwise what your provider sends when a person signs in."),
    ),
)
