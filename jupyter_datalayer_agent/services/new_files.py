"""Files that an action writes: whole or not at all, and never in place of another."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path, PurePosixPath

from .action import ActionContext, ActionFailed


def beside(source: str, name: str | None, suffix: str) -> str:
    """The path under the root of what is made of ``source``: ``name``, a path, or a mere name for a
    file beside it; without one, the name of the source. The suffix is added where it is not
    there."""
    path = PurePosixPath(source)
    if name is None or not name.strip():
        return str(path.with_suffix(suffix))
    target = PurePosixPath(name.strip())
    if not target.name.lower().endswith(suffix.lower()):
        target = target.with_name(target.name + suffix)
    return str(target if len(target.parts) > 1 else path.parent / target)


async def new_file(context: ActionContext, relative: str) -> Path:
    """Where a new file is to be. Raises ``ActionFailed`` where it cannot."""
    path = await context.path(relative)
    if path.exists():
        raise ActionFailed(
            f"{relative} already exists. Choose another name, or delete the file first."
        )
    if not path.parent.is_dir():
        raise ActionFailed(f"There is no folder {PurePosixPath(relative).parent}. Make it first.")
    return path


def write_new(path: Path, content: bytes | str) -> None:
    """Write the file. Raises ``ActionFailed`` where there is one by now or that is impossible."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(data)
        _name(part, path)
    except FileExistsError as error:
        raise ActionFailed(f"{path.name} already exists. Choose another name.") from error
    except OSError as error:
        raise ActionFailed(f"{path.name} could not be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _name(part: Path, path: Path) -> None:
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        part.rename(path)
