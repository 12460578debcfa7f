"""The content that the suite's scenarios look for."""

from __future__ import annotations

import base64
from typing import Any

# A PNG of one pixel, a WAV file without a sample.
BYTES = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJ"
    "RU5ErkJggg=="
)
SOUND = (
    b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0"
)  # fmt: skip


def text(said: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": said}


def resource(uri: str, said: str, mime_type: str = "text/plain") -> dict[str, Any]:
    """An embedded resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": said}}


PICTURE = {"type": "image", "data": BYTES, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": base64.b64encode(SOUND).decode(), "mimeType": "audio/wav"}
EMBEDDED = resource("test://embedded-resource", "This is an embedded resource content.")
MIXED = resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")

# Every kind of keyword that a list of tools must not lose.
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
