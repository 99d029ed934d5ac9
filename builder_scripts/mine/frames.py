"""What a zstd stream says of itself as its bytes go by: whether it ends where a frame ends, and what it asks of memory.

A decoder that reaches the end of a file cut short returns what it has and says nothing, so a half download passes for
a quiet month. The sizes of frames and blocks stand in the stream (RFC 8878, section 3.1); following them from header to
header finds the cut without decoding anything.
"""

from __future__ import annotations

from pathlib import Path

_SHORTEST = 5  # magic number and frame descriptor: enough to know how long the header is
_LONGEST = 18
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_SKIPPABLE_HEADER = 8
_BLOCK_HEADER = 3
_RLE = 1


class FrameWatch:
    """Follows the frames of a stream.

    Attributes:
        offset: How many bytes have gone by.
        frames: How many frames have begun.
        window: Bytes of the largest window that a frame asks for: what a decoder needs in memory.
    """

    def __init__(self) -> None:
        self.offset = 0
        self.frames = 0
        self.window = 0
        self._skip = 0
        self._head = b""
        self._needed = _SHORTEST
        self._in_frame = False
        self._checksum = 0
        self._lost = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.offset += len(data)
        at = 0
        while at < len(data) and not self._lost:
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
            else:
                step = min(self._needed - len(self._head), len(data) - at)
                self._head += data[at : at + step]
                if len(self._head) == self._needed:
                    self._read_head()
            at += step

    @property
    def whole(self) -> bool:
        """Whether the bytes so far are one frame or several, each to its end."""
        return self.frames > 0 and not (self._in_frame or self._skip or self._head or self._lost)

    def _read_head(self) -> None:
        if self._in_frame:
            self._read_block_header()
        else:
            self._read_frame_header()

    def _read_frame_header(self) -> None:
        import zstandard

        head = self._head
        skippable = int.from_bytes(head[:4], "little") in _SKIPPABLE
        if not skippable and head[:4] != zstandard.FRAME_HEADER:  # no frame: the decoder will say so
            self._lost = True
            return
        self._needed = _SKIPPABLE_HEADER if skippable else zstandard.frame_header_size(head)
        if len(head) < self._needed:
            return
        self._head = b""
        if skippable:
            self._skip = int.from_bytes(head[4:], "little")
            self._needed = _SHORTEST
            return
        parameters = zstandard.get_frame_parameters(head)
        self.frames += 1
        self.window = max(self.window, parameters.window_size)
        self._in_frame = True
        self._checksum = 4 if parameters.has_checksum else 0
        self._needed = _BLOCK_HEADER

    def _read_block_header(self) -> None:
        header = int.from_bytes(self._head, "little")
        self._head = b""
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        self._skip = 1 if kind == _RLE else size
        if is_last:
            self._skip += self._checksum
            self._in_frame = False
            self._needed = _SHORTEST


def window_of(path: Path) -> int:
    """Read how many bytes of window the first frame of a file asks for; 0 where no frame begins it."""
    watch = FrameWatch()
    with path.open("rb") as file:
        watch.feed(file.read(_LONGEST))
    return watch.window
