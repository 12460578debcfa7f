"""Services to build against: a good calendar, and every way of being bad.

Written without looking into mini_agent, so that client and server cannot share a mistake: only
``memory.py``, which implements the client's own seam, imports it.
"""
