"""The drives of the experiments; tests/simdisk has their models, and where the numbers are from."""

from results.lab.experiment import Drive

PAPER = Drive({"profile": "hd080hj"}, "the paper's disk", 80_026_361_856)
# From its profile in tests/simdisk; the data sheet does not give the number.
PAPER_SEGMENTS = 16
NEARLINE = Drive({"profile": "nearline"}, "a nearline disk with NCQ", 18_000_207_937_536)
FLASH = Drive({"profile": "tlc"}, "a flash drive", 8192 << 20)


def paper_with_segments(segments: int) -> Drive:
    """Return the paper's disk with another number of read-ahead segments in its buffer."""
    return Drive({"profile": "hd080hj", "segments": segments}, f"{segments} segments", PAPER.size)
