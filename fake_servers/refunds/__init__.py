"""The refund desk: an order service, an MCP server in front of it, and who may ask.

    async with RefundDesk() as desk:                 fake_servers.refunds.desk
        desk.url                                     the MCP endpoint
        desk.client(token)                           an httpx client that reaches it
        desk.issue_token("robin", "orders:read")     a token for it, without the OAuth flow

    data rules store service                         the order service and what it knows
    schemas server orders exchange gate              the MCP server in front of it
    categories                                       every way in which either says no
    tokens keys bearer                               access tokens: signed, checked, asked for
    authorization authorize grants issuing clients   the authorization server
    registration oauth documents
    addresses outbound fetching                      where a server may connect to
    desk assembling instance places network clock    the whole, in memory or on ports
    faults planned connection traffic                what goes wrong on order, and what was sent

Nothing here knows the MCP client: the desk is written to the revision and to the RFCs alone.
"""
