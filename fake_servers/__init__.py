"""Services to build against: a good calendar, a refund desk, and every way of being bad.

    python -m fake_servers.calendar             the calendar on stdin and stdout
    fake_servers.calendar.calendar_server()     the same as an object, for the carriers
    fake_servers.memory.InMemoryTransport(...)  carried in this process
    fake_servers.http.serve(...)                carried over HTTP on 127.0.0.1
    fake_servers.faults                         the catalogue: command(), transport(), http()
    fake_servers.refunds.desk.RefundDesk(...)   a service with users and tokens behind its server
    fake_servers.hostile                        a server that means harm; ATTACKS names its tricks
    fake_servers.legacy                         a server of the older handshake; legacy_http too
    fake_servers.core.Server                    a server of your own, from declarations
    fake_servers.declare                        Tool, Resource, ResourceTemplate, Prompt, Output, …

The MCP servers are written without looking into mini_agent, so that client and server cannot share
a mistake: only ``memory.py``, which implements the client's own seam, imports it. The Messages
endpoint (``anthropic_api.py``, ``anthropic_events.py``) uses the agent's own types and its check of
a conversation.
"""
