"""Python runs this at the start of every process of a test run: see PYTHONPATH in the Makefile.

JupyterLab brings rfc3987_syntax, which jsonschema imports where it finds it, and which builds its
grammar for 0.7 s in every process: for one format, that nothing here checks. A test run starts some
300 kernels and commands. Where the kit is installed without JupyterLab the module is not there
either.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
