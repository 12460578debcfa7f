"""What the terminal's chat needs around the loop: a ready model, prompts, a session file."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from mini_agent.keyboard import LONGEST, Lines
from mini_agent.model_client import AnthropicModelClient, ModelStreamError, NoApiKey
from mini_agent.shell import UsageError, put
from mini_agent.terminal import say

TOO_LONG = (
    f"a terminal takes {LONGEST:,} bytes a line and dropped the rest of this one, so nothing was "
    "sent; paste it as several lines, or pipe it in"
)


def model_for(name: str) -> AnthropicModelClient:
    """The model, its client made and its key found, with no call to anybody.

    Raises: UsageError. The cause's words are left out: they may repeat a proxy's password.
    """
    import anthropic
    import httpx2

    model = AnthropicModelClient(name)
    try:
        httpx2.AsyncClient()  # fails as the package's own does, which then prints a traceback
        model._default_client()
    except NoApiKey as error:
        raise UsageError("no API key: set ANTHROPIC_API_KEY, or try: demo") from error
    except (anthropic.AnthropicError, httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
        raise UsageError(
            f"no client for the model can be made ({type(error).__name__}); look at the proxy "
            "settings, SSL_CERT_FILE and ANTHROPIC_… of the environment"
        ) from error
    return model


@contextlib.contextmanager
def model_failures() -> Iterator[None]:
    """What the anthropic package and its HTTP library raise leaves as one ModelStreamError."""
    import anthropic
    import httpx2

    try:
        yield
    except anthropic.AnthropicError as error:
        raise ModelStreamError(f"the model's service failed: {error}") from error
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
        raise ModelStreamError(f"the model's answer was cut off: {error}") from error
    except (json.JSONDecodeError, UnicodeError) as error:
        raise ModelStreamError(f"the model's service is not understood: {error}") from error


async def next_prompt(lines: Lines) -> str | None:
    """The next line that says something, None at the end of the input."""
    while True:
        put("> ")
        line = await lines.read()
        if not line:
            return None
        if lines.cut:
            say("too long", TOO_LONG)
        elif line.strip():
            return line.strip()


@contextlib.asynccontextmanager
async def session_file(path: str | None) -> AsyncIterator[Path]:
    """``path``, or a file that lasts as long as this conversation."""
    if path is not None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="mini-agent-") as folder:
        yield Path(folder) / "session.jsonl"
