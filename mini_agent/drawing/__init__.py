"""What stands behind mini_agent.draw: a sheet to draw on, and two readings of a trace.

canvas: the looks and the sheet. rows, sequence: who said what to whom. which, saw, passage,
chain: one call's way through the layers.
"""
