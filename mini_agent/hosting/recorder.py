"""What the host writes down of each call: decision, intent, outcome, in the audit and the trace.

Its guarantee: nothing is sent before its intent is kept, and every intent that this program lives
to see end has an outcome, also when the call raised or was cancelled.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from mini_agent.approval import HostCall
from mini_agent.audit import AuditLog
from mini_agent.audit_record import AuditRecord
from mini_agent.errors import AuditError, McpError
from mini_agent.hosting.attempts import service_error
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.shapes import McpTool
from mini_agent.trace import Trace
from mini_agent.types import Approval, ToolResult


class Recorder:
    """Writes to ``audit`` and ``trace`` where there are any. ``clock`` is in seconds."""

    def __init__(
        self,
        audit: AuditLog | None,
        trace: Trace | None,
        user: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._audit = audit
        self._trace = trace
        self._user = user or ""
        self._clock = clock

    def note(self, what: str, server: str, tool: str, **facts: object) -> None:
        """Add to the trace."""
        if self._trace is not None:
            self._trace.add("host", what, server=server, tool=tool, **facts)

    def gone(self, server: str, tool: McpTool) -> None:
        """The server no longer has the tool; its fresh list is what the next run reads."""
        self.note("gone", server, tool.name)

    def decided(self, call: HostCall, client: McpClient | None, approval: Approval) -> None:
        """What came of asking whether ``call`` may run.

        Raises: AuditError.
        """
        word = "approved" if approval.approved is True else "denied"
        self.note(word, call.server, call.tool, policy=call.decision, reason=approval.reason)
        if self._audit is not None:
            record = self._record(call, client)
            self._audit.decision(replace(record, outcome=word, reason=approval.reason))

    @contextlib.contextmanager
    def sending(self, call: HostCall, client: McpClient | None) -> Iterator[list[ToolResult]]:
        """Keep the intent, then what comes of the call: put its result into the list.

        Raises: AuditError, before anything is sent or after the answer came.
        """
        record = self._record(call, client)
        self.note(
            "call",
            call.server,
            call.tool,
            protocol=record.protocol_version,
            release=record.server_release,
            schema_hash=record.schema_hash,
        )
        if self._audit is not None:
            self._audit.intent(record)
        began = self._clock()
        results: list[ToolResult] = []
        try:
            yield results
        except BaseException as failure:
            why = str(failure) if isinstance(failure, McpError) else ""
            with lost_is_noted(failure):
                self._outcome(record, began, type(failure).__name__, why)
            raise
        self._outcome(record, began, *told(results[0]))

    def _outcome(self, record: AuditRecord, began: float, outcome: str, reason: str) -> None:
        took = round(self._clock() - began, 6)
        if self._audit is not None:
            self._audit.outcome(replace(record, duration=took, outcome=outcome, reason=reason))

    def _record(self, call: HostCall, client: McpClient | None) -> AuditRecord:
        return AuditRecord(
            call=call.id,
            server=call.server,
            tool=call.tool,
            exposed=call.name,
            arguments=call.input,
            protocol_version=client.protocol_version if client else "",
            server_release=release(client),
            schema_hash=call.pin,
            user=self._user,
            decision=call.decision,
        )


def told(result: ToolResult) -> tuple[str, str]:
    """A word for the result, and the service's own code where it states one."""
    match result:
        case ToolResult(is_error=False):
            return "ok", ""
        case ToolResult():
            failure = service_error(result)
            return "tool error", failure.code if failure else ""
    return type(result).__name__, "no ToolResult"  # the loop refuses it


def release(client: McpClient | None) -> str:
    """The name and version that the server says it has, "" where it says none."""
    info = (client.server_info if client else None) or {}
    return " ".join(str(info[word]) for word in ("name", "version") if info.get(word))


@contextlib.contextmanager
def lost_is_noted(failure: BaseException) -> Iterator[None]:
    """While ``failure`` is on its way up, a record that is lost is a note on it."""
    try:
        yield
    except AuditError as lost:
        failure.add_note(f"It could not be recorded either: {lost}")
