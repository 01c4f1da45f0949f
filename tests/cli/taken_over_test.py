"""VTU to VTU: what solve and convert do not change is copied as it is stored; the rest is as ever."""

import base64
import re
import resource
import struct
import zlib

from cli_case import CliCase, square_mesh

RESULTS = ["arrival_time", "source", "reached"]


class TakenOver(CliCase):
    """A square of triangles whose VTU files are made as other programs make them."""

    def setUp(self):
        super().setUp()
        points, triangles = square_mesh(9)
        self.ids = [v for triangle in triangles for v in triangle]
        self.sections = {
            "PointData": {"depth": ("Float32", "f", 1, [x for x, _, _ in points]),
                          "arrival_time": ("Float32", "f", 1, [7] * len(points))},
            "CellData": {"fiber": ("Float32", "f", 3, [1, 0, 0] * len(triangles)),
                         "region": ("UInt16", "H", 1, [3] * len(triangles))},
            "Points": {"Points": ("Float64", "d", 3, [x for point in points for x in point])},
            "Cells": {"connectivity": ("Int64", "q", 1, self.ids),
                      "offsets": ("Int64", "q", 1, range(3, len(self.ids) + 1, 3)),
                      "types": ("UInt8", "B", 1, [5] * len(triangles))}}

    def write_vtu(self, name, packed=True, inside=False, damage=lambda array, stored: stored):
        """Blocks of 256 bytes, behind the header or as base64 in it; `damage` may change what is stored of an array."""
        behind, text = b"", []
        points, cells = (len(next(iter(self.sections[key].values()))[3]) for key in ("PointData", "Cells"))
        for section, arrays in self.sections.items():
            text.append(f"<{section}>")
            for array, (kind, code, components, values) in arrays.items():
                bytes_ = struct.pack(f"<{len(values)}{code}", *values)
                header, stored = struct.pack("<I", len(bytes_)), bytes_
                if packed:
                    blocks = [zlib.compress(bytes_[i:i + 256]) for i in range(0, len(bytes_), 256)]
                    header = struct.pack(f"<{3 + len(blocks)}I", len(blocks), 256, len(bytes_) % 256, *map(len, blocks))
                    stored = b"".join(blocks)
                stored = damage(array, stored)
                start = f'<DataArray type="{kind}" Name="{array}" NumberOfComponents="{components}"'
                if inside:
                    parts = [header, stored] if packed else [header + stored]
                    coded = "".join(base64.b64encode(part).decode() for part in parts)
                    text.append(f'{start} format="binary">{coded}</DataArray>')
                else:
                    text.append(f'{start} format="appended" offset="{len(behind)}"/>')
                    behind += header + stored
            text.append(f"</{section}>")
        compressor = ' compressor="vtkZLibDataCompressor"' if packed else ""
        cells = len(self.sections["Cells"]["types"][3])
        file = (f'<VTKFile type="UnstructuredGrid" byte_order="LittleEndian"{compressor}><UnstructuredGrid>'
                f'<Piece NumberOfPoints="{points}" NumberOfCells="{cells}">{"".join(text)}</Piece></UnstructuredGrid>')
        appended = b'<AppendedData encoding="raw">_' + behind + b"</AppendedData>" if not inside else b""
        return self.write(name, file.encode() + appended + b"</VTKFile>")

    def stored(self, name):
        """Of a file with raw values behind the header: what is stored of each array, and its type and section."""
        head, behind = self.read_bytes(name).split(b'<AppendedData encoding="raw">', 1)
        behind = behind[behind.index(b"_") + 1:]
        head = head.decode()
        code, size = ("Q", 8) if 'header_type="UInt64"' in head else ("I", 4)
        number = lambda at: struct.unpack_from(f"<{code}", behind, at)[0]
        arrays, section = {}, None
        for match in re.finditer(r"<(PointData|CellData|Points|Cells)\b|<DataArray ([^>]*)/>", head):
            if match[1]:
                section = match[1]
                continue
            fields = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
            at = int(fields["offset"])
            count = 3 + number(at) if "compressor=" in head else 1
            length = sum(number(at + i * size) for i in range(3, count)) if count > 1 else number(at)
            begin = at + count * size
            arrays[fields["Name"]] = (section, fields["type"], behind[begin:begin + length])
        return arrays

    def assert_taken_over(self, output, source, names):
        before, after = self.stored(source), self.stored(output)
        for name in [*names, "Points", "connectivity", "offsets", "types"]:
            self.assertEqual(after[name], before[name], (output, name))

    def test_solve_copies_what_it_does_not_change(self):
        for packed in (True, False):
            self.write_vtu("raw.vtu", packed)
            for inside in (False, True):
                self.write_vtu("in.vtu", packed, inside)
                for options, speed in (("", "1"), ("--fibers fiber --velocity 2,1", "2"), ("--length-unit cm", "0.1")):
                    summary = self.succeed_json("solve in.vtu -o out.vtu --source 0 --force", options)
                    self.assert_fields(summary, warnings=[], written=["out.vtu"])
                    self.assert_taken_over("out.vtu", "raw.vtu", ["depth", "fiber", "region"])
                    self.assertEqual(list(self.arrays("out.vtu")), ["depth", *RESULTS, "fiber", "region"])
                    self.assertAlmostEqual(self.arrays("out.vtu")["arrival_time"]["max"], summary["max_time"], places=5)
                    # The same as from a file of another kind, which cannot be copied.
                    self.succeed("convert in.vtu in.vtk --force")
                    self.succeed("solve in.vtk -o ever.vtu --source 0 --force", options)
                    self.succeed("convert out.vtu a.vtk --force")
                    self.succeed("convert ever.vtu b.vtk --force")
                    self.assertEqual(self.read_bytes("a.vtk"), self.read_bytes("b.vtk"))

    def test_arrays_that_are_asked_for(self):
        self.write_vtu("in.vtu")
        self.succeed("solve in.vtu -o out.vtu --source 0 --arrays region --fibers fiber --velocity 2,1")
        self.assertEqual(list(self.arrays("out.vtu")), [*RESULTS, "region"])
        self.assert_taken_over("out.vtu", "in.vtu", ["region"])
        self.succeed("solve in.vtu -o each.vtu --source 0,8 --each-source --arrays none")
        self.assertEqual(list(self.arrays("each.vtu")), ["arrival_time_0", "arrival_time_1"])
        self.expect(3, "solve in.vtu -o a.vtu --source 0 --arrays fibre", words=("in.vtu", "fibre", "depth", "fiber"))
        self.expect(3, "solve in.vtu -o a.vtu --source 0 --speed-array cv", words=("in.vtu", "cv", "depth", "fiber"))
        self.expect(3, "convert in.vtu a.vtu --arrays fibre", words=("in.vtu", "fibre", "depth", "fiber"))

    def test_an_array_of_the_name_of_a_result_is_replaced(self):
        self.write_vtu("in.vtu")
        self.succeed("solve in.vtu -o out.vtu --source 0")
        self.assertEqual(self.arrays("out.vtu")["arrival_time"]["min"], 0)
        self.succeed("solve in.vtu -o used.vtu --source-tag arrival_time=7")
        self.assertEqual(self.arrays("used.vtu")["arrival_time"]["max"], 0)

    def test_convert_copies_everything(self):
        for packed in (True, False):
            self.write_vtu("in.vtu", packed)
            summary = self.succeed_json("convert in.vtu out.vtu --force")
            self.assert_fields(summary, vertices=81, triangles=128, dropped=[], warnings=[],
                               arrays=["depth", "arrival_time", "fiber", "region"])
            self.assertEqual(self.stored("out.vtu"), self.stored("in.vtu"))
            summary = self.succeed_json("convert in.vtu out.vtu --force --arrays region,depth")
            self.assertEqual(summary["arrays"], ["depth", "region"])
            self.assert_taken_over("out.vtu", "in.vtu", ["depth", "region"])
            self.assertEqual(len(self.stored("out.vtu")), 6)

    def test_the_output_may_be_the_input(self):
        for packed, inside in ((True, False), (False, False), (True, True)):
            self.write_vtu("raw.vtu", packed)
            self.write_vtu("a.vtu", packed, inside)
            self.expect(3, "solve a.vtu -o a.vtu --source 0", words=("a.vtu", "exists already"))
            self.succeed("solve a.vtu -o a.vtu --source 0 --force")
            self.assert_taken_over("a.vtu", "raw.vtu", ["depth", "fiber", "region"])
            self.succeed("convert a.vtu a.vtu --force")
            self.assert_taken_over("a.vtu", "raw.vtu", ["depth", "fiber", "region"])
            self.assertEqual(list(self.arrays("a.vtu")), ["depth", *RESULTS, "fiber", "region"])
            (self.folder / "link.vtu").symlink_to("a.vtu")
            self.succeed("solve a.vtu -o link.vtu --source 0 --force")
            self.assert_taken_over("a.vtu", "raw.vtu", ["depth", "fiber", "region"])
            (self.folder / "link.vtu").unlink()
            self.assertEqual(self.files(), ["a.vtu", "raw.vtu"])

    def test_cells_that_are_cut_are_written_as_ever(self):
        self.write_vtu("in.vtu")
        self.sections["Cells"]["connectivity"] = ("Int64", "q", 1, [0, 1, 10, 9, *self.ids[6:]])
        self.sections["Cells"]["offsets"] = ("Int64", "q", 1, [4, *range(7, len(self.ids) - 1, 3)])
        self.sections["Cells"]["types"] = ("UInt8", "B", 1, [9] + [5] * 126)
        self.sections["CellData"] = {"region": ("UInt16", "H", 1, [3] * 127)}
        self.write_vtu("quad.vtu")
        summary = self.succeed_json("solve quad.vtu -o out.vtu --source 0")
        self.assertEqual(summary["elements"], 128)
        self.assertNotIn(b"compressor", self.read_bytes("out.vtu"))
        self.assertEqual(list(self.arrays("out.vtu")), ["depth", *RESULTS, "region"])
        self.assertEqual(self.stored("out.vtu")["region"][1], "Int32")

    def test_damaged_arrays(self):
        cut = lambda wanted: lambda array, stored: stored[:-3] if array == wanted else stored
        zeros = lambda wanted: lambda array, stored: bytes(len(stored)) if array == wanted else stored
        for command in ("solve in.vtu -o out.vtu --source 0", "convert in.vtu out.vtu"):
            for array in ("depth", "region", "types"):
                for inside in (False, True):
                    self.write_vtu("in.vtu", True, inside, cut(array))
                    self.expect(3, command, words="in.vtu: ")
                    if array != "types" or inside:  # nothing says where the last array ends
                        self.write_vtu("in.vtu", False, inside, cut(array))
                        self.expect(3, command, words="in.vtu: ")
                    self.write_vtu("in.vtu", True, inside, zeros(array))
                    self.expect(3, command, words="in.vtu: the compressed data is damaged")
            self.write_vtu("in.vtu")
            whole = self.read_bytes("in.vtu")
            self.write("in.vtu", whole[:-200])
            self.expect(3, command, words="in.vtu: ")
            self.write("out.vtu", "precious")
            self.expect(3, command, "--force", words="in.vtu: ")
            self.assertEqual(self.read_text("out.vtu"), "precious")
            (self.folder / "out.vtu").unlink()

    def test_a_full_disk_leaves_nothing(self):
        self.write_vtu("in.vtu")
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))}
        self.expect(1, "convert in.vtu out.vtu", words=("out.vtu", "cannot be written"), **limit)
