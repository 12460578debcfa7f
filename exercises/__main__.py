"""``python -m exercises``: copies of the exercise notebooks in work/exercises."""

from __future__ import annotations

import sys

from exercises import start

if __name__ == "__main__":
    sys.stdout.write(f"{start().text}\n")
