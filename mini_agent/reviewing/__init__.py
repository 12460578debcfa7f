"""What stands behind mini_agent.catalog: pure readings of what a server says of itself.

finding: one thing that a reader should look at. suspicion: text that hides something or gives
orders. names: names that imitate. schemas: arguments that are too open, or secret. effects: what
a tool may change, and who says so. proposal: allow, ask or deny, with the reason. items: all of
it for one tool, resource or prompt. questions: the ten to ask before connecting. checklist: the
review as a table and as Markdown.
"""
