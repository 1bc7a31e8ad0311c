"""Products of identity providers that companies use, and what to do in the console of each, by OpenID Connect and SAML.

Every kind names the page of the product's documentation that its steps follow, and when it was read.
"""

from typing import Final

from entrypoints.pages.console.setup_steps import ProviderKind, Step, step

_READ_IN: Final = "2026-11"
_NAME: Final = step("Say how the sign-in page names the connection.", fields=("name",))


def by_openid(word: str, name: str, *steps: Step, source: str = "") -> ProviderKind:
    """Return a kind by OpenID Connect; its last step names the connection."""
    return by_saml(word, name, *steps, _NAME, source=source)


def by_saml(word: str, name: str, *steps: Step, source: str = "") -> ProviderKind:
    """Return a kind by SAML."""
    return ProviderKind(word=word, name=name, steps=steps, source=source, read_in=_READ_IN if source else "")


BY_OPENID: Final = (
    by_openid(
        "okta",
        "Okta",
        step(
            "In the Okta Admin Console, open “Applications” and “Applications”, and choose “Create App Integration”."
            " Choose “OIDC - OpenID Connect” and “Web Application”, then “Next”."
        ),
        step(
            "Enter a name, and this address under “Sign-in redirect URIs”. “Sign-out redirect URIs” may stay empty.",
            copies=("redirect_uri",),
        ),
        step("Under “Assignments”, choose who may sign in, and choose “Save”."),
        step(
            "On the tab “General”, copy “Client ID” and, under “Client Secrets”, the secret.",
            fields=("client_id", "client_secret"),
        ),
        step(
            "The issuer is the address of your Okta organization, such as https://acme.okta.com: without -admin in the"
            " name, and without a slash at the end.",
            fields=("issuer",),
        ),
        source="https://help.okta.com/en-us/content/topics/apps/apps_app_integration_wizard_oidc.htm",
    ),
    by_openid(
        "entra",
        "Microsoft Entra ID",
        step(
            "In the Microsoft Entra admin center, open “Entra ID”, “App registrations” and “New registration”. Enter a"
            " name, and choose the accounts of your own directory alone (single tenant)."
        ),
        step("Under “Redirect URI”, choose “Web” and enter this address. Choose “Register”.", copies=("redirect_uri",)),
        step(
            "On “Overview”, copy “Application (client) ID”, and “Directory (tenant) ID”. The issuer is"
            " https://login.microsoftonline.com/, then the directory id, then /v2.0.",
            fields=("client_id", "issuer"),
        ),
        step(
            "Open “Certificates & secrets” and “New client secret”, and choose “Add”. Copy “Value” at once, not “Secret"
            " ID”: it is shown only now.",
            fields=("client_secret",),
        ),
        step(
            "Open “Token configuration” and “Add optional claim”. Choose “ID” and “email”, then “Add”; agree to the"
            " permission that is asked for."
        ),
        source="https://learn.microsoft.com/en-us/entra/identity-platform/quickstart-register-app",
    ),
    by_openid(
        "google",
        "Google Workspace",
        step(
            "In the Google Cloud console, open “Google Auth Platform” with a project of your organization. If it asks"
            " you to get started, enter a name and choose “Internal” as the audience."
        ),
        step(
            "Open “Clients” and “Create client”, and choose “Web application”. Under “Authorized redirect URIs”, choose"
            " “Add URI” and enter this address. Choose “Create”.",
            copies=("redirect_uri",),
        ),
        step(
            "Copy “Client ID” and “Client secret” before you close the window.", fields=("client_id", "client_secret")
        ),
        step("The issuer is the same for all of Google.", fields=("issuer",)),
        source="https://support.google.com/cloud/answer/15549257",
    ),
    by_openid(
        "jumpcloud",
        "JumpCloud",
        step(
            "In the JumpCloud Admin Portal, open “SSO Applications” and “Add New Application”. Choose “Custom"
            " Application”, “Manage Single Sign-On (SSO)” and “Configure SSO with OIDC”, and enter a name."
        ),
        step(
            "On the tab “SSO”, enter this address under “Redirect URIs”, choose “Client Secret Basic” as “Client"
            " Authentication Type”, and enter the address of the sign-in page as “Login URL”.",
            copies=("redirect_uri",),
        ),
        step(
            "Under “Attribute Mapping”, choose the standard scopes “Email” and “Profile”. Choose who may sign in on the"
            " tab “User Groups”, and “Activate”."
        ),
        step(
            "Copy “Client ID” and “Client Secret” before you close the window.", fields=("client_id", "client_secret")
        ),
        step(
            "The issuer is the same for all of JumpCloud, with its slash at the end. With data in the European Union it"
            " is https://oauth.id.eu.jumpcloud.com/.",
            fields=("issuer",),
        ),
        source="https://jumpcloud.com/support/sso-with-oidc",
    ),
    by_openid(
        "onelogin",
        "OneLogin",
        step(
            "In the OneLogin administration, open “Applications” and “Add App”. Look for “OpenId Connect (OIDC)”, enter"
            " a name, and “Save”."
        ),
        step(
            "On “Configuration”, enter this address under “Redirect URI’s”. A change takes some minutes to count.",
            copies=("redirect_uri",),
        ),
        step(
            "On “SSO”, choose “Web” as the application type and “Basic” as the token endpoint, and copy “Client ID”"
            " and, by “Show client secret”, the secret.",
            fields=("client_id", "client_secret"),
        ),
        step(
            "The issuer is https://, your subdomain, and .onelogin.com/oidc/2: “Well-known Configuration” on “SSO” has"
            " it at its beginning.",
            fields=("issuer",),
        ),
        step("On “Access”, choose the roles whose people may sign in, and “Save”."),
        source="https://developers.onelogin.com/openid-connect/connect-to-onelogin",
    ),
    by_openid(
        "ping",
        "PingOne",
        step(
            "In the PingOne admin console, open “Applications” and “Applications”, and choose the plus sign. Enter a"
            " name, choose “OIDC Web App”, and “Save”."
        ),
        step(
            "On “Configuration”, edit the settings, enter this address under “Redirect URIs”, and keep “Authorization"
            " Code” and “Client Secret Basic”.",
            copies=("redirect_uri",),
        ),
        step(
            "On “Resource Access”, add the scopes email and profile. On “Access”, choose the groups whose people may"
            " sign in, and turn the application on by its switch."
        ),
        step("On “Configuration”, under “URLs”, copy “Issuer ID”.", fields=("issuer",)),
        step("On “Overview”, copy “Client ID” and “Client Secret”.", fields=("client_id", "client_secret")),
        source="https://docs.pingidentity.com/pinggateway/2025.3/pingone/oidc-ping.html",
    ),
    by_openid(
        "keycloak",
        "Keycloak",
        step(
            "In the Keycloak admin console, choose the realm of your people, then “Clients” and “Create client”. Keep"
            " “OpenID Connect”, enter a client id of your choice, and “Next”."
        ),
        step(
            "Turn “Client authentication” on, keep “Standard flow”, and “Next”. Enter this address under “Valid"
            " redirect URIs”, and “Save”.",
            copies=("redirect_uri",),
        ),
        step(
            "Enter the client id here, and “Client Secret” of the tab “Credentials”.",
            fields=("client_id", "client_secret"),
        ),
        step(
            "The issuer is the address of Keycloak, /realms/ and the name of the realm, such as"
            " https://sso.acme.example/realms/acme.",
            fields=("issuer",),
        ),
        source="https://www.keycloak.org/docs/latest/server_admin/#assembly-managing-clients_server_administration_guide",
    ),
)
BY_SAML: Final = (
    by_saml(
        "okta-saml",
        "Okta",
        step(
            "In the Okta Admin Console, open “Applications” and “Applications”, and choose “Create App Integration”."
            " Choose “SAML 2.0”, then “Next”, and enter a name."
        ),
        step(
            "Enter these two as “Single sign-on URL” and as “Audience URI (SP Entity ID)”. Choose “Persistent” as “Name"
            " ID format”.",
            copies=("acs_url", "entity_id"),
        ),
        step(
            "Under “Attribute Statements”, add the name email with the value user.email. Choose “Next” and “Finish”,"
            " and assign people on the tab “Assignments”."
        ),
        step("On the tab “Sign On”, copy “Metadata URL”.", fields=("metadata_url", "metadata_xml")),
        source="https://help.okta.com/en-us/content/topics/apps/apps_app_integration_wizard_saml.htm",
    ),
    by_saml(
        "entra-saml",
        "Microsoft Entra ID",
        step(
            "In the Microsoft Entra admin center, open “Entra ID”, “Enterprise apps”, “New application” and “Create"
            " your own application”. Enter a name, and choose the one that is not in the gallery."
        ),
        step(
            "Open “Single sign-on” and “SAML”. Under “Basic SAML Configuration”, enter these as “Identifier (Entity"
            " ID)”, “Reply URL (Assertion Consumer Service URL)” and “Logout Url”.",
            copies=("entity_id", "acs_url", "slo_url"),
        ),
        step(
            "Under “Attributes & Claims”, check that the claim emailaddress has the source user.mail. Under “Users and"
            " groups”, assign who may sign in."
        ),
        step("Under “SAML Certificates”, copy “App Federation Metadata Url”.", fields=("metadata_url", "metadata_xml")),
        source="https://learn.microsoft.com/en-us/entra/identity/enterprise-apps/add-application-portal-setup-sso",
    ),
    by_saml(
        "google-saml",
        "Google Workspace",
        step(
            "In the Google Admin console, open “Apps” and “Web and mobile apps”, and choose “Add app” and “Add custom"
            " SAML app”. Enter a name."
        ),
        step(
            "Choose “Download metadata”, open the file with a text editor, and paste it here.", fields=("metadata_xml",)
        ),
        step(
            "On the next page, enter these as “ACS URL” and “Entity ID”. Choose “PERSISTENT” as “Name ID format”.",
            copies=("acs_url", "entity_id"),
        ),
        step(
            "Under “Attribute mapping”, map “Primary email” to email. Choose “Finish”, and turn the app on under “User"
            " access”."
        ),
        source="https://support.google.com/a/answer/6087519",
    ),
    by_saml(
        "jumpcloud-saml",
        "JumpCloud",
        step(
            "In the JumpCloud Admin Portal, open “SSO Applications” and “Add New Application”. Choose “Custom"
            " Application”, “Manage Single Sign-On (SSO)” and “Configure SSO with SAML”, and enter a name."
        ),
        step(
            "On the tab “SSO”, enter these as “SP Entity ID” and “ACS URL”. Enter an “IdP Entity ID” of your choice,"
            " and choose the persistent format as “SAMLSubject NameID Format”.",
            copies=("entity_id", "acs_url"),
        ),
        step(
            "Turn “Sign Assertion” on. Under “Attributes”, add email with the JumpCloud attribute email. Choose who may"
            " sign in on the tab “User Groups”, and “Activate”."
        ),
        step(
            "Open the application again. On the tab “SSO”, choose “Copy Metadata URL”.",
            fields=("metadata_url", "metadata_xml"),
        ),
        source="https://jumpcloud.com/support/sso-application-connector-fields",
    ),
    by_saml(
        "onelogin-saml",
        "OneLogin",
        step(
            "In the OneLogin administration, open “Applications” and “Add App”. Look for “SAML Custom Connector"
            " (Advanced)”, enter a name, and “Save”."
        ),
        step(
            "On “Configuration”, enter the entity id as “Audience (EntityID)”, and the address for assertions as"
            " “Recipient”, “ACS (Consumer) URL” and, as a regular expression, “ACS (Consumer) URL Validator”.",
            copies=("entity_id", "acs_url"),
        ),
        step("Choose “Service Provider” as “SAML initiator”, and “Persistent” as “SAML nameID format”."),
        step(
            "On “Parameters”, add email with the value “Email”, and turn “Include in SAML assertion” on. On “Access”,"
            " choose the roles whose people may sign in, and “Save”."
        ),
        step(
            "Copy “Issuer URL” of “SSO”, which is the address of its metadata. “More Actions” has them as a file: “SAML"
            " Metadata”.",
            fields=("metadata_url", "metadata_xml"),
        ),
        source="https://developers.onelogin.com/saml",
    ),
    by_saml(
        "ping-saml",
        "PingOne",
        step(
            "In the PingOne admin console, open “Applications” and “Applications”, and choose the plus sign. Enter a"
            " name, choose “SAML Application”, and “Configure”."
        ),
        step(
            "Choose “Import From URL” and enter the metadata address. Instead, choose “Manually Enter”, and enter the"
            " address for assertions as “ACS URLs” and the entity id. “Save”.",
            copies=("metadata_address", "acs_url", "entity_id"),
        ),
        step(
            "On “Configuration”, choose the persistent format as “Subject NameID Format”. On “Attribute Mappings”, add"
            " email with “Email Address”."
        ),
        step("On “Access”, choose the groups whose people may sign in, and turn the application on by its switch."),
        step("On “Configuration”, copy “IDP Metadata URL”.", fields=("metadata_url", "metadata_xml")),
        source="https://docs.pingidentity.com/r/en-us/pingone/pingone_p1tutorial_add_a_saml_app",
    ),
    by_saml(
        "keycloak-saml",
        "Keycloak",
        step("Open the metadata address in a browser, and save the file.", copies=("metadata_address",)),
        step(
            "In the Keycloak admin console, choose the realm of your people, then “Clients” and “Import client”. Choose"
            " the file, and “Save”."
        ),
        step(
            "On the tab “Settings”, choose persistent as “Name ID format”, turn “Force name ID format” on, and keep"
            " “Sign assertions” on."
        ),
        step(
            "On the tab “Client scopes”, open the scope whose name ends in -dedicated. Choose “Add mapper”, “By"
            " configuration” and “User Property”, with the property email and email as “SAML Attribute Name”."
        ),
        step(
            "The metadata are at the address of Keycloak, /realms/, the name of the realm and"
            " /protocol/saml/descriptor.",
            fields=("metadata_url", "metadata_xml"),
        ),
        source="https://www.keycloak.org/docs/latest/server_admin/#assembly-managing-clients_server_administration_guide",
    ),
)
