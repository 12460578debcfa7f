"""A template: a list of books as a server. Put a service of your own in its place.

python capstone_server.py      speaks JSON lines on stdin and stdout
"""

from typing import Any

from fake_servers.core import Server
from fake_servers.declare import Tool, ToolFailure

BOOKS = ["Dune"]
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


async def books_list(arguments: dict[str, Any], context: object) -> str:
    """What is there, a title a line."""
    return "\n".join(BOOKS) or "no books"


async def books_add(arguments: dict[str, Any], context: object) -> str:
    """Add a title that is not there yet."""
    if arguments["title"] in BOOKS:
        raise ToolFailure(f"{arguments['title']} is there already.")  # for the model to read
    BOOKS.append(arguments["title"])
    return f"Added {arguments['title']}."


LIST = Tool("books_list", "All books.", books_list, annotations={"readOnlyHint": True})
ADD = Tool("books_add", "Add a book to the list.", books_add, TITLE)
SERVER = Server("books", tools=[LIST, ADD])

if __name__ == "__main__":
    from fake_servers.stdio import main

    main(SERVER)
