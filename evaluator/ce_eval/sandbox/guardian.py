"""A process that outlives the evaluator just long enough to kill what it left running.

A namespace dies with its first process, which the kernel kills when the evaluator goes. Where there are no
namespaces, a shell waits on a pipe whose other end only the evaluator holds: end of file means that the
evaluator is gone, however it went, and the shell kills every process whose environment carries its mark.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import weakref

from ce_eval.sandbox.supervise import MARKER

# Three rounds, because a process may fork between being listed and being killed.
_SCRIPT = """
read _
for round in 1 2 3; do
  for environ in /proc/[0-9]*/environ; do
    if grep -qa "$1" "$environ"; then
      pid=${environ#/proc/}
      kill -9 "${pid%/environ}"
    fi
  done
done
"""


class Guardian:
    """Kills the runs marked with a token when this process ends in any way without `close`."""

    def __init__(self, token: str) -> None:
        reader, writer = os.pipe2(os.O_CLOEXEC)
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "sh", f"{MARKER}={token}"],
            stdin=reader,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin"},
            start_new_session=True,
        )
        os.close(reader)
        self._finalizer = weakref.finalize(self, _dismiss, self._process, writer)

    def close(self) -> None:
        """End the guardian; nothing is killed."""
        self._finalizer()


def _dismiss(process: subprocess.Popen[bytes], writer: int) -> None:
    with contextlib.suppress(OSError):
        process.kill()
        process.wait()
    os.close(writer)
