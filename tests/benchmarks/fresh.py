"""What only a fresh process can say, as one JSON line.

fresh.py import "from mcp import Client"      what the statement costs
fresh.py notes                                what reporting costs where nobody listens
"""

import sys
import time


def import_cost(statement: str) -> dict[str, float]:
    """Milliseconds by the clock and of CPU. Nothing else is loaded before it."""
    code = compile(statement, "import", "exec")
    clock, cpu = time.perf_counter(), time.process_time()
    exec(code, {})
    took = time.perf_counter() - clock, time.process_time() - cpu
    return {"import": took[0] * 1e3, "import_cpu": took[1] * 1e3}


def note_cost(times: int = 200_000) -> dict[str, float]:
    """Microseconds of CPU for the four notes of one call, of a client that has no trace."""
    from mini_agent.mcp.client import McpClient
    from mini_agent.mcp.transport import FakeTransport

    transport = FakeTransport([])
    exchange = McpClient(transport)._exchange
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}
    begun = time.process_time()
    for number in range(times):
        exchange.note("request", server="", method="tools/call", id=number, tool="echo")
        transport.note("sent", message=message)
        transport.note("received", message=message)
        exchange.note("response", method="tools/call", id=number)
    return {"notes": (time.process_time() - begun) / times * 1e6}


if __name__ == "__main__":
    found = import_cost(sys.argv[2]) if sys.argv[1] == "import" else note_cost()
    import json

    print(json.dumps(found))
