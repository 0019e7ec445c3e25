"""Confines a process that is about to start: on Linux, by Landlock and seccomp.

Both need no rights, and what is started by the process is confined, too. Landlock says which files
may be written and that no TCP connection is made; seccomp forbids the sockets that Landlock does
not know of (UDP, raw ones) and system calls that would lead around it. Reading is restricted only
where the caller says what may be read.

The system calls are made by ``ctypes``: ``sandlock`` on PyPI is 13 MB of native code, has wheels
for some interpreters only, requires Landlock ABI 6, and adds seccomp only to what it starts itself.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import logging
import os
import platform
import stat
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from glob import glob
from typing import Any

log = logging.getLogger(__name__)

# include/uapi/linux/landlock.h; the numbers of its system calls are the same on all machines.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_WRITE_FILE, _READ_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 13, 1 << 14
# Removing files and folders, and making files, folders, links, sockets, pipes and devices.
_CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))
_BIND_TCP, _CONNECT_TCP = 1, 2
_SCOPE_SIGNAL = 2

# Devices that programs write to: what is shared in memory, terminals, graphics cards.
_DEVICES = (
    "/dev/shm",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/nvidia*",
    "/dev/dri",
    "/dev/kfd",
)

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
# By machine: how the audit system calls it, and the numbers of the system calls that are looked at.
_MACHINES: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41, "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "ptrace": 101,
            "bpf": 321, "perf_event_open": 298, "process_vm_readv": 310,
            "process_vm_writev": 311, "add_key": 248, "request_key": 249, "keyctl": 250,
            "userfaultfd": 323, "io_uring_setup": 425, "pidfd_getfd": 438,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198, "sendto": 206, "sendmsg": 211, "sendmmsg": 269, "ptrace": 117,
            "bpf": 280, "perf_event_open": 241, "process_vm_readv": 270,
            "process_vm_writev": 271, "add_key": 217, "request_key": 218, "keyctl": 219,
            "userfaultfd": 282, "io_uring_setup": 425, "pidfd_getfd": 438,
        },
    ),
}  # fmt: skip
_NEVER = (
    "ptrace",
    "bpf",
    "perf_event_open",
    "process_vm_readv",
    "process_vm_writev",
    "add_key",
    "request_key",
    "keyctl",
    "userfaultfd",
    "io_uring_setup",
    "pidfd_getfd",
)
# It connects by a call that sends, which Landlock does not look at.
_MSG_FASTOPEN = 0x20000000
_FLAGS_ARGUMENT = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}


@dataclass(frozen=True)
class Confinement:
    """What a process is held to. ``writable`` are the folders in which it may change files;
    ``network``: whether it may connect to other programs and machines. ``apply`` is called in the
    process before its program begins, and raises ``OSError`` where the system refuses."""

    writable: tuple[str, ...]
    network: bool
    apply: Callable[[], None]

    @property
    def note(self) -> str:
        """What that means for the code that runs there."""
        folders = " and ".join(self.writable)
        note = f"It reads all files and changes files only in {folders}"
        return f"{note}." if self.network else f"{note}; it connects to no machine or port."

    def covers(self, path: str) -> bool:
        """Whether the file at this real path may be changed."""
        return any(path.startswith(os.path.join(each, "")) for each in self.writable)

    def holds(self, pid: int) -> bool:
        """Whether the process is confined indeed: it has more filters than this one has."""
        return _filters(pid) > _filters(os.getpid())


@functools.cache
def confinement(
    network: bool, folder: str, readable: tuple[str, ...] | None = None
) -> Confinement | None:
    """How a process is confined that may write in this folder only, and read files of this folder
    and the ``readable`` ones (None: all files); None where this system cannot do it."""
    if not sys.platform.startswith("linux") or platform.machine() not in _MACHINES:
        return None
    try:
        libc = _libc()
        abi = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
        if abi < 1:
            return None
        # Before ABI 4 it knows no connections.
        closes_network = not network and abi >= 4
        writable = (os.path.realpath(folder),)
        ruleset = _ruleset(libc, abi, writable, readable, closes_network)
    except OSError as error:
        log.warning("Processes cannot be confined here: %s", error)
        return None
    filters = _filter(closes_network)

    def apply() -> None:
        _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
        _checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filters), 0, 0))

    return Confinement(writable, not closes_network, apply)


def _filters(pid: int) -> int:
    """How many seccomp filters a process is under."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            counts = [line.split()[1] for line in file if line.startswith("Seccomp_filters:")]
    except OSError:
        return 0
    return int(counts[0]) if counts else 0


def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


# -- Landlock ----------------------------------------------------------------------------------


def _ruleset(
    libc: Any,
    abi: int,
    writable: tuple[str, ...],
    readable: tuple[str, ...] | None,
    closes_network: bool,
) -> int:
    """The descriptor of a ruleset that denies writing and reading but here, and connections."""
    reading = 0 if readable is None else _READ_FILE
    rights = _WRITE_FILE | _CHANGE_FOLDER | reading
    rights |= (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)
    fields = [rights]
    if abi >= 4:
        fields.append(_CONNECT_TCP if closes_network else 0)
    if abi >= 6:
        fields.append(_SCOPE_SIGNAL)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _checked(
        libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    )
    devices = [path for pattern in _DEVICES for path in glob(pattern)]
    places = dict.fromkeys(filter(os.path.exists, readable or ()), reading)
    places |= dict.fromkeys((*writable, *devices), rights)
    for path, allowed in places.items():
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(opened).st_mode):
                allowed &= _WRITE_FILE | _READ_FILE | _TRUNCATE
            rule = struct.pack("=Qi", allowed, opened)
            _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
        finally:
            os.close(opened)
    return ruleset


# -- seccomp: a program of the classic packet filter, which sees numbers and no memory -----------

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_STREAM, _TCP = 1, 6
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def _filter(closes_network: bool) -> _Program:
    """The filter's program, which its instructions are kept with."""
    machine, numbers = _MACHINES[platform.machine()]
    code: list[bytes] = []

    def add(operation: int, value: int, yes: int = 0, no: int = 0) -> None:
        code.append(struct.pack("=HBBI", operation, yes, no, value))

    def refuse_if_next_fails(operation: int, value: int) -> None:
        add(operation, value, 1, 0)
        add(_RETURN, _REFUSE)

    def argument(index: int) -> int:
        return _ARGUMENTS + 8 * index  # the lower half, on these machines

    add(_LOAD, _MACHINE)
    refuse_if_next_fails(_EQUAL, machine)
    add(_LOAD, _NUMBER)
    # The same calls by other numbers (x32).
    add(_AT_LEAST, 0x40000000, 0, 1)
    add(_RETURN, _REFUSE)
    for name in _NEVER:
        add(_EQUAL, numbers[name], 0, 1)
        add(_RETURN, _REFUSE)
    if closes_network:
        for name, index in _FLAGS_ARGUMENT.items():
            add(_EQUAL, numbers[name], 0, 4)
            add(_LOAD, argument(index))
            add(_ANY_BIT, _MSG_FASTOPEN, 0, 1)
            add(_RETURN, _REFUSE)
            add(_RETURN, _ALLOW)
        add(_EQUAL, numbers["socket"], 1, 0)
        add(_RETURN, _ALLOW)
        add(_LOAD, argument(0))
        for family in (_AF_UNIX, _AF_NETLINK):
            add(_EQUAL, family, 0, 1)
            add(_RETURN, _ALLOW)
        add(_EQUAL, _AF_INET, 2, 0)
        add(_EQUAL, _AF_INET6, 1, 0)
        add(_RETURN, _REFUSE)
        add(_LOAD, argument(1))
        add(_AND, 0xF)
        refuse_if_next_fails(_EQUAL, _STREAM)
        add(_LOAD, argument(2))
        add(_EQUAL, 0, 2, 0)
        add(_EQUAL, _TCP, 1, 0)
        add(_RETURN, _REFUSE)
    add(_RETURN, _ALLOW)
    instructions = ctypes.create_string_buffer(b"".join(code))
    program = _Program(len(code), ctypes.addressof(instructions))
    program.instructions = instructions
    return program
