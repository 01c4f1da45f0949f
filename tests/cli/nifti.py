"""Just enough NIfTI-1 for tests: float32 images with an sform, written and read by hand."""

import gzip
import math
import struct

HEADER = 348
DATA_TYPES = {2: "B", 4: "h", 8: "i", 16: "f", 64: "d"}


def write_nifti(path, shape, rows, values):
    """`shape`: voxels along each axis, then volumes if there are several; `rows`: the affine's three rows of four;
    `values`: the first axis fastest."""
    assert len(values) == math.prod(shape)
    header = bytearray(HEADER + 4)
    struct.pack_into("<i", header, 0, HEADER)
    struct.pack_into("<8h", header, 40, len(shape), *shape, *[1] * (7 - len(shape)))
    struct.pack_into("<2h", header, 70, 16, 32)
    struct.pack_into("<8f", header, 76, *[1] * 8)
    struct.pack_into("<f", header, 108, HEADER + 4)
    struct.pack_into("<2f", header, 112, 1, 0)
    struct.pack_into("<B", header, 123, 2)
    struct.pack_into("<2h", header, 252, 0, 1)
    for row in range(3):
        struct.pack_into("<4f", header, 280 + 16 * row, *rows[row])
    header[344:348] = b"n+1\0"
    body = bytes(header) + struct.pack(f"<{len(values)}f", *values)
    path.write_bytes(gzip.compress(body) if path.name.endswith(".gz") else body)


def read_nifti(path):
    """The shape (axes of length 1 at the end left out beyond the third) and the values."""
    body = path.read_bytes()
    if body[:2] == b"\x1f\x8b":
        body = gzip.decompress(body)
    dim = struct.unpack_from("<8h", body, 40)
    shape = [n for axis, n in enumerate(dim[1:1 + dim[0]]) if axis < 3 or n > 1]
    kind = DATA_TYPES[struct.unpack_from("<h", body, 70)[0]]
    offset = int(struct.unpack_from("<f", body, 108)[0])
    return shape, struct.unpack_from(f"<{math.prod(shape)}{kind}", body, offset)
