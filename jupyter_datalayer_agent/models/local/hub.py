"""Fetching a GGUF file from the Hugging Face Hub, by the hub's own library and into its cache.

The size is known and compared before anything is fetched, and the content is compared with the
hub's SHA-256 afterwards. A connection that breaks goes on where it was.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .added_models import CannotAdd
from .servers import INSTALL, size_text

SCHEME = "hf:"
FORM = "hf:OWNER/REPOSITORY/FILE.gguf"

_NAME = re.compile(r"hf:([\w.-]+/[\w.-]+)/([^\\?#]+\.gguf)\Z", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def fetch(name: str, report: Callable[[str], None]) -> Path:
    """The file of ``hf:OWNER/REPOSITORY/FILE.gguf``, fetched unless it is in the cache already.
    ``report`` is called before it begins. Raises ``CannotAdd``."""
    match = _NAME.match(name)
    if match is None or ".." in Path(match[2]).parts:
        raise CannotAdd(f"{name} does not name a file of the hub. Write {FORM}.")
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError as error:
        raise CannotAdd(f"The hub's library is not installed. Run: {INSTALL}") from error
    import httpx

    repository, file = match[1], match[2]
    try:
        size, digest = _about(huggingface_hub, repository, file)
        _check_room(file, size, Path(huggingface_hub.constants.HF_HUB_CACHE))
        report(f"Fetching {file} ({size_text(size)}) of {repository}")
        fetched = Path(huggingface_hub.hf_hub_download(repository, file))
    except errors.GatedRepoError as error:
        raise CannotAdd(
            f"{repository} asks for an account: accept its terms on the hub's page, then run "
            "`hf auth login`."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise CannotAdd(
            f"The hub has no public repository {repository}. For a private one, run "
            "`hf auth login` first."
        ) from error
    except errors.EntryNotFoundError as error:
        raise CannotAdd(f"{repository} has no file {file} on the hub.") from error
    except (errors.HfHubHTTPError, httpx.HTTPError, OSError, ValueError) as error:
        raise CannotAdd(f"{file} could not be fetched: {error}") from error
    _check_content(fetched, size, digest)
    return fetched


def _about(hub: Any, repository: str, file: str) -> tuple[int, str]:
    """Size in bytes, and the SHA-256 of the content as hexadecimal digits."""
    found = hub.get_hf_file_metadata(hub.hf_hub_url(repository, file))
    digest = str(found.etag or "")
    if not found.size or not _SHA256.match(digest):
        raise ValueError("the hub does not say how large it is and what its SHA-256 is")
    return int(found.size), digest


def _check_room(file: str, size: int, folder: Path) -> None:
    import psutil

    memory: int = psutil.virtual_memory().total
    if size > memory:
        raise CannotAdd(
            f"{file} has {size_text(size)}, more than this computer's memory "
            f"({size_text(memory)}). Take a smaller model."
        )
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(nearest).free
    if size > free:
        raise CannotAdd(
            f"{file} has {size_text(size)}, and the disk of {folder} has {size_text(free)} left."
        )


def _check_content(fetched: Path, size: int, digest: str) -> None:
    """Delete the file and raise ``CannotAdd`` if it is not what the hub says it is."""
    with fetched.open("rb") as stream:
        found = hashlib.sha256()
        while block := stream.read(1 << 20):
            found.update(block)
    if fetched.stat().st_size == size and found.hexdigest() == digest:
        return
    fetched.resolve().unlink(missing_ok=True)
    fetched.unlink(missing_ok=True)
    raise CannotAdd(
        f"What was fetched of {fetched.name} is not what the hub says it is (its SHA-256 differs), "
        "and was deleted. Try it again."
    )
