"""Just enough of Gmsh, NIfTI-1, NRRD and NumPy files for tests, written and read by hand; the first axis of images is the
fastest."""

import ast
import gzip
import math
import struct

HEADER = 348
DATA_TYPES = {2: "B", 4: "h", 8: "i", 16: "f", 64: "d", 256: "b"}


def square_mesh(n):
    """Points and triangles of the unit square with n × n vertices, x fastest."""
    points = [(i / (n - 1), j / (n - 1), 0.0) for j in range(n) for i in range(n)]
    triangles = []
    for j in range(n - 1):
        for i in range(n - 1):
            a = j * n + i
            triangles += [(a, a + 1, a + n + 1), (a, a + n + 1, a + n)]
    return points, triangles


def write_msh(path, points, cells, point_arrays=None, cell_arrays=None):
    """A Gmsh 2.2 file. Arrays: name -> list of tuples."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(points))]
    lines += [f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(points)]
    lines += ["$EndNodes", "$Elements", str(len(cells))]
    for i, cell in enumerate(cells):
        lines.append(f"{i + 1} {({2: 1, 3: 2, 4: 4})[len(cell)]} 2 1 1 " + " ".join(str(v + 1) for v in cell))
    lines.append("$EndElements")
    for section, arrays in (("NodeData", point_arrays or {}), ("ElementData", cell_arrays or {})):
        for array, values in arrays.items():
            lines += [f"${section}", "1", f'"{array}"', "1", "0", "3", "0", str(len(values[0])), str(len(values))]
            lines += [" ".join(map(str, [i + 1, *value])) for i, value in enumerate(values)]
            lines.append(f"$End{section}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_nifti(path, shape, rows, values, code=16):
    """`shape`: voxels along each axis, then volumes if there are several; `rows`: the affine's three rows of four;
    `code`: the type of the numbers, 16 for float32."""
    assert len(values) == math.prod(shape)
    kind = DATA_TYPES[code]
    header = bytearray(HEADER + 4)
    for format, place, *fields in (("<i", 0, HEADER), ("<8h", 40, len(shape), *shape, *[1] * (7 - len(shape))),
                                   ("<2h", 70, code, 8 * struct.calcsize(kind)), ("<8f", 76, *[1] * 8),
                                   ("<f", 108, HEADER + 4), ("<2f", 112, 1, 0), ("<B", 123, 2), ("<2h", 252, 0, 1),
                                   ("<12f", 280, *(x for row in rows for x in row)), ("4s", 344, b"n+1\0")):
        struct.pack_into(format, header, place, *fields)
    body = bytes(header) + struct.pack(f"<{len(values)}{kind}", *values)
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


def write_nrrd(path, shape, values, kind=None, spacing=(1.0, 1.0, 1.0), per_voxel=1, content="speed"):
    """A text file of doubles, components of a voxel side by side; `kind` is that of their axis."""
    own_axis = per_voxel > 1
    rows = [tuple(spacing[d] if d == k else 0.0 for d in range(3)) for k in range(len(shape))]
    directions = ["none"] * own_axis + ["(" + ",".join(map(str, row)) + ")" for row in rows]
    lines = ["NRRD0005", "type: double", f"dimension: {len(shape) + own_axis}", "space: right-anterior-superior",
             "sizes: " + " ".join(map(str, [per_voxel] * own_axis + list(shape))),
             "space directions: " + " ".join(directions), "space origin: (0,0,0)", "encoding: ascii", f"content: {content}"]
    if kind:
        lines.append(f"kinds: {kind} " + " ".join(["domain"] * len(shape)))
    path.write_text("\n".join(lines) + "\n\n" + "\n".join(map(repr, values)) + "\n", encoding="utf-8")


def npy(shape, values, code="<f4"):
    """The bytes of a NumPy array in C order."""
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}\n"
    letter = {"<f4": "f", "|u1": "B", "<i4": "i"}[code]
    return b"\x93NUMPY\x01\x00" + struct.pack(f"<H{len(text)}s{len(values)}{letter}", len(text), text.encode(), *values)


def read_npy(path):
    """The header and the numbers of a NumPy file, by the definition of the format."""
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    assert data[:8] == b"\x93NUMPY\x01\x00" and start % 64 == 0, data[:64]
    header = ast.literal_eval(data[10:start].decode("ascii"))
    kind = {"<f4": "f", "<f8": "d"}[header["descr"]]
    return header, struct.unpack(f"<{math.prod(header['shape'])}{kind}", data[start:])
