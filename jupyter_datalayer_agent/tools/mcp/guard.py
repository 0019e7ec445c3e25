"""The process between the Jupyter server and an MCP server that talks over stdio.

It starts the command in its arguments and passes messages, a line of JSON each. When its own input
ends, the Jupyter server is gone or no longer needs the MCP server, which is then ended with
everything that it started. What would block the Jupyter server is cut or dropped here: answers of
megabytes, floods of messages, lines that are not messages. It imports nothing of the package.
"""

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

LARGE = 4_000_000
"""Bytes up to which a message is passed unchanged."""
LARGEST = 128_000_000
"""Bytes up to which a message is read; of a larger one, only the id is."""
TEXT = 1_000_000
"""Characters that are kept of an answer that is cut."""
CUT = "--cut"
"""Given as the command: cut the one message of the input, for answers that come over HTTP."""
TOO_LARGE = -32010
"""The code of the error that replaces an answer."""

PER_SECOND = 100
"""The server's own messages that are passed each second: further notifications are dropped, and a
server that sends more requests is ended."""
ANSWERS_PER_SECOND = 1_000
"""Answers a second above which a server is ended: it was never asked that often."""
LOG_LINES, LOG_LINE = 200, 2_000
"""Lines a second, and characters of a line, of the server's log."""
GRACE_SECONDS = 1.0
"""For a server to end after its input has ended."""
TERM_SECONDS = 0.5
"""For it to end after it was asked to; the SDK waits 2 seconds in all for this process."""

_HAS_GROUPS = os.name == "posix"
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18})')


class Guard:
    """One MCP server and what is passed between it and the Jupyter server."""

    def __init__(self, command: list[str]) -> None:
        self._out = threading.Lock()
        self._input: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._log = Limit(LOG_LINES)
        self._notifications = Limit(PER_SECOND)
        self._requests = Limit(PER_SECOND)
        self._answers = Limit(ANSWERS_PER_SECOND)
        self._list_changed: threading.Timer | None = None
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self) -> None:
        """Pass messages until the server ends."""
        threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._read_input, self._pass_input, self._pass_output, self._pass_log)
        ]
        for thread in threads:
            thread.start()
        code = self._process.wait()
        # A process that the server left behind may keep its output open.
        for thread in threads[2:]:
            thread.join(timeout=GRACE_SECONDS)
        self.log(f"The server ended with exit code {code}.")
        end_group()

    def log(self, line: str) -> None:
        """Write a line to the log, unless there are too many."""
        if self._log.allows():
            with contextlib.suppress(OSError):
                os.write(2, f"{line.rstrip()[:LOG_LINE]}\n".encode(errors="replace"))

    def _read_input(self) -> None:
        """Read the input to its end, and end the server if it does not read it."""
        with contextlib.suppress(OSError):
            while chunk := os.read(0, 1 << 16):
                self._input.put(chunk)
                if self._input.qsize() << 16 > LARGEST:
                    self._end("it does not read what it is sent")
        self._input.put(b"")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        end_group(self._process)

    def _pass_input(self) -> None:
        target = self._process.stdin
        assert target is not None
        with contextlib.suppress(OSError):
            while chunk := self._input.get():
                target.write(chunk)
                target.flush()
        with contextlib.suppress(OSError):
            target.close()

    def _pass_log(self) -> None:
        assert self._process.stderr is not None
        for line, _ in lines(self._process.stderr.fileno(), 1 << 16):
            self.log(line.decode(errors="replace"))

    def _pass_output(self) -> None:
        assert self._process.stdout is not None
        for line, is_whole in lines(self._process.stdout.fileno(), LARGEST):
            if not is_whole:
                self._refuse(line)
            elif line.strip():
                self._pass_line(line)

    def _pass_line(self, line: bytes) -> None:
        message, line = parsed(line)
        if not isinstance(message, dict):
            self.log(line[:LOG_LINE].decode(errors="replace"))
        elif "method" not in message:
            if not self._answers.allows():
                self._end(f"it sent more than {ANSWERS_PER_SECOND} answers in a second")
            self._write(line if len(line) <= LARGE else cut_answer(message, len(line)))
        elif len(line) > LARGE:
            self.log(f"A message of {len(line)} bytes was dropped: {message['method']}"[:200])
        elif "id" in message:
            if not self._requests.allows():
                self._end(f"it sent more than {PER_SECOND} requests in a second")
            self._write(line)
        elif message["method"] == "notifications/tools/list_changed":
            self._report_list_changed(line)
        elif self._notifications.allows():
            self._write(line)

    def _end(self, reason: str) -> None:
        self.log(f"The server was ended: {reason}.")
        end_group(self._process)

    def _report_list_changed(self, line: bytes) -> None:
        """Report the changes of a second once, after the last of them."""
        if self._list_changed is None or not self._list_changed.is_alive():
            self._list_changed = threading.Timer(0.1, self._write, [line])
            self._list_changed.daemon = True
            self._list_changed.start()

    def _refuse(self, ends: bytes) -> None:
        """Answer with an error in place of a message that was too large to read."""
        found = _ID.search(ends)
        self.log(f"A message of more than {LARGEST} bytes was dropped.")
        if found:
            self._write(too_large(json.loads(found[1]), LARGEST))

    def _write(self, line: bytes) -> None:
        data = memoryview(line.rstrip(b"\r\n") + b"\n")
        with self._out:
            try:
                while data:
                    data = data[os.write(1, data) :]
            except OSError:
                end_group(self._process)


class Limit:
    """Allows a number of messages each second."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._began = 0.0

    def allows(self) -> bool:
        """Count one more."""
        now = time.monotonic()
        if now - self._began >= 1:
            self._began, self._count = now, 0
        self._count += 1
        return self._count <= self._most


def lines(number: int, largest: int) -> Any:
    """The lines of a file, each with whether it is complete. Of a line longer than ``largest``, the
    first and last bytes come."""
    buffer = bytearray()
    skipped: bytes | None = None
    while chunk := os.read(number, 1 << 18):
        begin = 0
        while (end := chunk.find(b"\n", begin)) >= 0:
            buffer += chunk[begin:end]
            begin = end + 1
            if skipped is None:
                yield bytes(buffer), True
            else:
                yield skipped + bytes(buffer[-4096:]), False
            skipped = None
            buffer.clear()
        buffer += chunk[begin:]
        if len(buffer) > largest:
            skipped = skipped or bytes(buffer[:4096])
            del buffer[:-4096]
    if buffer and skipped is None:
        yield bytes(buffer), True


def parsed(line: bytes) -> tuple[Any, bytes]:
    """The message of a line, or None, and the line in a form that every JSON parser accepts:
    without NaN and infinities, lone surrogates and bytes that are not UTF-8."""
    odd: list[str] = []
    text = line.decode(errors="replace")
    try:
        message = json.loads(text, parse_constant=odd.append)
    except (ValueError, RecursionError):
        return None, line
    if odd or "\\ud" in text.lower() or "\ufffd" in text:
        line = json.dumps(message, ensure_ascii=False).encode(errors="replace")
    return message, line


def too_large(request_id: Any, size: int) -> bytes:
    """An error in place of an answer."""
    error = {"code": TOO_LARGE, "message": f"The answer has {size:,} bytes or more."}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()


def cut_answer(message: dict[str, Any], size: int) -> bytes:
    """Shorten an answer; an error if it is not a tool's result."""
    result = message.get("result")
    if not isinstance(result, dict) or not isinstance(content := result.get("content"), list):
        return too_large(message.get("id"), size)
    left = TEXT
    kept: list[Any] = []
    for item in content:
        item = cut_item(item, left) if left > 0 else None
        if item is None:
            break
        left -= len(json.dumps(item))
        kept.append(item)
    if len(kept) < len(content):
        note = f"[... {len(content) - len(kept)} more parts of the answer left out ...]"
        kept.append({"type": "text", "text": note})
    result["content"] = kept
    structured = result.pop("structuredContent", None)
    if structured is not None and len(text := json.dumps(structured)) <= left:
        result["structuredContent"] = structured
    elif structured is not None and not kept:
        kept.append({"type": "text", "text": cut_text(text, TEXT)})
    return json.dumps(message).encode()


def cut_item(item: Any, most: int) -> Any:
    """Cut one part of an answer to ``most`` characters; parts other than text are kept or dropped
    whole."""
    if not isinstance(item, dict) or len(json.dumps(item)) <= most:
        return item
    if isinstance(item.get("text"), str):
        return {**item, "text": cut_text(item["text"], most)}
    resource = item.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return {**item, "resource": {**resource, "text": cut_text(resource["text"], most)}}
    what = str(item.get("mimeType") or item.get("type"))[:100]
    return {"type": "text", "text": f"[{what} left out: larger than {most:,} bytes]"}


def cut_text(text: str, most: int) -> str:
    """The beginning and the end of a text."""
    head = most * 2 // 5
    tail = most - head
    if len(text) <= most:
        return text
    return f"{text[:head]}\n[... {len(text) - most:,} characters left out ...]\n{text[-tail:]}"


def end_group(process: "subprocess.Popen[bytes] | None" = None) -> None:
    """End this process and all processes of the server."""
    if _HAS_GROUPS and os.getpgrp() == os.getpid():
        if process is not None and process.poll() is None:
            os.killpg(0, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(TERM_SECONDS)
        os.killpg(0, signal.SIGKILL)
    if process is not None:
        process.kill()
    os._exit(0)


def cut_input() -> None:
    """Shorten the message of the input; one that is not an answer is dropped."""
    message, line = parsed(sys.stdin.buffer.read())
    if not isinstance(message, dict) or "method" in message:
        sys.exit(1)
    sys.stdout.buffer.write(cut_answer(message, len(line)))


def main() -> None:
    if sys.argv[1] == CUT:
        return cut_input()
    # A handler, since the server would inherit an ignored signal.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        guard = Guard(sys.argv[1:])
    except OSError as error:
        print(f"{sys.argv[1]} cannot be started: {error.strerror}", file=sys.stderr, flush=True)
        sys.exit(127)
    guard.run()


if __name__ == "__main__":
    main()
