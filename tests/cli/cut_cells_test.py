"""Quadrilaterals and solids, which are cut when they are read."""

from cli_case import CliCase

N = 9  # vertices along an edge


def lattice(dimensions):
    """Points of a lattice, x fastest, and the corners of its cells in VTK's order."""
    deep = N if dimensions == 3 else 1
    at = lambda i, j, k: (k * N + j) * N + i
    points = [(i, j, k) for k in range(deep) for j in range(N) for i in range(N)]
    cells = []
    for k in range(max(1, deep - 1)):
        for j in range(N - 1):
            for i in range(N - 1):
                side = lambda z: [at(i, j, z), at(i + 1, j, z), at(i + 1, j + 1, z), at(i, j + 1, z)]
                cells.append(side(k) + (side(k + 1) if dimensions == 3 else []))
    return points, cells


def lines(rows):
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


class CutCellsTest(CliCase):
    def test_quads(self):
        points, cells = lattice(2)
        self.write("a.off", f"OFF\n{len(points)} {len(cells)} 0\n" + lines(points) + lines([4, *c] for c in cells))
        info = self.info("a.off")
        self.assert_fields(info, triangles=128, ignored_cells={}, cut_cells={"quad": {"cells": 64, "pieces": 128}})
        done = self.succeed("solve a.off -o a.vtu --source 0")
        self.assertIn("cut         64 quads into 128 triangles", done.stdout)
        self.assertIn("  cut: 64 quads into 128 triangles\n", self.succeed("info a.off").stdout)
        summary = self.succeed_json("solve a.off -o b.ply --source 0")
        self.assert_fields(summary, elements=128, unreached=0, cut_cells={"quad": {"cells": 64, "pieces": 128}})
        again = self.succeed_json("solve a.vtu -o c.vtu --source 0")  # the triangles that were written
        self.assert_fields(again, elements=128, max_time=summary["max_time"], cut_cells={})

    def test_solids_of_two_formats(self):
        points, cells = lattice(3)
        self.write("a.pts", f"{len(points)}\n" + lines(points))
        self.write("a.elem", f"{len(cells)}\n" + lines(["Hx", *c[:4], c[4], c[7], c[6], c[5], 5] for c in cells))
        self.write("a.vtk", f"# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {len(points)} double\n"
                   + lines(points) + f"CELLS {len(cells)} {9 * len(cells)}\n" + lines([8, *c] for c in cells)
                   + f"CELL_TYPES {len(cells)}\n" + "12\n" * len(cells))
        found = [self.succeed_json(f"solve {name} -o out.vtu --force --source 0 --length-unit mm")
                 for name in ("a.elem", "a.vtk")]
        for one in found:
            self.assert_fields(one, elements=6 * 512, unreached=0, element_kind="tet",
                               cut_cells={"hexahedron": {"cells": 512, "pieces": 3072}})
        self.assertEqual(found[0]["max_time"], found[1]["max_time"])
        self.assertAlmostEqual(found[0]["max_time"], 8 * 3 ** 0.5, delta=0.3)
        report = self.info("out.vtu")["meshes"][0]
        self.assert_fields(report, inverted=0, non_manifold_facets=0, unmatched_facets=0, boundary_facets=12 * 64)
