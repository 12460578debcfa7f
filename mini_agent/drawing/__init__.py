"""What stands behind mini_agent.draw: a sheet to draw on, and two readings of a trace.

canvas: the looks and the sheet. phrases: events in a few words. which: the events of one call.
cast, rows, sequence: who said what to whom. saw, passage, chain: one call's way through the layers.
"""
