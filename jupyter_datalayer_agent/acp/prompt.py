"""A prompt's content blocks as a message with attachments."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from acp.schema import (
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ResourceContentBlock,
    TextContentBlock,
)

NOTEBOOK = ".ipynb"
_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"]+\.ipynb)"|([^\s"]+(?:(?<=\\) [^\s"]+)*\.ipynb))')
_RUN_TOGETHER = re.compile(r"[^\s(\[\"'`][^\s.,;:!?)\]\"'`]")
_TICKS = re.compile(r"`{3,}")


class PromptRefused(Exception):
    """A block that cannot be sent; the message says why and what to do."""


@dataclass
class Prompt:
    """A message; ``attachments`` are those of a ``ChatRequest``, ``notebooks`` the paths of the
    notebooks among them, and of those that the text mentions (``@sales.ipynb``), in order."""

    message: str = ""
    attachments: list[dict[str, Any]] = field(default_factory=list)
    notebooks: list[str] = field(default_factory=list)

    def attach(self, path: str) -> None:
        """Attach a document, once."""
        kind = "notebook" if path.endswith(NOTEBOOK) else "file"
        attachment = {"kind": kind, "path": path}
        if attachment not in self.attachments:
            self.attachments.append(attachment)
            if kind == "notebook":
                self.notebooks.append(path)


def read_prompt(blocks: Sequence[Any], root: Path) -> Prompt:
    """The prompt of these blocks, for a server with this root. Raises ``PromptRefused``.

    A link to a file is an attachment, which the server reads. What a client embeds is text of the
    message, since its editor may hold what is not saved; a notebook is attached all the same, as
    it is read and changed by its cells.
    """
    prompt = Prompt()
    said, after_link = "", False
    quoted: list[str] = []
    for block in blocks:
        is_text = isinstance(block, TextContentBlock)
        if is_text:
            part = block.text
        elif isinstance(block, ResourceContentBlock):
            part = _link(prompt, block, root)
        elif isinstance(block, EmbeddedResourceContentBlock):
            part = _embedded(prompt, block, root, quoted)
        else:
            raise PromptRefused(
                f"This agent takes text, links and text resources, not {block.type} content. Save "
                "it to a file of the project and link that."
            )
        # Some clients put links after the text, without a space.
        apart = (after_link or not is_text) and _RUN_TOGETHER.search(f"{said[-1:]}{part[:1]}")
        said += f" {part}" if apart else part
        after_link = not is_text
    prompt.message = "\n\n".join([said.strip(), *quoted]).strip()
    for in_quotes, bare in _MENTION.findall(said):
        path = in_quotes or bare.replace("\\ ", " ")
        if path not in prompt.notebooks and (root / path).is_file():
            prompt.notebooks.append(path)
    return prompt


def _link(prompt: Prompt, block: ResourceContentBlock, root: Path) -> str:
    file = file_of(block.uri)
    if file is None:
        return f"[{block.name}]({block.uri})"
    path = _below(file, root)
    prompt.attach(path)
    fragment = urlsplit(block.uri).fragment
    return f"{path}#{fragment}" if fragment else path


def _embedded(
    prompt: Prompt, block: EmbeddedResourceContentBlock, root: Path, quoted: list[str]
) -> str:
    resource = block.resource
    file = file_of(resource.uri)
    if file is not None and (file.suffix == NOTEBOOK or isinstance(resource, BlobResourceContents)):
        path = _below(file, root)
        prompt.attach(path)
        return path
    if isinstance(resource, BlobResourceContents):
        raise PromptRefused(f"{resource.uri} is not text. Link a file of the project instead.")
    name = resource.uri
    if file is not None and file.is_relative_to(root):
        name = file.relative_to(root).as_posix()
        if fragment := urlsplit(resource.uri).fragment:
            name = f"{name}#{fragment}"
    longest = max((len(ticks) for ticks in _TICKS.findall(resource.text)), default=2)
    fence = "`" * (longest + 1)
    quoted.append(f"{name}:\n{fence}\n{resource.text}\n{fence}")
    return name


def file_of(uri: str) -> Path | None:
    """The file that a URI names, or None for one that names none on this machine."""
    parts = urlsplit(uri)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(os.path.normpath(url2pathname(parts.path)))
    return Path(uri) if not parts.scheme and uri.startswith("/") else None


def _below(file: Path, root: Path) -> str:
    """The file's path under the root. Raises ``PromptRefused`` where it is outside."""
    for each in (file, file.resolve()):
        if each.is_relative_to(root):
            return each.relative_to(root).as_posix()
    raise PromptRefused(
        f"{file} is outside the root folder of the Jupyter server, {root}. Open a folder that "
        "contains it, or start Jupyter in one."
    )
