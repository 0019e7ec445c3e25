"""Amazon Bedrock's ConverseStream: messages of Amazon's event stream encoding.

https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html has the encoding.
"""

from __future__ import annotations

import binascii
import json
import struct
from typing import Any

TEXT_VALUE = 7


def converse_stream(text: str) -> bytes:
    """``text`` as an answer, with its usage."""
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    events: list[tuple[str, dict[str, Any]]] = [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}),
    ]
    return b"".join(_message(kind, payload) for kind, payload in events)


def _message(kind: str, payload: dict[str, Any]) -> bytes:
    headers = b"".join(
        _header(name, value)
        for name, value in (
            (":event-type", kind),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack("!II", 12 + len(headers) + len(body) + 4, len(headers))
    prelude += struct.pack("!I", binascii.crc32(prelude))
    message = prelude + headers + body
    return message + struct.pack("!I", binascii.crc32(message))


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return (
        struct.pack("!B", len(name))
        + name.encode()
        + struct.pack("!BH", TEXT_VALUE, len(text))
        + text
    )
