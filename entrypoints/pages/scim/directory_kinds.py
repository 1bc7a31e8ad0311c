"""The directories that the page of a setup link knows, and what to do in the console of each."""

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
