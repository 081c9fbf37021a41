"""The drives that the experiments run on; tests/simdisk models them and has their sources."""

from results.lab.experiment import Drive

PAPER = Drive({"profile": "hd080hj"}, "the paper's disk", 80_026_361_856)
# Of its profile in tests/simdisk; its data sheet does not give them.
PAPER_SEGMENTS = 16
NEARLINE = Drive({"profile": "nearline"}, "a nearline disk with NCQ", 18_000_207_937_536)
FLASH = Drive({"profile": "tlc"}, "a flash drive", 8192 << 20)


def paper_with_segments(segments: int) -> Drive:
    """The paper's disk with another number of read-ahead segments in its buffer."""
    return Drive({"profile": "hd080hj", "segments": segments}, f"{segments} segments", PAPER.size)
