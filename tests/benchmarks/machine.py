"""On what and under which load a run was made."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

import psutil

PACKAGES = ("mcp", "fastmcp", "httpx", "httpx2", "pydantic")


class Load:
    """From its making to ``said``: the load average, and the CPU that other programs used."""

    def __init__(self) -> None:
        self._average = os.getloadavg()[0]
        self._busy, self._whole = _cpu_times()
        self._own = sum(os.times()[:4])

    def said(self) -> str:
        """One sentence without its stop."""
        busy, whole = _cpu_times()
        others = busy - self._busy - (sum(os.times()[:4]) - self._own)
        share = max(0.0, others) / max(whole - self._whole, 0.01)
        before, after = self._average, os.getloadavg()[0]
        return f"{before:.1f} before and {after:.1f} after; other programs used {share:.0%} of it"


def _cpu_times() -> tuple[float, float]:
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    return sum(times[:8]) - idle, sum(times[:8])  # what follows is guest time, counted before


def described() -> dict[str, str]:
    """The machine and the versions."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    return {
        "Machine": f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}",
        "Python": f"{sys.version.split()[0]}, {versions}",
    }
