"""A system-call filter for the sandbox: what namespaces leave open, answered with "not permitted".

Refused are the kernel keyrings (a session's keys cross namespaces), new user namespaces, and interfaces that
serve exploits of the kernel more than builds or tests: io_uring, bpf, userfaultfd, kexec, file handles. On
request sockets are, too, of every family; pairs of connected ones, which reach nobody, stay.
Everything else passes, tracing and performance counters included, which profilers and sanitizers need.
"""

from __future__ import annotations

import errno
import os
import struct

# Numbers from the kernel's unistd headers. Those from 424 on are the same on every architecture.
_COMMON = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
_CLONE3 = 435
_SOCKET = {"x86_64": 41, "aarch64": 198}
_ARCHITECTURES: dict[str, tuple[int, dict[str, int], dict[str, int]]] = {
    # machine: (AUDIT_ARCH value, refused calls, calls whose flags are the first argument)
    "x86_64": (
        0xC000003E,
        {
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "bpf": 321,
            "userfaultfd": 323,
            "kexec_load": 246,
            "kexec_file_load": 320,
            "open_by_handle_at": 304,
        },
        {"clone": 56, "unshare": 272},
    ),
    "aarch64": (
        0xC00000B7,
        {
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "bpf": 280,
            "userfaultfd": 282,
            "kexec_load": 104,
            "kexec_file_load": 294,
            "open_by_handle_at": 265,
        },
        {"clone": 220, "unshare": 97},
    ),
}
_CLONE_NEWUSER = 0x10000000
# x86_64 also takes the numbers of the x32 interface, which are these with a high bit set.
_X32_BIT = 0x40000000

# Classic BPF: opcodes and the offsets of struct seccomp_data.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000


def filter_program(*, sockets: bool, machine: str = os.uname().machine) -> bytes | None:
    """The filter as bubblewrap reads it, an array of `struct sock_filter`; None for other machines.

    Args:
        sockets: whether sockets may be made.
        machine: architecture, as `uname` names it.
    """
    if machine not in _ARCHITECTURES:
        return None
    arch, refused, flagged = _ARCHITECTURES[machine]
    not_permitted = _REFUSE | errno.EPERM
    code = [
        (_LOAD, 0, 0, _ARCH),
        # Calls through another architecture's numbers would mean something else here.
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, not_permitted),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, not_permitted),
        # Its flags are in memory, out of a filter's reach; the C library falls back to clone on ENOSYS.
        (_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
    ]
    closed = [] if sockets else [_SOCKET[machine]]
    for number in sorted([*refused.values(), *_COMMON.values(), *closed]):
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, not_permitted)]
    for number in flagged.values():
        code += [
            (_EQUAL, 0, 3, number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_ANY_BIT, 0, 1, _CLONE_NEWUSER),
            (_RETURN, 0, 0, not_permitted),
            (_LOAD, 0, 0, _NUMBER),
        ]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
