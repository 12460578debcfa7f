"""Pasting from the package itself, where its code has shapes that a sample lacks."""

from __future__ import annotations

from notebooks.paste import paste


def test_a_heading_over_methods_that_were_dropped_goes_with_them() -> None:
    assert "# --" not in paste("mini_agent.mcp.client.McpClient(__init__)")


def test_a_definition_with_a_match_statement_is_pasted_whole() -> None:
    assert "case " in paste("mini_agent.mcp.adapter._format_block")
