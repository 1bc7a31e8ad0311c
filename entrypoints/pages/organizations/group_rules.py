"""The pages of the rules by which groups give roles: their order, a new one, and the people that a change concerns."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from core.errors import BadRequest, Forbidden, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations import group_rules
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM, WantedRule
from core.organizations.group_rules import RulesChanged, RulesOverview
from core.scim import directory_groups
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

RULES: Final = "/app/organizations/:org_slug/people/groups/rules"
_DAMAGED: Final = "This form is damaged. Load the rules again, and make your change once more."


class GroupRulesQuery(DoneQuery, kw_only=True):
    """The group for which a rule is to be made, by its id."""

    group: Annotated[str, msgspec.Meta(description="The id of a group of the directory.", max_length=36)] = ""


class GroupRulesForm(ProtectedForm, kw_only=True):
    """The rules that the page has shown, and what is to be done with them."""

    rules: Annotated[
        list[str], msgspec.Meta(description="For each rule its source, a blank, its role, a blank, and its group.")
    ] = msgspec.field(default_factory=list[str])
    change: Annotated[str, msgspec.Meta(description="`up`, `down` or `remove`, a blank, and the place of a rule.")] = ""
    source: str = ""
    group: str = ""
    role: str = ""
    seen_state: str = ""

    def wanted(self) -> list[WantedRule]:
        """Return the rules; raise `BadRequest` for damaged ones."""
        parts = [rule.split(" ", 2) for rule in self.rules]
        if any(len(one) < len(("source", "role", "group")) for one in parts):
            raise BadRequest(_DAMAGED)
        return [WantedRule(source=source, group=group, role=role) for source, role, group in parts]

    def changed(self, typed_group: str) -> list[WantedRule]:
        """Return the rules after the change; without one, with the new rule at the end."""
        rules = self.wanted()
        if not self.change:
            return [*rules, WantedRule(source=self.source, group=typed_group, role=self.role)]
        what, _, text = self.change.partition(" ")
        place = int(text) if text.isascii() and text.isdecimal() else -1
        target = {"up": place - 1, "down": place + 1, "remove": place}.get(what, -1)
        if not (0 <= place < len(rules) and 0 <= target < len(rules)):
            raise BadRequest(_DAMAGED)
        moved = rules.pop(place)
        if what != "remove":
            rules.insert(target, moved)
        return rules


@routes.get(RULES)
@in_console(Operation.GROUPS_READ)
async def show_group_rules(
    call: Call,
    org_slug: str,
    *,
    query: GroupRulesQuery | None = None,
    form: GroupRulesForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the rules in the order in which they count, and the form of a new one."""
    standing, overview = await opened(call, org_slug, Operation.GROUPS_READ, group_rules.show)
    page = f"{page_of(org_slug)}/people/groups"
    query = query or GroupRulesQuery()
    form = form or GroupRulesForm(source=SCIM, group=query.group, role="member")
    return console_page(
        call,
        "organizations/group_rules.html",
        standing,
        program=Program(
            "group_rules_save_group_rules",
            org_slug,
            body={
                "rules": [{"source": one.source, "group": one.group, "role": one.role} for one in overview.rules]
                or [{"source": SCIM, "group": "<id>", "role": "member"}]
            },
        ),
        done=query.done,
        refusal=refusal,
        overview=overview,
        form=form,
        encoded=[encoded(rule.wanted) for rule in overview.rules],
        sources=_sources(overview),
        names=dict(_sources(overview)),
        roles=[(role, role) for role in overview.roles],
        page=f"{page}/rules",
        groups=page,
        lacks_change=standing.lacks(Operation.GROUP_RULES_CHANGE),
    )


@routes.post(f"{RULES}/check", body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(BadRequest, Forbidden, RulesChanged))
@in_console(Operation.GROUP_RULES_CHANGE)
@shows_again(show_group_rules, BadRequest, RulesChanged)
async def check_group_rules(call: Call, org_slug: str, form: GroupRulesForm) -> PageOrRedirect:
    """Show the people whose roles a change of the rules would change, before it is saved."""
    group = form.group.strip()
    if form.source == SCIM and not form.change:
        named = await call.read(directory_groups.id_of_name, org_slug, group)
        group = str(named) if named is not None else group
    wanted = form.changed(group)
    preview = await call.transact(group_rules.preview, org_slug, wanted, seen_state=form.seen_state or None)
    standing, overview = await opened(call, org_slug, Operation.GROUPS_READ, group_rules.show)
    page = f"{page_of(org_slug)}/people/groups/rules"
    return console_page(
        call,
        "organizations/group_rules_check.html",
        standing,
        program=Program(
            "group_rules_save_group_rules",
            org_slug,
            body={"rules": [{"source": one.source, "group": one.group, "role": one.role} for one in wanted]},
        ),
        preview=preview,
        wanted=wanted,
        encoded=[encoded(rule) for rule in wanted],
        group_names={
            **overview.arrived.group_names,
            **{rule.group: rule.group_name for rule in overview.rules if rule.group_name is not None},
        },
        names=dict(_sources(overview)),
        warns=any(rule.is_by_name for rule in wanted),
        page=page,
    )


@routes.post(RULES, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(BadRequest, Forbidden, RulesChanged))
@in_console(Operation.GROUP_RULES_CHANGE)
@shows_again(show_group_rules, BadRequest, RulesChanged)
async def save_group_rules_page(call: Call, org_slug: str, form: GroupRulesForm) -> PageOrRedirect:
    """Save the rules that were checked; programs use `PUT /api/organizations/:slug/group-rules`."""
    await call.transact(group_rules.save, org_slug, form.wanted(), seen_state=form.seen_state or None)
    return after(f"{page_of(org_slug)}/people/groups/rules", "group-rules-saved")


def encoded(rule: WantedRule) -> str:
    """Return a rule as a field of the form has it."""
    return f"{rule.source} {rule.role} {rule.group}"


def _sources(overview: RulesOverview) -> Sequence[tuple[str, str]]:
    return [(SCIM, marked("Groups of your directory")), *overview.arrived.connections]
