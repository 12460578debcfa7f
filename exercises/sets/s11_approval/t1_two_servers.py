"""11.1: what a team wants, said as a policy."""

from exercises.machine import Task, expect, require
from mini_agent.approval import Policy, Rule

TASK = Task(
    "11.1",
    "A policy for two servers",
    level="warm-up",
    minutes=8,
    section="`Policy`: allow, ask, deny",
    text="""
A host has two servers, which it calls `calendar` and `shop`, and tools of its own, whose server is
`""`. This is what the team wants. Say it as a `Policy`.

- `calendar_query` of the calendar may run.
- `calendar_delete` of the calendar is denied, and so is the host's own `bash`.
- In the shop, whatever begins with `list_` may run. Only `list_cards` is denied.
- Everything else is asked about, also what nobody has thought of yet.
- Whatever runs or is denied has a reason.

The check decides twenty calls by it.
""",
    hints=(
        "Five rules and a default. Two things turn on how a policy is read: in which order, and "
        "what happens where no rule matches.",
        "The first rule that matches decides, so an exception stands before its rule. A rule that "
        "names no server speaks about all of them.",
        "For each rule: the name of one tool, or `list_*`; the decision; the server; a `why`. "
        "`list_cards` comes before `list_*`. Nothing needs to be said about the rest: to ask is "
        "the default.",
    ),
)


@TASK.stub
def one_rule():
    policy = Policy(
        [
            Rule("bash", "deny", server="", why="nobody needs a shell for this"),
            # and four more
        ]
    )
    return policy


@TASK.solution
def the_exception_first():
    policy = Policy(
        [
            Rule("bash", "deny", server="", why="nobody needs a shell for this"),
            Rule("calendar_query", "allow", server="calendar", why="it only reads, we looked"),
            Rule("calendar_delete", "deny", server="calendar", why="there is no way back"),
            Rule("list_cards", "deny", server="shop", why="card numbers stay where they are"),
            Rule("list_*", "allow", server="shop", why="the shop's lists are public"),
        ]
    )
    return policy


@TASK.right
def out_of_a_table():
    wanted = {
        ("shop", "list_cards"): "deny",
        ("shop", "list_*"): "allow",
        ("calendar", "calendar_delete"): "deny",
        ("calendar", "calendar_query"): "allow",
        ("", "bash"): "deny",
        ("*", "*"): "ask",
    }
    rules = (
        Rule(tool, what, server, "the team says so") for (server, tool), what in wanted.items()
    )
    policy = Policy(rules, default="deny")
    return policy


# -- the check ------------------------------------------------------------------------------------


def decided(policy, server, tool):
    for rule in policy.rules:
        require(isinstance(rule, Rule), "a Rule for each entry of rules", came=rule)
    return policy.decide(server, tool)


def compare(policy, wanted, *pairs, idea=""):
    for server, tool in pairs:
        whose = f"{tool} of server {server}" if server else f"the host's own {tool}"
        expect(decided(policy, server, tool).decision, wanted, when=f"{whose} is called", idea=idea)


@TASK.part(
    "what the team has named",
    idea="A no is not a question. Whoever is asked often enough says yes one day; what nobody "
    "needs is denied, and nobody is asked.",
)
def what_was_named(policy):
    idea = (
        "What no rule matches is asked about. `list_` is one name; `list_*` is every name that "
        "begins so."
    )
    compare(policy, "allow", ("calendar", "calendar_query"), ("shop", "list_orders"), idea=idea)
    compare(policy, "allow", ("shop", "list_"), ("shop", "list_orders_of_today"), idea=idea)
    compare(policy, "deny", ("calendar", "calendar_delete"), ("", "bash"))


@TASK.part(
    "the exception holds",
    idea="The first rule that matches decides. An exception that stands below its rule is never "
    "reached, and no error says so.",
)
def the_exception(policy):
    compare(policy, "deny", ("shop", "list_cards"))


@TASK.part(
    "the same name on another server is another tool",
    idea="A name is chosen by whoever wrote the server. A rule that names no server trusts every "
    "server that uses this word.",
)
def another_server(policy):
    compare(policy, "ask", ("shop", "calendar_query"), ("calendar", "list_orders"))
    compare(policy, "ask", ("mail", "calendar_query"), ("", "list_orders"), ("", "calendar_query"))


@TASK.part(
    "what nobody has thought of is asked about",
    idea="A list of what is forbidden is default-allow with holes in it: the next release has a "
    "tool that the list does not know.",
)
def not_thought_of(policy):
    compare(policy, "ask", ("calendar", "calendar_create"), ("calendar", "calendar_remove"))
    compare(policy, "ask", ("calendar", "calendar_query_all"), ("calendar", "Calendar_query"))
    compare(policy, "ask", ("shop", "refund"), ("shop", "clear_list_orders"), ("mail", "send"))
    compare(policy, "ask", ("", "write"))


@TASK.part(
    "a reason for each yes and each no",
    idea="The reason of a no is all that the model reads of it, and the reason of a yes is what "
    "you read in a year, when you wonder who allowed this.",
)
def reasons(policy):
    named = [("calendar", "calendar_query"), ("shop", "list_orders"), ("", "bash")]
    for server, tool in [*named, ("calendar", "calendar_delete"), ("shop", "list_cards")]:
        rule = decided(policy, server, tool)
        when = f"{tool}: {rule.decision}"
        require(rule.why.strip(), "a reason", came="none", when=when)


# -- what people write ----------------------------------------------------------------------------


def but(**others):
    """The solution's rules, some of them replaced: the key is the tool's name, * as _any."""
    rules = the_exception_first().rules
    return [others.get(rule.tool.replace("*", "any"), rule) for rule in rules]


@TASK.wrong("A no is not a question")
def delete_by_hand():
    ask = Rule("calendar_delete", "ask", server="calendar", why="there is no way back")
    policy = Policy(but(calendar_delete=ask))
    return policy


@TASK.wrong("never reached")
def the_exception_last():
    *others, cards, lists = the_exception_first().rules
    policy = Policy([*others, lists, cards])
    return policy


@TASK.wrong("trusts every server")
def no_server_named():
    query = Rule("calendar_query", "allow", why="it only reads, we looked")
    policy = Policy(but(calendar_query=query))
    return policy


@TASK.wrong("default-allow with holes")
def what_is_forbidden():
    denied = [rule for rule in the_exception_first().rules if rule.decision == "deny"]
    policy = Policy(denied, default="allow")
    return policy


@TASK.wrong("the list does not know")
def all_of_the_calendar_but_delete():
    rest = Rule("calendar_*", "allow", server="calendar", why="all but delete is harmless")
    policy = Policy([*the_exception_first().rules, rest])
    return policy


@TASK.wrong("all that the model reads")
def without_reasons():
    rules = the_exception_first().rules
    policy = Policy(Rule(rule.tool, rule.decision, rule.server) for rule in rules)
    return policy
