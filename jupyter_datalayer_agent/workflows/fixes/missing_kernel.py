"""No kernel: the notebook asks for one that is not installed, or that did not start."""

from __future__ import annotations

from typing import Any

from ...notebook.dataflow.dependencies import is_python
from ...notebook.files.kinds import document_noun
from ...protocol.workflows import FixCall, FixInfo
from .. import editing
from ..fix import CellFailure, Fix, FixProbe

_USUAL = ("python3", "ir", "bash")
_MOST = 3


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Kernels of the notebook's language, the one that it names first.

    Safe is that one, else the only one, else the usual one of the language. Without a known
    language every kernel is a guess.
    """
    specs = [spec for spec in await probe.kernel_specs() if _fits(spec, failure.language)]
    names = [spec["name"] for spec in specs]
    best = next((each for each in (failure.kernel_name, *_USUAL) if each in names), None)
    if len(specs) == 1:
        best = names[0]
    specs.sort(key=lambda spec: (spec["name"] != best, spec["name"]))
    known = failure.language is not None
    return [_fix(failure, spec, safe=known and spec["name"] == best) for spec in specs[:_MOST]]


def _fits(spec: dict[str, Any], language: str | None) -> bool:
    known = str(spec.get("language") or "").lower()
    if language is None:
        return True
    if is_python(language):
        return is_python(known) if known else False
    return known == language.lower()


def _fix(failure: CellFailure, spec: dict[str, Any], *, safe: bool) -> FixInfo:
    name = spec.get("displayName") or spec["name"]
    select = FixCall(
        name="selectKernel",
        arguments={"path": failure.path, "kernelName": spec["name"]},
        label="Choose a kernel",
    )
    runs = [editing.run(failure.path, list(failure.not_run))] if failure.not_run else []
    language, kind = spec.get("language"), document_noun(failure.path)
    if failure.language is None:
        why = f"The {kind} does not say what language it is in; {name} is installed"
        why += f" and runs {language}." if language else "."
    elif spec["name"] == failure.kernel_name:
        why = f"The {kind} has no kernel; {name} is the one that it names."
    else:
        why = f"The {kind}'s kernel could not be started; {name} is installed and runs the same "
        why += f"language ({language})."
    return FixInfo(
        id=f"select-kernel-{spec['name']}",
        title=f"Use the kernel {name}",
        explanation=why,
        safe=safe,
        calls=[select, *runs],
    )


FIX = Fix("missing-kernel", (), find, language=None, no_kernel=True)
