"""What the fields of services for many customers mean: a part of `descriptions.py`."""

from typing import Final

from core.services.services import DESCRIPTION_CHARACTERS_MAX, ROLES_MAX
from entrypoints.web.describing.described import Lines, field

_ROLES: Final = {
    "description": "The service's own roles, which you and its customers assign to people.",
    "maxItems": ROLES_MAX,
}

_ACCESS: Final = {
    "description": "Who may sign in to the service without a customer: `everyone`, `members` of your organization, or"
    " members that `assignments` fit (`assigned`). End users that a key of the service has linked always may.",
}
_WANTED: Final = {
    "description": "The customer of the service for which its user comes, by its id or slug; empty for one who comes as"
    " an individual. Without it, the only customer that is open is taken, or the user is asked."
}

_CONNECTION_STATES: Final = ("configured", "tested", "failing", "removed")

FIELDS: Final[Lines] = {
    # What a service says of its customers
    "customers": field(
        "Which organizations may use the service as customers: `none`, those to which it is offered (`listed`), or"
        " `any`. In your data, tell customers apart by `customer_id`, because `org` is your organization in every"
        " token.",
        sent="Which organizations may use the service as customers: `none`, those to which you offer it (`listed`), or"
        " `any`. It goes back to `none` only without customers; open offers end then. In your data, tell customers"
        " apart by `customer_id`, because `org` is your organization in every token.",
    ),
    "individuals": field(
        "Who may use the service without a customer: `none`, people of no customer (`others`), or `all`. Members of"
        " your own organization always may.",
        sent="Who may use the service without a customer: `none`, people of no customer (`others`), or `all`. Without"
        " customers it is `all`, else `others` by default. Members of your own organization always may.",
    ),
    **dict.fromkeys(
        ("NewService.access", "ServiceChange.access", "ServiceItem.access", "ServiceRecord.access"), _ACCESS
    ),
    "NewService.roles ServiceChange.roles ServiceItem.roles ServiceRecord.roles": _ROLES,
    "initiate_login_uri": field(
        "The page of the service that begins a sign-in; null for none.",
        sent="The page of the service that begins a sign-in, to which a tile of the service leads; or null.",
    ),
    "ServiceRole.name": field(
        "The name in tokens, unique in the service. A role that gets another name is another one, to which no one is"
        " assigned.",
        pattern="^[a-z0-9_.-]{1,50}$",
        examples=["editor"],
    ),
    "title": field("The name for people.", minLength=1, maxLength=100, examples=["Editor"]),
    "ServiceRole.description": field(
        "What the role allows, for people.",
        maxLength=DESCRIPTION_CHARACTERS_MAX,
        examples=["Writes and publishes."],
    ),
    # Customers of a service
    "customer_id": "The id of the customer: of the record between the service and the organization.",
    "CustomerList.customers": "The customers and open offers, the newest first.",
    "CustomerOrganization.slug": "The slug of the organization; of an offer, as you typed it.",
    "CustomerOrganization.name": "The name of the organization; null until it has accepted.",
    "CustomerRecord.state": "`offered` until the organization accepts, then `active`, or `paused` while either side"
    " has paused it.",
    "CustomerRecord.shares_directory": "Whether the customer shows you who may use the service, and not only who has"
    " signed in.",
    "CustomerRecord.last_sign_in_at": "When one of its people last signed in for it, exact to the hour; null for"
    " never.",
    "VisitedCustomers.customers": "The customers of the service that you have signed in for, the latest first.",
    "VisitedCustomer.id": "The id of the customer, which `customer` of a sign-in takes.",
    "VisitedCustomer.slug": "The slug of the organization.",
    "VisitedCustomer.name": "The name of the organization.",
    "VisitedCustomer.last_sign_in_at": "When you last signed in for it.",
    # People of a customer
    "CustomerUserList.users": "The people, by their ids.",
    "CustomerPerson.id": "The id of the account, which is the `sub` of its tokens.",
    "CustomerPerson.name": "What the person is called; null where it is not known, or only in the directory of a"
    " customer that does not share it.",
    "CustomerPerson.service_roles": "The roles of the service that the customer and you give, sorted.",
    "own_roles": field("The roles among `service_roles` that you give.", examples=[["editor"]]),
    "PersonalDataExport.customers": "The organizations for which the person has signed in to services that they use as"
    " customers.",
    "metadata": "What is noted, by name: texts, numbers, true, false or lists of texts.",
    "MetadataForm.metadata": field("The metadata as an object of JSON.", examples=['{"plan": "gold"}']),
    "MetadataForm.seen": field("The metadata that the page has shown, as an object of JSON.", examples=["{}"]),
    "PersonalDataExport.service_metadata": "What services note about the person.",
    "ExportedMetadata.organization_slug": "The slug of the organization of the service.",
    "PersonalDataExport.assignments": "The services that organizations have assigned to the person by name.",
    "ExportedAssignment.organization_slug": "The slug of the organization that assigns the service.",
    "ExportedAssignment.vendor_slug": "The slug of the organization of the service.",
    "ExportedAssignment.roles": "The roles of the service that this gives.",
    "PersonalDataExport.admissions": "The customers for which the vendor of a service has let the person in, who need"
    " not be a member of them.",
    "ExportedAdmission.organization_slug ExportedCustomer.organization_slug": "The slug of the organization that is"
    " the customer.",
    "ExportedAdmission.vendor_slug": "The slug of the organization of the service.",
    "ExportedAdmission.admitted_at": "When the person was let in.",
    "ExportedAdmission.suspended_at": "When the vendor's directory deactivated the person; null while active.",
    "ExportedCustomer.vendor_slug": "The slug of the organization of the service.",
    "ExportedCustomer.first_sign_in_at": "When the person first signed in for this customer.",
    "ExportedCustomer.last_sign_in_at": "When the person last signed in for this customer.",
    "CustomerPerson.last_sign_in_at": "When the person last signed in for this customer; null for never.",
    # Products of an organization
    "products": "The products that the organization uses, then those that are offered to it.",
    "ProductRecord.service": "The service.",
    "vendor": "The organization whose service it is.",
    "ProductAcceptance.client_id": "The client id of the service.",
    "ProductRecord.state": "`offered` until your organization accepts, then `active`, or `paused` while either side"
    " has paused it.",
    "shares_directory": "Whether the vendor is shown who may use the product, with names and addresses, and not only"
    " who has signed in.",
    # The forms of their pages
    "ServiceRoleForm.name": field("The name in tokens, unique in the service.", examples=["editor"]),
    "role_name": field("The name of a role of the service.", examples=["editor"]),
    "CustomerOfferForm.organization": "The slug of the organization to which the service is offered.",
    "CustomerOfferForm.external_id CustomerExternalIdForm.external_id": field(
        "Your own id of the customer; empty for none.", examples=["crm-7"]
    ),
    "ProductAcceptanceForm.client_id": "The client id of the product that the organization begins to use.",
    "ProductAccessForm.access": field("Who may use the product: `members` or `assigned`.", examples=["assigned"]),
    "ServiceAccessForm.access": field("Who may sign in: `everyone`, `members` or `assigned`.", examples=["assigned"]),
    "NewServiceForm.access": field(
        "Who may sign in: `everyone`, `members` or `assigned`; empty for a program without a user.",
        examples=["assigned"],
    ),
    "ProductSightForm.hidden": "Whether the organization's use of the product is hidden before signing in.",
    "AssignmentForm.subject SubjectForm.subject": field("The subject of the assignment.", examples=["role:admin"]),
    "AssignmentForm.find_subject": "A part of an address, or of the name of a role or group.",
    "ProductGroupForm.group": "The id of a group of the directory.",
    "ProductGroupForm.find_group": "A part of the name of a group.",
    # For which customer a user signs in
    "AuthorizationQuery.customer": _WANTED,
    "PostedAuthorization.customer": _WANTED,
    "PushedAuthorizationRequest.customer": _WANTED,
    "SsoQuery.customer": _WANTED,
    "AddressQuery.customer": _WANTED,
    "LoginQuery.customer": _WANTED,
    "AgreementForm.customer": "What the link names that led to the page.",
    "CustomerForm.customer": "The customer that was chosen; empty for none.",
    **{
        f"{form}.joins": "`yes` on a page that says that the organization has added the user; else left out."
        for form in ("AnswerForm", "AgreementForm", "CustomerForm", "DeviceApprovalForm")
    },
    "AnswerForm.may_enter": "`no` on the page of a user who cannot come in; else left out.",
    "AnswerForm.customer": "The customer that was chosen; empty for none, left out where none was offered.",
    "Login.customer": "The customer of the service for which you sign in, by its id or slug; empty to come as an"
    " individual. Naming it confirms that you belong to it.",
    "ImpersonationRequest.customer": "The customer of the service for which you act as the user, by its id or slug;"
    " null for none.",
    # Why a user cannot sign in for a customer
    "SignInToExplain.customer": "A customer of your service, by its id or slug; it takes `service`.",
    "SignInToExplain.product": "The client id of a product that your organization uses, in place of a service of its"
    " own.",
    "AnySignInToExplain.customer": "A customer of the service, by its id or slug; it takes `service`.",
    "ExplainedSignIn.customer": "The customer that was named; null without one that is known.",
    "ExplainedSignIn.setup": "What you have made for the customer; null where you have made nothing for it.",
    "SetupOfSignIn.connections": "The connections that you have made for the customer.",
    "MadeConnection.is_enabled": "Whether people sign in by the connection.",
    "SetupOfSignIn.route": "The mail domain of the address, if you have claimed it; null for any other.",
    "SetupOfSignIn.leads_to": "The connection to which the address leads; null for none.",
    "SetupOfSignIn.admitted_by": "By what you let the person in; null for a person that you do not let in.",
    "SetupOfSignIn.is_deactivated": "Whether the directory that you have made has deactivated the person.",
    "SetupOfSignIn.takes_code": "Whether the next sign-in by an open connection takes a mailed code, once; null"
    " without such a connection.",
    "CustomerLinkForm.minutes CustomerLinkCreation.expires_in_minutes": "For how many minutes the link is valid.",
    "CustomerOfSignIn.slug": field("The slug of the customer.", examples=["globex"]),
    "CustomerOfSignIn.name customer_name": "The name of the customer.",
    "CustomerOfSignIn.state": "`active`, or `paused` while either side has paused it.",
    "paused_by": "The sides that have paused it.",
    "has_signed_in": "Whether the user has signed in for the customer before.",
    "is_assigned": "Whether the customer's setting of who may use the service lets the user in; null where you are its"
    " vendor.",
    "CustomerChoice.customer": "The id or slug of one of the customers, or null to come as an individual.",
    "customer_token": field(
        "The token of the sign-in that waits for the choice: 10 minutes, once.",
        examples=["0191d3c1-6b00-7a10-8c44-2f6f2c0c0a01.example"],
    ),
    "ProfileForCustomer.customer": "The slug of the customer for which the token acts.",
    "customer_role": "Your role in the customer.",
    "customer_external_id": "The vendor's own id of the customer; null without one.",
    "service_roles": "Your roles of the service, as the customer and the vendor have assigned them.",
    # What a vendor sets up for a customer
    "SetupAttempt.at": "When it was last tried or used.",
    "SetupAttempt.succeeded": "Whether that succeeded.",
    "SetupAttempt.reason": "Why it did not succeed, as a word or as its answer; null when it did.",
    "CustomerLinkAttempt.at": "When the link was last opened.",
    "CustomerLinkAttempt.succeeded": "Whether it opened.",
    "last_attempt": "The last time that it was tried or used; null before the first.",
    "CustomerLinkRecord.return_url CreatedCustomerLink.return_url": "Where the pages lead back to after each part;"
    " null for nowhere.",
    "mail_domains": "The mail domains of the customer.",
    "CustomerMailDomain.domain CustomerDomainData.domain": field("The mail domain.", examples=["globex.com"]),
    "CustomerMailDomain.provider_id": "The connection by which its addresses sign in.",
    "CustomerMailDomain.status": "Whether the TXT record was found: `pending`, `verified` or `failing`.",
    "CustomerRuleRecord.group": "The id of a group of the directory, or the value that a connection asserts.",
    "CustomerRuleRecord.source": "`scim`, or the id of the connection that asserts the group.",
    "CustomerRuleRecord.group_name": "The name of the group of the directory; null for any other.",
    "CustomerRuleRecord.service_roles": "The roles of the service that the group gives.",
    "CustomerRuleList.group_rules": "The rules of the customer.",
    "CustomerConnectionList.connections": "The connections of the customer.",
    "CustomerConnectionRecord.state": "How far the connection is: `configured`, `tested` by a sign-in that begins no"
    " session, `in_use` or `failing`.",
    "CustomerConnectionData.state": field("How far the connection is.", enum=[*_CONNECTION_STATES]),
    "CustomerConnectionData.reason": "Why it fails.",
    "CustomerDomainData.reason": "Why it was lost.",
    "CustomerDirectoryData.state": field("How far the directory is.", enum=["configured", "connected", "removed"]),
    "domain_id": "The id of the mail domain.",
    "NewCustomerForm.owner_email": "The address of the person who shall own the customer; empty for none yet.",
    "CustomerRuleForm.group": "The group, by its name in the directory or as the connection asserts it.",
    # Who owns a customer that a vendor has made, and how many people use it
    "OrganizationClaimedData.vendor_setup": field("What the vendor may go on setting up.", examples=[["scim"]]),
    "OrganizationClaimedData.setup_links_ended": "How many open setup links of the vendor have ended.",
    "CustomerClaimedData.vendor_setup": field("What the owner lets you go on setting up.", examples=[["scim"]]),
    "CustomerOwnerNamedData.owner_email": "The address to which the link was mailed.",
    "CustomerChangedData.unclaimed": "True where the customer has no owner again.",
    "CustomerChangedData.setup_withdrawn": "True where what was set up with the power of a stolen account has ended or"
    " is switched off.",
    "MadeThingRecord.kind": "What it is.",
    "AdoptedThing.kind": "What was adopted.",
    "MadeThingRecord.made_at": "When the vendor made it.",
    "MadeThingList.things": "What vendors have made.",
    "thing_id": "The id of what a vendor has made.",
    "CustomerChangedData.made_for_customer": "What the customer has adopted or removed of what you had made for it:"
    " its `id`, `kind` and `name`, and the `action`.",
    "ProductAccessUpdatedData.made_for_us": "What was adopted or removed of what the vendor had made: its `id`,"
    " `kind`, `name`, and the `action`.",
    "CustomerData.restored": "True where you have restored a customer that had ended.",
    "month": field("The month, by UTC.", examples=["2026-11"]),
    "CustomerUsageRecord.active_people": "How many people have signed in or refreshed a session for it.",
    "UsageOfMonth.active_people": "How many people have signed in or refreshed a session, each counted once.",
    "PeopleOfMonth.active_people": "How many people have signed in or refreshed a session for the customer.",
}
