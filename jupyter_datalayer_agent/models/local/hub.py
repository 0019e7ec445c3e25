"""Downloads a GGUF file from the Hugging Face Hub, with the hub's own library and into its cache.

The size is compared with memory and disk before the download, and the content with the hub's
SHA-256 afterwards. A download that was interrupted continues where it stopped.
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
    """The file of ``hf:OWNER/REPOSITORY/FILE.gguf``, downloaded unless it is in the cache.
    ``report`` is given a line of text before the download. Raises ``CannotAdd``."""
    match = _NAME.match(name)
    if match is None or ".." in Path(match[2]).parts:
        raise CannotAdd(f"{name} does not name a file on the hub. Write it as {FORM}.")
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError as error:
        raise CannotAdd(f"The hub's library is not installed. Run: {INSTALL}") from error
    import httpx

    repository, file = match[1], match[2]
    try:
        size, digest = _size_and_sha256(huggingface_hub, repository, file)
        _check_room(file, size, Path(huggingface_hub.constants.HF_HUB_CACHE))
        report(f"Downloading {file} ({size_text(size)}) from {repository}")
        fetched = Path(huggingface_hub.hf_hub_download(repository, file))
    except errors.GatedRepoError as error:
        raise CannotAdd(
            f"{repository} requires an account. Accept its terms on its page on the hub, then run "
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
        raise CannotAdd(f"{file} could not be downloaded: {error}") from error
    _check_content(fetched, size, digest)
    return fetched


def _size_and_sha256(hub: Any, repository: str, file: str) -> tuple[int, str]:
    """Size in bytes, and the SHA-256 of the content as hexadecimal digits."""
    metadata = hub.get_hf_file_metadata(hub.hf_hub_url(repository, file))
    digest = str(metadata.etag or "")
    if not metadata.size or not _SHA256.match(digest):
        raise ValueError("the hub does not give its size and SHA-256")
    return int(metadata.size), digest


def _check_room(file: str, size: int, folder: Path) -> None:
    import psutil

    memory: int = psutil.virtual_memory().total
    if size > memory:
        raise CannotAdd(
            f"{file} has {size_text(size)}, more than this computer's memory "
            f"({size_text(memory)}). Choose a smaller model."
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
        sha256 = hashlib.sha256()
        while block := stream.read(1 << 20):
            sha256.update(block)
    if fetched.stat().st_size == size and sha256.hexdigest() == digest:
        return
    fetched.resolve().unlink(missing_ok=True)
    fetched.unlink(missing_ok=True)
    raise CannotAdd(
        f"The downloaded {fetched.name} was deleted, because its size or SHA-256 differs from the "
        "hub's. Try again."
    )
