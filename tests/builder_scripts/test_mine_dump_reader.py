"""Lines come out of any zstd stream whole and in bounded memory, and a damaged stream is told from a short one."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest
import zstandard

from builder_scripts.mine import dump_reader
from builder_scripts.mine.dump_reader import DamagedDumpError, DumpLines, window_of

from .dumps import write_dump

SKIPPABLE = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"12345"


def compress(data: bytes, *, checksum: bool = False) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=checksum).compress(data)


def stream(*, checksum: bool = False) -> bytes:
    """Three frames of one, several and no blocks, and one that readers skip."""
    noise = random.Random(0).randbytes(300_000)
    frames = (b"short", noise + bytes(400_000), b"")
    first, *others = (compress(frame, checksum=checksum) for frame in frames)
    return first + SKIPPABLE + b"".join(others)


def read(path: Path) -> tuple[list[bytes], DumpLines, str]:
    """Read a dump to its end: its lines, the reader, and what is wrong with the file."""
    reader = DumpLines(path, lambda _: None)
    blocks: list[tuple[int, bytes]] = []
    damage = ""
    try:
        blocks.extend(reader.blocks())
    except DamagedDumpError as error:
        damage = str(error)
    sizes = [len(block) for _, block in blocks]
    assert [at for at, _ in blocks] == [sum(sizes[:i]) for i in range(len(sizes))]
    return b"".join(block for _, block in blocks).split(b"\n"), reader, damage


@pytest.mark.parametrize("checksum", [False, True])
def test_cut_at_every_byte(tmp_path: Path, checksum: bool) -> None:
    """A stream is whole at the ends of its frames and nowhere else."""
    short, skippable = compress(b"short", checksum=checksum), SKIPPABLE
    data = short + skippable + compress(b"longer" * 9, checksum=checksum) + compress(b"", checksum=checksum)
    ends = []
    for size in range(len(data) + 1):
        path = tmp_path / "x.zst"
        path.write_bytes(data[:size])
        _, reader, damage = read(path)
        assert reader.offset == size
        if damage:
            assert damage == f"is cut short: it ends inside a frame at compressed byte {size:,}"
        else:
            ends.append(size)
    last = len(data)
    assert ends == [len(short), len(short) + 13, last - len(compress(b"", checksum=checksum)), last]
    assert reader.frames == 3


@pytest.mark.parametrize("checksum", [False, True])
def test_frames(tmp_path: Path, checksum: bool) -> None:
    """Frames of no, one and several blocks, and one that readers skip, give all their content."""
    path = tmp_path / "x.zst"
    path.write_bytes(stream(checksum=checksum))
    found, reader, damage = read(path)
    noise = random.Random(0).randbytes(300_000)
    assert (b"\n".join(found), damage, reader.frames) == (b"short" + noise + bytes(400_000), "", 3)


def test_much_in_few_bytes(tmp_path: Path) -> None:
    """A frame of 200 MB in 20 kB comes out in blocks that memory can hold."""
    path = write_dump(tmp_path / "x.zst", [b"x" * 999_999 + b"\n"] * 200)
    assert path.stat().st_size < 50_000
    reader = DumpLines(path, lambda _: None)
    assert sum(block.count(b"\n") for _, block in reader.blocks() if len(block) < 4 << 20) == 200


def test_plain_lines(tmp_path: Path) -> None:
    """A file that is not compressed gives its lines, its hash and no window."""
    path = tmp_path / "r_jazz_posts.jsonl"
    path.write_bytes(b'{"a":1}\r\n{"a":2}\nlast')
    found, reader, damage = read(path)
    assert (found, damage) == ([b'{"a":1}\r', b'{"a":2}', b"last"], "")
    assert (reader.frames, reader.window, window_of(path), reader.offset) == (0, 0, 0, 21)
    assert reader.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("log", [20, 27, 31])
def test_window(tmp_path: Path, log: int) -> None:
    """The header tells the memory that a decoder needs, up to 2 GiB, and any window is read."""
    path = write_dump(tmp_path / "RS_x.zst", [b"{}\n"], window_log=log)
    assert window_of(path) == 1 << log
    assert read(path)[0] == [b"{}", b""]


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    """Other separators stay inside a line, and a last line without its feed is a line."""
    line = '{"a":"\u2028 \x85 \x0b \x0c"}\r'.encode()
    path = write_dump(tmp_path / "x.zst", [line + b"\n", b"\n", b"last"])
    assert read(path)[0] == [line, b"", b"last"]


def test_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are whole where the stream comes in small pieces, and places count from the beginning."""
    monkeypatch.setattr(dump_reader, "_DECOMPRESSED", 7)
    expected = [b"a" * n for n in (0, 3, 30, 1, 6, 7, 8)]
    path = write_dump(tmp_path / "x.zst", [line + b"\n" for line in expected], frames=3)
    assert read(path)[0] == [*expected, b""]


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that would fill the memory is left out and counted; the next one is read, with its place."""
    monkeypatch.setattr(dump_reader, "_DECOMPRESSED", 10)
    monkeypatch.setattr(dump_reader, "LONGEST_LINE", 50)
    path = write_dump(tmp_path / "x.zst", [b"one\n", b"x" * 95 + b"\n", b"two\n", b"y" * 99])
    reader = DumpLines(path, lambda _: None)
    assert list(reader.blocks()) == [(0, b"one\n"), (100, b"two\n")]
    assert reader.too_long == 2


def test_cut_anywhere(tmp_path: Path) -> None:
    """A file that ends too early is named with the byte it ends at, and only whole lines come out of it."""
    noise = random.Random(1)
    expected = [noise.randbytes(60).hex().encode() for _ in range(500)]
    whole = compress(b"\n".join(expected[:250]) + b"\n") + compress(b"\n".join(expected[250:]) + b"\n")
    first = len(compress(b"\n".join(expected[:250]) + b"\n"))
    for size in (0, 3, 9, first // 2, first + 1, first + 12, len(whole) - 1):
        path = tmp_path / f"{size}.zst"
        path.write_bytes(whole[:size])
        found, _, damage = read(path)
        assert damage == f"is cut short: it ends inside a frame at compressed byte {size:,}"
        assert found[:-1] == expected[: len(found) - 1]
        assert found[-1] == b""
        assert size <= first or len(found) > 250


@pytest.mark.parametrize("place", [0, 200_000])
def test_corrupt(tmp_path: Path, place: int) -> None:
    """A byte that changed on the way is told with how far the file was read."""
    data = bytearray(compress(random.Random(2).randbytes(200_000).hex().encode(), checksum=True))
    data[place] ^= 0xFF
    path = tmp_path / "x.zst"
    path.write_bytes(data)
    assert read(path)[2].startswith(f"does not decode before compressed byte {len(data):,} (")


def test_unreadable(tmp_path: Path) -> None:
    """A file that the system refuses is damaged like any other."""
    (tmp_path / "x.zst").mkdir()
    assert read(tmp_path / "x.zst")[2] == "cannot be read after byte 0 (Is a directory)"


@pytest.mark.parametrize("name", ["RS_window31", "RS_window28", "RS_two_frames_split_utf8"])
def test_published_window_and_frames(cases: Path, name: str) -> None:
    """Windows of 2 GiB, and a frame that ends inside a character: three posts, titles intact."""
    found, reader, damage = read(cases / "r01" / f"{name}.zst")
    assert (len(found), damage) == (3, "")
    assert "Zweite 音楽 🎷" in found[1].decode()
    assert reader.frames == (2 if "two" in name else 1)


def test_published_cut(cases: Path) -> None:
    """A download cut short is told, and gives its whole lines at most."""
    found, reader, damage = read(cases / "r01" / "RS_truncated.zst")
    assert (len(found) - 1, damage) == (1, "is cut short: it ends inside a frame at compressed byte 578")
    assert reader.cut
