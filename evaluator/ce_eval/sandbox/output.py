"""The head and the tail of an endless stream, in bounded memory."""

from __future__ import annotations


class BoundedOutput:
    """Keeps the first and the last ``keep`` bytes of what is added and counts the rest."""

    def __init__(self, keep: int) -> None:
        self.total_bytes = 0
        self._keep = keep
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        """Append; memory stays under 3 ``keep`` plus the size of ``data``."""
        self.total_bytes += len(data)
        room = self._keep - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        # Trimmed at twice the size, so that each byte is moved at most once on average.
        if len(self._tail) > 2 * self._keep:
            del self._tail[: -self._keep or None]

    @property
    def dropped_bytes(self) -> int:
        """How many bytes lie between head and tail and are gone."""
        return self.total_bytes - len(self._head) - min(len(self._tail), self._keep)

    def text(self) -> str:
        """Head and tail as text, with a line in between that says how much is missing.

        What is not UTF-8, and NUL, which many readers of JSON cannot store, becomes U+FFFD.
        """
        tail = self._tail[-self._keep :] if self._keep else b""
        if not self.dropped_bytes:
            return _decode(self._head + tail)
        return f"{_decode(self._head)}\n[... {self.dropped_bytes} bytes left out ...]\n{_decode(tail)}"


def _decode(data: bytes | bytearray) -> str:
    return data.decode("utf-8", errors="replace").replace("\x00", "\ufffd")
