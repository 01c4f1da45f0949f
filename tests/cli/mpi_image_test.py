"""isochron solve over MPI ranks on images in pieces: no rank has the whole image."""

import json
import math
import re
import shutil

from mpi_case import MpiCase
from small_files import write_nrrd


class MpiImageTest(MpiCase):
    def tensors(self, name, shape):
        """Tensors of which one cannot be used, and one is none at all."""
        values = self.turning_tensors(shape)
        values[6 * 40:6 * 41] = [1.0, 0.0, 0.0, -1.0, 0.0, 1.0]
        values[6 * 50:6 * 51] = [0.0] * 6
        write_nrrd(self.folder / name, shape, values, kind="3D-symmetric-matrix", per_voxel=6, spacing=(1.0, 1.5, 0.8))

    def in_pieces(self, pieces, name, target, *more):
        """A set of so many pieces with the arrays of an image in one file."""
        self.succeed_over_ranks(pieces, f"solve {name} -o {target} --source 0 --force", *more)

    def speeds_in_pieces(self, pieces, shape=(14, 12, 10)):
        """speed.nrrd, and the same in a.pvti."""
        self.speeds(shape=shape)
        self.in_pieces(pieces, "speed.nrrd", "a.pvti")

    def values(self, name):
        """The arrays of an image, in one file or in pieces, by name; copies of a voxel must agree."""
        text = self.read_bytes(name).split(b"<AppendedData", 1)[0].decode()
        ends = list(map(int, re.search('WholeExtent="([^"]*)"', text).group(1).split()))
        pieces = re.findall(r'<Piece Extent="([^"]*)" Source="([^"]*)"', text) or [
            (re.search(r'<Piece Extent="([^"]*)"', text).group(1), name)]
        whole = {}
        for extent, file in pieces:
            box = list(map(int, extent.split()))
            voxels = [(i, j, k) for k in range(box[4], box[5] + 1) for j in range(box[2], box[3] + 1)
                      for i in range(box[0], box[1] + 1)]
            for array, values in self.vtk_arrays(file).items():
                step, known = len(values) // len(voxels), whole.setdefault(array, {})
                for v, voxel in enumerate(voxels):
                    value = values[v * step:(v + 1) * step]
                    self.assertEqual(known.setdefault(voxel, value), value)
        count = math.prod(b - a + 1 for a, b in zip(ends[::2], ends[1::2]))
        for known in whole.values():
            self.assertEqual(len(known), count)
        return {array: [x for _, value in sorted(known.items()) for x in value] for array, known in whole.items()}

    def assert_same(self, one, other):
        a, b = self.values(one), self.values(other)
        self.assertEqual(sorted(a), sorted(b))
        for name in a:
            if name == "arrival_time":
                self.assert_close(a[name], b[name], 1e-3)
            elif name == "source":  # two may reach a voxel at about the same time
                self.assertLessEqual(sum(x != y for x, y in zip(a[name], b[name])), len(a[name]) // 50)
            else:
                self.assertEqual(a[name], b[name])

    # ---- what comes out

    def test_any_ranks_on_any_pieces_give_the_serial_times(self):
        self.speeds()
        arguments = "--source 5,900 --source-point 9,11,4 --speed-array speed"
        self.succeed("solve speed.nrrd -o one.vti", arguments)
        for pieces in (1, 2, 3, 4):
            self.in_pieces(pieces, "speed.nrrd", "a.pvti")
            self.assertEqual(len(list((self.folder / "a").iterdir())), pieces)
            for ranks in (1, 2, 3, 4):
                with self.subTest(pieces=pieces, ranks=ranks):
                    summary = self.summary(ranks, "solve a.pvti -o b.pvti", arguments, "--pieces 3")
                    self.assert_fields(summary["mpi"], split="image", ranks=ranks)
                    self.assert_fields(summary, vertices=1680, reached=1680, converged=True)
                    self.assertGreater(summary["mpi"]["most_vertices"], 1680 / ranks - 1)
                    self.assertGreater(summary["mpi"]["most_peak_bytes"], 0)
                    self.assertEqual(len(list((self.folder / "b").iterdir())), ranks)
                    self.assert_same("one.vti", "b.pvti")

    def test_tensors_masks_and_orders(self):
        shape = (13, 12, 11)
        self.tensors("d.nrrd", shape)
        self.image("mask.nrrd", shape, lambda i, j, k: 0.0 if i == 7 and j > 2 or i + j + k == 3 else 1.0)
        self.speeds("flat.nrrd", (40, 30, 1))
        self.in_pieces(3, "d.nrrd", "d.pvti")
        self.in_pieces(2, "mask.nrrd", "mask.pvti")
        self.in_pieces(3, "flat.nrrd", "flat.pvti")
        tensors = "--velocity-tensor-array speed --source 800"
        for image, options, mask in (("d", tensors, "mask"), ("d", f"{tensors} --order 2", "mask"), ("d", tensors, ""),
                                     ("mask", "--source-tag speed=0 --source-time 2", ""),
                                     ("d", "--metric-array speed --source-point 3.3,7.1,2.2 --source-init plain", ""),
                                     ("flat", "--speed-array speed --source 600 --order 2", "")):
            with self.subTest(image=image, options=options, mask=mask):
                solve = f"solve {image}.pvti {options}"
                masked = lambda kind: f"--mask {mask}{kind} --mask-array speed" if mask else ""
                one = self.succeed_json(solve, "-o one.vti --force", masked(".nrrd"))
                for ranks in (2, 3):
                    summary = self.summary(ranks, solve, "-o b.pvti", masked(".pvti"))
                    for key in ("vertices", "elements", "reached", "unreached", "tensors"):
                        self.assertEqual(summary.get(key), one.get(key), key)
                    self.assertIn("most_vertices", summary["mpi"])
                    self.assert_same("one.vti", "b.pvti")

    def test_parts_without_a_source_are_counted_over_ranks(self):
        shape = (9, 9, 9)
        self.speeds(shape=shape)
        wall = lambda i, j, k: 0.0 if i == 4 or j == 4 and i > 4 else 1.0
        self.image("mask.nrrd", shape, wall)
        self.in_pieces(2, "speed.nrrd", "a.pvti")
        self.in_pieces(2, "mask.nrrd", "mask.pvti")
        for ranks in (1, 3, 4):
            done = self.succeed_over_ranks(ranks, "solve a.pvti -o b.pvti --mask mask.pvti --mask-array speed",
                                           "--source 0 --force")
            self.assertEqual(done.stderr.count("288 voxels stay unreached (2 parts without a source)"), 1, done.stderr)

    def test_more_ranks_than_voxels_along_an_axis(self):
        for shape in ((2, 3, 2), (5, 1, 1), (1, 1, 3), (1, 1, 1)):
            with self.subTest(shape=shape):
                self.speeds_in_pieces(2, shape)
                self.succeed("solve speed.nrrd -o one.vti --source 0 --speed-array speed --force")
                for ranks in (3, 6):
                    self.summary(ranks, "solve a.pvti -o b.pvti --source 0 --speed-array speed")
                    self.assert_same("one.vti", "b.pvti")
                    self.assertLessEqual(len(list((self.folder / "b").iterdir())), ranks)

    def test_cells_and_other_programs_sets(self):
        """Pieces as text, their values on cells, in a list with another origin than 0."""
        speed = lambda i, j: 1 + 0.1 * ((3 * i + 5 * j) % 7)
        for number, (low, high) in enumerate(((2, 7), (7, 12))):
            values = " ".join(str(speed(i, j)) for j in range(8) for i in range(low, high))
            self.write(f"p{number}.vti", f"""<VTKFile type="ImageData" version="0.1" byte_order="LittleEndian">
<ImageData WholeExtent="2 12 0 8 0 0" Origin="1 2 3" Spacing="0.5 1 1"><Piece Extent="{low} {high} 0 8 0 0">
<PointData/><CellData><DataArray type="Float64" Name="speed" format="ascii">{values}</DataArray></CellData>
</Piece></ImageData></VTKFile>""")
        self.write("a.pvti", """<VTKFile type="PImageData" version="0.1"><PImageData WholeExtent="2 12 0 8 0 0"
GhostLevel="0" Origin="1 2 3" Spacing="0.5 1 1"><PPointData/><PCellData><PDataArray type="Float64" Name="speed"/>
</PCellData><Piece Extent="2 7 0 8 0 0" Source="p0.vti"/><Piece Extent="7 12 0 8 0 0" Source="p1.vti"/>
</PImageData></VTKFile>""")
        arguments = "solve a.pvti --speed-array speed --source-point 4,5,3"
        self.succeed(arguments, "-o one.vti")
        for ranks in (1, 3):
            self.summary(ranks, arguments, "-o b.pvti")
            self.assert_same("one.vti", "b.pvti")

    def test_what_needs_the_whole_image(self):
        self.speeds()
        self.image("mask.nrrd", (14, 12, 10), lambda i, j, k: 1.0)
        self.in_pieces(2, "speed.nrrd", "a.pvti")
        solve = "solve a.pvti --speed-array speed --source 3"
        self.succeed(solve, "-o one.vti")
        summary = self.summary(3, solve, "-o b.pvti --mask mask.nrrd")
        self.assert_said("read the whole image (a --mask in one file needs it)", summary["notes"])
        self.assertNotIn("most_vertices", summary["mpi"])
        self.assert_same("one.vti", "b.pvti")
        self.summary(3, solve, "-o two.vti")
        self.assert_same("one.vti", "two.vti")
        self.expect(2, solve, "-o c.pvti", words=("c.pvti", "--backend mpi"))
        for backend in ("", "--backend mpi"):
            self.expect(2, solve, "-o c.pvtu", backend, words=("'.pvtu'", ".vti", "or .pvti", "--backend mpi"))

    # ---- generating

    def test_generated_pieces_are_the_serial_image(self):
        for kind, beside in (("crossing-fibers --n 9,8,5 --noise 0.1", ("_mask", "_fa")),
                             ("helix-tensors --n 9,9,6", ()), ("diagonal-tensors --n 4,3,2", ()),
                             ("layers --n 23,11", ("_layer",)), ("salt --n 17,19", ("_salt",)),
                             ("phantom --n 8", ("_density",))):
            self.succeed("generate", kind, "-o one.vti --force")
            for ranks in (1, 2, 3, 4, 7):  # more than there are slices, too
                with self.subTest(kind=kind, ranks=ranks):
                    done = self.succeed_over_ranks(ranks, "generate", kind, "-o a.pvti --force --json")
                    written = json.loads(done.stdout)["written"]
                    self.assertEqual(written, ["a.pvti"] + [f"a{name}.pvti" for name in beside])
                    for name in ("", *beside):
                        self.assert_same(f"one{name}.vti", f"a{name}.pvti")
                        self.assertLessEqual(len(list((self.folder / f"a{name}").iterdir())), ranks)

    def test_solving_on_generated_pieces(self):
        self.succeed_over_ranks(3, "generate layers --n 60,40 -o a.pvti")
        self.succeed("generate layers --n 60,40 -o a.vti")
        self.succeed("solve a.vti -o one.vti --source 0 --speed-array speed")
        self.summary(2, "solve a.pvti -o b.pvti --source 0 --speed-array speed")
        self.assert_same("one.vti", "b.pvti")

    def test_generate_says_what_is_wrong_once(self):
        for code, arguments, words in ((2, "8 -o a.vti", ("a.vti", ".pvti")), (2, "8 -o a.pvtu", ("a.pvtu", ".pvti")),
                                       (2, "1 -o a.pvti", "1 x 1 x 1"), (1, "8 -o no/a.pvti", "no/a.pvti"),
                                       (1, "8 -o /proc/o.pvti", ("/proc/o.pvti", "cannot be written"))):
            self.fail_over_ranks(code, "generate phantom --n", arguments, words=words)
        self.write("numbers.bin", "12345678")
        self.fail_over_ranks(2, "generate from-raw numbers.bin --shape 2,1 -o a.pvti",
                             words=("--backend", "from-raw", "ventricle and the images"))
        self.expect(2, "generate phantom -o a.pvti", words=("a.pvti", "--backend mpi"))

    def test_generated_sets_appear_all_or_none(self):
        generate = "generate phantom --n 24 -o a.pvti"
        with self.full_disk():
            self.fail_over_ranks(1, generate, words=("a_000", "cannot be written"))
        in_the_way = self.folder / "a_density" / "a_density_0001.vti" / "in the way"
        in_the_way.mkdir(parents=True)  # of the second set
        self.fail_over_ranks(1, generate, words=("a_density_0001.vti", "cannot be written"))
        shutil.rmtree(self.folder / "a_density")
        self.write("a_density.pvti", "")
        self.fail_over_ranks(3, generate, words=("a_density.pvti", "exists already"))
        self.succeed_over_ranks(3, generate, "--force")
        self.succeed("info a_density.pvti")

    # ---- what goes wrong

    def test_bad_sets_are_said_once(self):
        self.speeds_in_pieces(3)
        solve = "solve a.pvti -o b.pvti --source 0 --speed-array speed"
        self.try_bad_pieces(solve, (2, 3, 4), "a/a_0001.vti", "a/a_0002.vti", "speed", ("a.pvti", "do not cover"))
        piece = self.folder / "a" / "a_0001.vti"
        content = piece.read_bytes()
        piece.write_bytes(re.sub(rb'Origin="[^"]*"', b'Origin="0 0 5"', content, count=1))
        for ranks in (1, 2, 4):
            self.fail_over_ranks(3, solve, ranks=ranks,
                                 words=("error: a.pvti: piece 1 of 3 (a/a_0001.vti): lies elsewhere", "origin 0 0 5",
                                        "in the list origin 0 0 0"))
        self.expect(3, "solve a.pvti -o one.vti --source 0", words=("a.pvti: piece 1 of 3", "lies elsewhere"))
        piece.write_bytes(content)
        self.write("half.pvti", self.read_text("a.pvti")[:300])
        for name in ("none.pvti", "half.pvti"):
            self.fail_over_ranks(3, f"solve {name} -o b.pvti --source 0 --speed-array speed", words=name)

    def test_bad_requests_are_said_once(self):
        self.image("speed.nrrd", (8, 7, 6), lambda i, j, k: -1.0 if (i, j, k) == (7, 6, 5) else 1.0)
        self.image("mask.nrrd", (8, 7, 6), lambda i, j, k: 0.0 if i == 3 else 1.0)
        self.image("none.nrrd", (8, 7, 6), lambda i, j, k: 0.0)
        self.image("other.nrrd", (8, 7, 5), lambda i, j, k: 1.0)
        for name in ("speed", "mask", "none", "other"):
            self.in_pieces(2, name + ".nrrd", name + ".pvti")
        solve, masked = "solve speed.pvti -o b.pvti", "--source 3 --mask-array speed --mask"
        for code, options, words in ((3, "--source 99999", ("speed.pvti", "99999", "out of range")),
                                     (3, "--source-point 99,9,9", ("speed.pvti", "outside the image")),
                                     (3, "--source-tag nothing=3", ("speed.pvti", "nothing")),
                                     (3, "--source-tag reached=7", ("speed.pvti", "reached = 7")),
                                     (3, "--source 0 --speed-array cv", ("speed.pvti", "cv")),
                                     (3, "--source 0 --speed-array speed", ("speed.pvti", "in the box of rank")),
                                     (3, f"{masked} mask.pvti", ("speed.pvti", "voxel 3,0,0")),
                                     (3, f"{masked} none.pvti", "mask is 0 everywhere"),
                                     (3, f"{masked} other.pvti", ("other.pvti", "8 x 7 x 5")),
                                     (3, "--source 0 --mask mask.pvti",
                                      ("mask.pvti has several arrays (speed, arrival_time", "--mask-array")),
                                     (3, "--source 0 --mask mask.pvti --mask-array wall",
                                      ("mask.pvti has no array 'wall'", "speed, arrival_time")),
                                     (2, "--source 0 --scheme godunov", "adaptive")):
            self.fail_over_ranks(code, solve, options, words=words)
        self.fail_over_ranks(1, "solve speed.pvti -o no/b.pvti --source 0", words="no/b.pvti")
        self.summary(2, solve, "--source 0")
        self.fail_over_ranks(3, solve, "--source 0", words=("b.pvti", "exists already"))

    def test_a_piece_that_cannot_be_written_leaves_nothing(self):
        self.speeds_in_pieces(3)
        (self.folder / "b" / "b_0001.vti" / "in the way").mkdir(parents=True)
        for image in ("a.pvti", "speed.nrrd"):
            self.fail_over_ranks(1, f"solve {image} -o b.pvti --source 0", words=("b_0001.vti", "cannot be written"))

    def test_pieces_of_an_input_are_not_replaced(self):
        self.speeds_in_pieces(2)
        (self.folder / "a.pvti").rename(self.folder / "list.pvti")
        before = (self.folder / "a" / "a_0000.vti").read_bytes()
        arguments = "solve list.pvti --source 0 --force"
        self.fail_over_ranks(2, arguments, "-o a.pvti", words=("a.pvti", "list.pvti", "choose another name"))
        self.fail_over_ranks(2, arguments, "-o a/a_0000.vti", words=("a_0000.vti", "is an input too"))
        self.assertEqual((self.folder / "a" / "a_0000.vti").read_bytes(), before)

    def test_blocks_on_gpus(self):
        self.need_gpu()
        self.speeds_in_pieces(2)
        solve = "solve a.pvti --source 0 --speed-array speed"
        self.summary(3, solve, "-o one.pvti")
        for output in ("b.pvti", "b.vti"):
            summary = self.summary(3, solve, f"--rank-backend cuda --precision double -o {output}")
            self.assertIn("each rank solved on its GPU", summary["notes"])
            self.assert_same("one.pvti", output)

    def test_a_missing_gpu_is_said_once(self):
        if self.has_gpu()[0]:
            self.skipTest("there is a GPU")
        self.speeds_in_pieces(2)
        for image, output in (("a.pvti", "b.pvti"), ("a.pvti", "b.vti"), ("speed.nrrd", "b.vti")):
            self.fail_over_ranks(1, f"solve {image} -o {output} --source 0 --rank-backend cuda", words="GPU")
        summary = self.summary(2, "solve a.pvti -o b.pvti --source 0 --rank-backend auto")
        self.assert_fields(summary, converged=True, notes=[])

    def test_a_rank_killed_while_files_are_written_leaves_no_half_set(self):
        self.speeds_in_pieces(2, (60, 60, 60))
        self.kill_while_writing("solve a.pvti -o b.pvti --source 0", "vti")
        self.kill_while_writing("generate diagonal-tensors --n 100 -o b.pvti", "vti")
