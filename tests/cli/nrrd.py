"""Just enough NRRD for tests: text files of doubles."""


def write_nrrd(path, shape, values, kind=None, spacing=(1.0, 1.0, 1.0), per_voxel=1):
    """Values with the first index fastest, components of a voxel side by side; `kind` is that of their axis."""
    axes = len(shape) + (1 if per_voxel > 1 else 0)
    sizes = ([per_voxel] if per_voxel > 1 else []) + list(shape)
    rows = [tuple(spacing[d] if d == k else 0.0 for d in range(3)) for k in range(len(shape))]
    directions = ["none"] * (axes - len(shape)) + ["(" + ",".join(map(str, row)) + ")" for row in rows]
    lines = ["NRRD0005", "type: double", f"dimension: {axes}", "space: right-anterior-superior",
             "sizes: " + " ".join(map(str, sizes)), "space directions: " + " ".join(directions),
             "space origin: (0,0,0)", "encoding: ascii", "content: speed"]
    if kind:
        lines.append(f"kinds: {kind} " + " ".join(["domain"] * len(shape)))
    path.write_text("\n".join(lines) + "\n\n" + "\n".join(map(repr, values)) + "\n", encoding="utf-8")
