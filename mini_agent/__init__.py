"""A small agent that reaches services it does not own: the package that the notebooks build.

Importing it loads no third-party library; each module loads what it uses.
"""

__version__ = "0.1.0"
