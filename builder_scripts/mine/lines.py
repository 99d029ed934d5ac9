"""The lines of a dump as a stream of blocks, in memory that does not grow with the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from .frames import FrameWatch

LONGEST_LINE = 1 << 26
_WINDOW = 1 << 31  # what dumps are made with, 16 times what a decoder takes unasked
_COMPRESSED = 1 << 20
_DECOMPRESSED = 1 << 19  # small enough to stay in a processor's cache from step to step


class DamagedDumpError(Exception):
    """A dump that cannot be read to its end; the message says from which compressed byte on."""


class DumpLines:
    r"""The lines of one dump, cut at `\n` and nowhere else.

    Attributes:
        watch: What the compressed stream says of itself.
        too_long: How many lines were longer than `LONGEST_LINE` and left out.
        cut: Whether the last line was left out because the dump breaks off in it.

    Args:
        path: The dump.
        advance: Told how many compressed bytes were read, each time.
    """

    def __init__(self, path: Path, advance: Callable[[int], None]) -> None:
        self.watch = FrameWatch()
        self.too_long = 0
        self.cut = False
        self._path = path
        self._advance = advance
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Hash of the compressed bytes read so far, in hexadecimal."""
        return self._hash.hexdigest()

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Decompress the dump.

        Yields:
            Whole lines, some at a time, with the place of the first in the decompressed stream, in bytes.

        Raises:
            DamagedDumpError: The dump is cut short, is no zstd or does not decode; the lines before that have been
                yielded.
        """
        start = held = 0
        tail: list[bytes] = []
        skipping = False
        damage = None
        try:
            for block in self._decompressed():
                if skipping:
                    end = block.find(b"\n") + 1
                    start += end or len(block)
                    skipping = not end
                    block = block[end:] if end else b""
                cut = block.rfind(b"\n") + 1
                if cut:
                    whole = b"".join((*tail, memoryview(block)[:cut]))
                    yield start, whole
                    start += len(whole)
                    tail, held = [block[cut:]], len(block) - cut
                else:
                    tail.append(block)
                    held += len(block)
                if held > LONGEST_LINE:
                    self.too_long += 1
                    start += held
                    tail, held, skipping = [], 0, True
        except DamagedDumpError as error:
            damage = error
        if damage:
            self.cut = held > 0
            raise damage
        if held:
            yield start, b"".join(tail)

    def _decompressed(self) -> Iterator[bytes]:
        import zstandard

        try:
            with self._path.open("rb") as file:
                decoder = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
                source = cast(IO[bytes], _Watched(file, self._see))  # a decoder asks for `read` alone
                # Without `read_across_frames` some versions end in silence after the first frame.
                stream = decoder.stream_reader(source, read_size=_COMPRESSED, read_across_frames=True)
                while block := stream.read(_DECOMPRESSED):
                    yield block
        except zstandard.ZstdError as error:
            raise DamagedDumpError(f"does not decode before compressed byte {self.watch.offset:,} ({error})") from error
        except OSError as error:
            raise DamagedDumpError(f"cannot be read after byte {self.watch.offset:,} ({error.strerror})") from error
        if not self.watch.whole:
            raise DamagedDumpError(f"is cut short: it ends inside a frame at compressed byte {self.watch.offset:,}")

    def _see(self, data: bytes) -> None:
        self._hash.update(data)
        self.watch.feed(data)
        self._advance(len(data))


def count_lines(block: bytes) -> int:
    """Count lines, a last one without its line feed included."""
    import numpy as np

    # Several times as fast as `bytes.count`, which is quick at finding rare bytes and not at counting common ones.
    feeds = int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
    return feeds + (not block.endswith(b"\n"))


class _Watched:
    """A file that shows what is read from it."""

    def __init__(self, file: BinaryIO, see: Callable[[bytes], None]) -> None:
        self._file, self._see = file, see

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._see(data)
        return data
