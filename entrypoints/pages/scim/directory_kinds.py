"""The directories that the pages of a setup link know, and what to do at each: for people, and for groups."""

from typing import Final

from entrypoints.pages.console.setup_steps import ProviderKind, Step
from entrypoints.pages.frame.languages import marked

_TOKEN: Final = Step(text=marked("Create a token below. It is shown once; copy it then."))
KINDS: Final = (
    ProviderKind(
        word="okta",
        name="Okta",
        steps=(
            _TOKEN,
            Step(
                text=marked(
                    "In the Okta Admin Console, open “Applications” and your application. On the tab “General”, edit"
                    " “App Settings”, choose “SCIM” as “Provisioning”, and “Save”."
                )
            ),
            Step(
                text=marked(
                    "On the tab “Provisioning”, edit “Integration”. Enter these as “SCIM connector base URL” and"
                    " “Unique identifier field for users”. Choose “HTTP Header”, and enter the token."
                ),
                copies=("scim_url", "identifier"),
            ),
            Step(
                text=marked(
                    "Choose “Test Connector Configuration” and “Save”. Then, under “To App”, enable “Create Users”,"
                    " “Update User Attributes” and “Deactivate Users”."
                )
            ),
        ),
    ),
    ProviderKind(
        word="entra",
        name="Microsoft Entra ID",
        steps=(
            _TOKEN,
            Step(
                text=marked(
                    "In the Microsoft Entra admin center, open “Entra ID”, “Enterprise apps” and your application, then"
                    " “Provisioning” and “Connect your application”."
                )
            ),
            Step(
                text=marked("Enter this as “Tenant URL” and the token as “Secret token”. Choose “Test connection”."),
                copies=("entra_url",),
            ),
            Step(
                text=marked(
                    "Choose “Create”. Under “Users and groups”, assign who is to be provisioned, and choose “Start"
                    " provisioning”."
                )
            ),
        ),
    ),
    ProviderKind(
        word="google",
        name="Google Workspace",
        steps=(
            _TOKEN,
            Step(
                text=marked(
                    "In the Google Admin console, open “Apps”, “Web and mobile apps” and your application, then"
                    " “Autoprovisioning” and “Set up autoprovisioning”."
                )
            ),
            Step(text=marked("Enter the token as “Access token”, and this as “Endpoint URL”."), copies=("scim_url",)),
            Step(text=marked("Check the mapping of attributes, choose “Finish”, and turn autoprovisioning on.")),
        ),
    ),
    ProviderKind(
        word="other",
        name=marked("Another directory"),
        steps=(
            _TOKEN,
            Step(
                text=marked(
                    "Enter this address as the base URL of SCIM 2.0, and this as the field that identifies users."
                    " Choose the HTTP header Authorization with a Bearer token, and enter the token."
                ),
                copies=("scim_url", "identifier"),
            ),
            Step(text=marked("Turn on creating, changing and deactivating users.")),
        ),
    ),
)
_PROVISIONED: Final = Step(
    text=marked("First set up provisioning by SCIM, with a token of a link that is also for groups.")
)
GROUP_KINDS: Final = (
    ProviderKind(
        word="okta",
        name="Okta",
        steps=(
            _PROVISIONED,
            Step(
                text=marked(
                    "In the Okta Admin Console, open “Applications” and your application. On the tab “Assignments”,"
                    " assign the people of the groups: a group that is pushed holds only those who are provisioned."
                )
            ),
            Step(
                text=marked(
                    "On the tab “Push Groups”, choose “Push Groups” and “Find groups by name”. Enter the group, keep"
                    " “Push group memberships immediately”, and “Save”."
                )
            ),
        ),
        arrives=marked("The name of each pushed group arrives, and its members, within a minute."),
    ),
    ProviderKind(
        word="entra",
        name="Microsoft Entra ID",
        steps=(
            _PROVISIONED,
            Step(
                text=marked(
                    "In the Microsoft Entra admin center, open “Enterprise apps” and your application. Under “Users and"
                    " groups”, assign the groups. The people of groups inside a group are not sent."
                )
            ),
            Step(
                text=marked(
                    "Under “Provisioning”, “Mappings”, see that “Provision Microsoft Entra ID Groups” is enabled, and"
                    " start provisioning."
                )
            ),
            Step(
                text=marked(
                    "Without SCIM, open “App registrations”, your application and “Token configuration”. Choose “Add"
                    " groups claim”, “Groups assigned to the application” and “Group ID”: with all groups, a person who"
                    " is in too many sends none."
                )
            ),
        ),
        arrives=marked(
            "By SCIM, the name of each assigned group arrives, and its members, within 40 minutes. Without it, the ids"
            " of the groups arrive when a person signs in."
        ),
    ),
    ProviderKind(
        word="google",
        name="Google Workspace",
        steps=(
            Step(text=marked("Google Workspace sends groups when a person signs in by SAML, and not by provisioning.")),
            Step(
                text=marked(
                    "In the Google Admin console, open “Apps”, “Web and mobile apps” and your application, then “SAML"
                    " attribute mapping”."
                )
            ),
            Step(
                text=marked(
                    "Under “Group membership”, choose the groups, at most 75. Enter groups as “App attribute”, and"
                    " “Save”."
                )
            ),
        ),
        arrives=marked("The names of those chosen groups that a person is in arrive when the person signs in."),
    ),
    ProviderKind(
        word="keycloak",
        name="Keycloak",
        steps=(
            Step(
                text=marked(
                    "In the Keycloak admin console, open “Clients”, your client, “Client scopes” and the scope whose"
                    " name ends in -dedicated."
                )
            ),
            Step(
                text=marked(
                    "Choose “Add mapper”, “By configuration” and “Group Membership”; for a client of SAML, “Group"
                    " list”."
                )
            ),
            Step(
                text=marked(
                    "Enter groups as “Token Claim Name” or “Group attribute name”. Turn “Full group path” off, keep"
                    " “Add to ID token” on, and “Save”."
                )
            ),
        ),
        arrives=marked("The names of the groups of a person arrive when the person signs in."),
    ),
    ProviderKind(
        word="jumpcloud",
        name="JumpCloud",
        steps=(
            Step(
                text=marked(
                    "In the JumpCloud Admin Portal, open “SSO Applications” and your application. Under “User Groups”,"
                    " select the groups, and “Save”."
                )
            ),
            Step(
                text=marked(
                    "With provisioning: under “Identity Management”, turn “Enable management of User Groups and Group"
                    " Membership in this application” on, and “Activate”."
                )
            ),
            Step(
                text=marked(
                    "Without it: under “SSO”, “Attributes”, turn “include group attribute” on, and enter groups as its"
                    " name."
                )
            ),
        ),
        arrives=marked(
            "The names of the selected groups arrive: by provisioning with their members, otherwise those of a person"
            " when the person signs in."
        ),
    ),
    ProviderKind(
        word="other",
        name=marked("Another directory"),
        steps=(
            Step(
                text=marked(
                    "By SCIM, let your directory push its groups, each with its members, who are provisioned before."
                )
            ),
            Step(
                text=marked(
                    "Without SCIM, let your identity provider name the groups of a person: in the claim groups of"
                    " OpenID Connect, or in the attribute groups of SAML. Choose ids if it offers them."
                )
            ),
        ),
        arrives=marked("By SCIM, names and members arrive; otherwise what your provider sends when a person signs in."),
    ),
)
