"""What the fields of services for many customers mean: a part of `descriptions.py`."""

from typing import Any, Final

from core.services.services import DESCRIPTION_CHARACTERS_MAX, ROLES_MAX


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


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

FIELDS: Final[dict[str, dict[str, Any]]] = {
    # What a service says of its customers
    "customers": _field(
        "Which organizations may use the service as customers: `none`, those to which it is offered (`listed`), or"
        " `any`. In your data, tell customers apart by `customer_id`, because `org` is your organization in every"
        " token.",
        sent="Which organizations may use the service as customers: `none`, those to which you offer it (`listed`), or"
        " `any`. It goes back to `none` only without customers; open offers end then. In your data, tell customers"
        " apart by `customer_id`, because `org` is your organization in every token.",
    ),
    "individuals": _field(
        "Who may use the service without a customer: `none`, people of no customer (`others`), or `all`. Members of"
        " your own organization always may.",
        sent="Who may use the service without a customer: `none`, people of no customer (`others`), or `all`. Without"
        " customers it is `all`, else `others` by default. Members of your own organization always may.",
    ),
    **dict.fromkeys(
        ("NewService.access", "ServiceChange.access", "ServiceItem.access", "ServiceRecord.access"), _ACCESS
    ),
    "NewService.roles": _ROLES,
    "ServiceChange.roles": _ROLES,
    "ServiceItem.roles": _ROLES,
    "ServiceRecord.roles": _ROLES,
    "initiate_login_uri": _field(
        "The page of the service that begins a sign-in; null for none.",
        sent="The page of the service that begins a sign-in, to which a tile of the service leads; or null.",
    ),
    "ServiceRole.name": _field(
        "The name in tokens, unique in the service. A role that gets another name is another one, to which no one is"
        " assigned.",
        pattern="^[a-z0-9_.-]{1,50}$",
        examples=["editor"],
    ),
    "title": _field("The name for people.", minLength=1, maxLength=100, examples=["Editor"]),
    "ServiceRole.description": _field(
        "What the role allows, for people.",
        maxLength=DESCRIPTION_CHARACTERS_MAX,
        examples=["Writes and publishes."],
    ),
    # Customers of a service
    "customer_id": _field("The id of the customer: of the record between the service and the organization."),
    "CustomerList.customers": _field("The customers and open offers, the newest first."),
    "CustomerOrganization.slug": _field("The slug of the organization; of an offer, as you typed it."),
    "CustomerOrganization.name": _field("The name of the organization; null until it has accepted."),
    "CustomerRecord.state": _field(
        "`offered` until the organization accepts, then `active`, or `paused` while either side has paused it."
    ),
    "CustomerRecord.shares_directory": _field(
        "Whether the customer shows you who may use the service, and not only who has signed in."
    ),
    "CustomerRecord.last_sign_in_at": _field(
        "When one of its people last signed in for it, exact to the hour; null for never."
    ),
    "VisitedCustomers.customers": _field("The customers of the service that you have signed in for, the latest first."),
    "VisitedCustomer.id": _field("The id of the customer, which `customer` of a sign-in takes."),
    "VisitedCustomer.slug": _field("The slug of the organization."),
    "VisitedCustomer.name": _field("The name of the organization."),
    "VisitedCustomer.last_sign_in_at": _field("When you last signed in for it."),
    # People of a customer
    "CustomerUserList.users": _field("The people, by their ids."),
    "CustomerPerson.id": _field("The id of the account, which is the `sub` of its tokens."),
    "CustomerPerson.name": _field(
        "What the person is called; null where it is not known, or only in the directory of a customer that does not"
        " share it."
    ),
    "CustomerPerson.service_roles": _field("The roles of the service that the customer and you give, sorted."),
    "own_roles": _field("The roles among `service_roles` that you give.", examples=[["editor"]]),
    "PersonalDataExport.customers": _field(
        "The organizations for which the person has signed in to services that they use as customers."
    ),
    "metadata": _field("What is noted, by name: texts, numbers, true, false or lists of texts."),
    "MetadataForm.metadata": _field("The metadata as an object of JSON.", examples=['{"plan": "gold"}']),
    "MetadataForm.seen": _field("The metadata that the page has shown, as an object of JSON.", examples=["{}"]),
    "PersonalDataExport.service_metadata": _field("What services note about the person."),
    "ExportedMetadata.organization_slug": _field("The slug of the organization of the service."),
    "PersonalDataExport.assignments": _field("The services that organizations have assigned to the person by name."),
    "ExportedAssignment.organization_slug": _field("The slug of the organization that assigns the service."),
    "ExportedAssignment.vendor_slug": _field("The slug of the organization of the service."),
    "ExportedAssignment.roles": _field("The roles of the service that this gives."),
    "PersonalDataExport.admissions": _field(
        "The customers for which the vendor of a service has let the person in, who need not be a member of them."
    ),
    "ExportedAdmission.organization_slug": _field("The slug of the organization that is the customer."),
    "ExportedAdmission.vendor_slug": _field("The slug of the organization of the service."),
    "ExportedAdmission.admitted_at": _field("When the person was let in."),
    "ExportedAdmission.suspended_at": _field("When the vendor's directory deactivated the person; null while active."),
    "ExportedCustomer.organization_slug": _field("The slug of the organization that is the customer."),
    "ExportedCustomer.vendor_slug": _field("The slug of the organization of the service."),
    "ExportedCustomer.first_sign_in_at": _field("When the person first signed in for this customer."),
    "ExportedCustomer.last_sign_in_at": _field("When the person last signed in for this customer."),
    "CustomerPerson.last_sign_in_at": _field("When the person last signed in for this customer; null for never."),
    # Products of an organization
    "products": _field("The products that the organization uses, then those that are offered to it."),
    "ProductRecord.service": _field("The service."),
    "vendor": _field("The organization whose service it is."),
    "ProductAcceptance.client_id": _field("The client id of the service."),
    "ProductRecord.state": _field(
        "`offered` until your organization accepts, then `active`, or `paused` while either side has paused it."
    ),
    "shares_directory": _field(
        "Whether the vendor is shown who may use the product, with names and addresses, and not only who has signed in."
    ),
    # The forms of their pages
    "ServiceRoleForm.name": _field("The name in tokens, unique in the service.", examples=["editor"]),
    "role_name": _field("The name of a role of the service.", examples=["editor"]),
    "CustomerOfferForm.organization": _field("The slug of the organization to which the service is offered."),
    "CustomerOfferForm.external_id": _field("Your own id of the customer; empty for none.", examples=["crm-7"]),
    "CustomerExternalIdForm.external_id": _field("Your own id of the customer; empty for none.", examples=["crm-7"]),
    "ProductAcceptanceForm.client_id": _field("The client id of the product that the organization begins to use."),
    "ProductAccessForm.access": _field("Who may use the product: `members` or `assigned`.", examples=["assigned"]),
    "ServiceAccessForm.access": _field("Who may sign in: `everyone`, `members` or `assigned`.", examples=["assigned"]),
    "NewServiceForm.access": _field(
        "Who may sign in: `everyone`, `members` or `assigned`; empty for a program without a user.",
        examples=["assigned"],
    ),
    "ProductSightForm.hidden": _field("Whether the organization's use of the product is hidden before signing in."),
    "AssignmentForm.subject": _field("The subject of the assignment.", examples=["role:admin"]),
    "AssignmentForm.find_subject": _field("A part of an address, or of the name of a role or group."),
    "SubjectForm.subject": _field("The subject of the assignment.", examples=["role:admin"]),
    "ProductGroupForm.group": _field("The id of a group of the directory."),
    "ProductGroupForm.find_group": _field("A part of the name of a group."),
    # For which customer a user signs in
    "AuthorizationQuery.customer": _WANTED,
    "PostedAuthorization.customer": _WANTED,
    "PushedAuthorizationRequest.customer": _WANTED,
    "SsoQuery.customer": _WANTED,
    "AddressQuery.customer": _WANTED,
    "LoginQuery.customer": _WANTED,
    "AgreementForm.customer": _field("What the link names that led to the page."),
    "CustomerForm.customer": _field("The customer that was chosen; empty for none."),
    **{
        f"{form}.joins": _field("`yes` on a page that says that the organization has added the user; else left out.")
        for form in ("AnswerForm", "AgreementForm", "CustomerForm", "DeviceApprovalForm")
    },
    "AnswerForm.may_enter": _field("`no` on the page of a user who cannot come in; else left out."),
    "AnswerForm.customer": _field("The customer that was chosen; empty for none, left out where none was offered."),
    "Login.customer": _field(
        "The customer of the service for which you sign in, by its id or slug; empty to come as an individual. Naming"
        " it confirms that you belong to it."
    ),
    "ImpersonationRequest.customer": _field(
        "The customer of the service for which you act as the user, by its id or slug; null for none."
    ),
    # Why a user cannot sign in for a customer
    "SignInToExplain.customer": _field("A customer of your service, by its id or slug; it takes `service`."),
    "SignInToExplain.product": _field(
        "The client id of a product that your organization uses, in place of a service of its own."
    ),
    "AnySignInToExplain.customer": _field("A customer of the service, by its id or slug; it takes `service`."),
    "ExplainedSignIn.customer": _field("The customer that was named; null without one that is known."),
    "ExplainedSignIn.setup": _field("What you have made for the customer; null where you have made nothing for it."),
    "SetupOfSignIn.connections": _field("The connections that you have made for the customer."),
    "MadeConnection.is_enabled": _field("Whether people sign in by the connection."),
    "SetupOfSignIn.route": _field("The mail domain of the address, if you have claimed it; null for any other."),
    "SetupOfSignIn.leads_to": _field("The connection to which the address leads; null for none."),
    "SetupOfSignIn.admitted_by": _field("By what you let the person in; null for a person that you do not let in."),
    "SetupOfSignIn.is_deactivated": _field("Whether the directory that you have made has deactivated the person."),
    "SetupOfSignIn.takes_code": _field(
        "Whether the next sign-in by an open connection takes a mailed code, once; null without such a connection."
    ),
    "CustomerLinkForm.minutes": _field("For how many minutes the link is valid."),
    "CustomerOfSignIn.slug": _field("The slug of the customer.", examples=["globex"]),
    "CustomerOfSignIn.name": _field("The name of the customer."),
    "CustomerOfSignIn.state": _field("`active`, or `paused` while either side has paused it."),
    "paused_by": _field("The sides that have paused it."),
    "has_signed_in": _field("Whether the user has signed in for the customer before."),
    "membership": _field("What the user is in the customer; null where you are its vendor."),
    "is_assigned": _field(
        "Whether the customer's setting of who may use the service lets the user in; null where you are its vendor."
    ),
    "CustomerChoice.customer": _field("The id or slug of one of the customers, or null to come as an individual."),
    "customer_token": _field(
        "The token of the sign-in that waits for the choice: 10 minutes, once.",
        examples=["0191d3c1-6b00-7a10-8c44-2f6f2c0c0a01.example"],
    ),
    "ProfileForCustomer.customer": _field("The slug of the customer for which the token acts."),
    "customer_name": _field("The name of the customer."),
    "customer_role": _field("Your role in the customer."),
    "customer_external_id": _field("The vendor's own id of the customer; null without one."),
    "service_roles": _field("Your roles of the service, as the customer and the vendor have assigned them."),
    # What a vendor sets up for a customer
    "SetupAttempt.at": _field("When it was last tried or used."),
    "SetupAttempt.succeeded": _field("Whether that succeeded."),
    "SetupAttempt.reason": _field("Why it did not succeed, as a word or as its answer; null when it did."),
    "CustomerLinkAttempt.at": _field("When the link was last opened."),
    "CustomerLinkAttempt.succeeded": _field("Whether it opened."),
    "last_attempt": _field("The last time that it was tried or used; null before the first."),
    "CustomerLinkCreation.expires_in_minutes": _field("For how many minutes the link is valid."),
    "actor": _field("Who uses the link, as you have reported it; null when you have not.", examples=["ann@globex.com"]),
    "CustomerLinkRecord.return_url": _field("Where the pages lead back to after each part; null for nowhere."),
    "CreatedCustomerLink.return_url": _field("Where the pages lead back to after each part; null for nowhere."),
    "mail_domains": _field("The mail domains of the customer."),
    "CustomerMailDomain.domain": _field("The mail domain.", examples=["globex.com"]),
    "CustomerMailDomain.provider_id": _field("The connection by which its addresses sign in."),
    "CustomerMailDomain.status": _field("Whether the TXT record was found: `pending`, `verified` or `failing`."),
    "CustomerRuleRecord.group": _field("The id of a group of the directory, or the value that a connection asserts."),
    "CustomerRuleRecord.source": _field("`scim`, or the id of the connection that asserts the group."),
    "CustomerRuleRecord.group_name": _field("The name of the group of the directory; null for any other."),
    "CustomerRuleRecord.service_roles": _field("The roles of the service that the group gives."),
    "CustomerRuleList.group_rules": _field("The rules of the customer."),
    "CustomerConnectionList.connections": _field("The connections of the customer."),
    "CustomerConnectionRecord.state": _field(
        "How far the connection is: `configured`, `tested` by a sign-in that begins no session, `in_use` or `failing`."
    ),
    "CustomerConnectionData.state": _field("How far the connection is.", enum=[*_CONNECTION_STATES]),
    "CustomerConnectionData.reason": _field("Why it fails."),
    "CustomerDomainData.domain": _field("The mail domain.", examples=["globex.com"]),
    "CustomerDomainData.reason": _field("Why it was lost."),
    "CustomerDirectoryData.state": _field("How far the directory is.", enum=["configured", "connected", "removed"]),
    "domain_id": _field("The id of the mail domain."),
    "NewCustomerForm.owner_email": _field("The address of the person who shall own the customer; empty for none yet."),
    "CustomerRuleForm.group": _field("The group, by its name in the directory or as the connection asserts it."),
    # Who owns a customer that a vendor has made, and how many people use it
    "OrganizationClaimedData.vendor_setup": _field("What the vendor may go on setting up.", examples=[["scim"]]),
    "OrganizationClaimedData.setup_links_ended": _field("How many open setup links of the vendor have ended."),
    "CustomerClaimedData.vendor_setup": _field("What the owner lets you go on setting up.", examples=[["scim"]]),
    "CustomerOwnerNamedData.owner_email": _field("The address to which the link was mailed."),
    "CustomerChangedData.unclaimed": _field("True where the customer has no owner again."),
    "CustomerChangedData.setup_withdrawn": _field(
        "True where what was set up with the power of a stolen account has ended or is switched off."
    ),
    "MadeThingRecord.kind": _field("What it is."),
    "AdoptedThing.kind": _field("What was adopted."),
    "MadeThingRecord.made_at": _field("When the vendor made it."),
    "MadeThingList.things": _field("What vendors have made."),
    "thing_id": _field("The id of what a vendor has made."),
    "CustomerChangedData.made_for_customer": _field(
        "What the customer has adopted or removed of what you had made for it: its `id`, `kind` and `name`, and the"
        " `action`."
    ),
    "ProductAccessUpdatedData.made_for_us": _field(
        "What was adopted or removed of what the vendor had made: its `id`, `kind`, `name`, and the `action`."
    ),
    "CustomerData.restored": _field("True where you have restored a customer that had ended."),
    "month": _field("The month, by UTC.", examples=["2026-11"]),
    "CustomerUsageRecord.active_people": _field("How many people have signed in or refreshed a session for it."),
    "UsageOfMonth.active_people": _field("How many people have signed in or refreshed a session, each counted once."),
    "PeopleOfMonth.active_people": _field("How many people have signed in or refreshed a session for the customer."),
}
