"""No kernel: the notebook asks for one that is not installed, or that did not start."""

from __future__ import annotations

from typing import Any

from ...notebook.dependencies import is_python
from ...protocol.workflows import FixCall, FixInfo
from .. import editing
from ..fix import CellFailure, Fix, FixProbe

_USUAL = ("python3", "ir", "bash")
_MOST = 3


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Kernels of the notebook's language; safe where there is only one, or the usual one."""
    specs = [spec for spec in await probe.kernel_specs() if _fits(spec, failure.language)]
    specs.sort(key=lambda spec: (spec["name"] not in _USUAL, spec["name"]))
    return [
        _fix(failure, spec, safe=len(specs) == 1 or spec["name"] in _USUAL)
        for spec in specs[:_MOST]
    ]


def _fits(spec: dict[str, Any], language: str) -> bool:
    known = str(spec.get("language") or "").lower()
    if is_python(language):
        return is_python(known) if known else False
    return known == language.lower()


def _fix(failure: CellFailure, spec: dict[str, Any], *, safe: bool) -> FixInfo:
    name = spec.get("displayName") or spec["name"]
    select = FixCall(
        name="selectKernel", arguments={"path": failure.path, "kernelName": spec["name"]}
    )
    return FixInfo(
        id=f"select-kernel-{spec['name']}",
        title=f"Use the kernel {name}",
        explanation=f"The notebook's kernel could not be started; {name} is installed and runs "
        f"the same language ({spec.get('language')}).",
        safe=safe,
        calls=[select, editing.run(failure.path, [failure.cell.id])],
    )


FIX = Fix("missing-kernel", (), find, language=None, no_kernel=True)
