"""isochron connect and connectome, on small tensor images written by hand."""

import array
import gzip
import json
import math
import pathlib
import struct
import unittest

from cli_case import CliCase

SHAPE = (21, 15, 7)
SPACING = 2.0


def write_nifti(path, shape, volumes, affine=None, code=16):
    """Volumes are lists with the first index fastest; code 16 is float32, 2 is uint8, 8 is int32."""
    kinds = {2: ("B", 8), 8: ("i", 32), 16: ("f", 32)}
    kind, bits = kinds[code]
    rows = affine or [[SPACING, 0, 0, -20], [0, SPACING, 0, -14], [0, 0, SPACING, -6]]
    dims = [4 if len(volumes) > 1 else 3, *shape, len(volumes), 1, 1, 1]
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, *dims)
    struct.pack_into("<hh", header, 70, code, bits)
    struct.pack_into("<8f", header, 76, 1, SPACING, SPACING, SPACING, 1, 0, 0, 0)
    struct.pack_into("<f", header, 108, 352)
    struct.pack_into("<f", header, 112, 1)  # slope
    header[123] = 2  # mm
    struct.pack_into("<hh", header, 252, 0, 1)
    struct.pack_into("<12f", header, 280, *[x for row in rows for x in row])
    header[344:348] = b"n+1\0"
    data = bytes(header)
    for volume in volumes:
        data += array.array(kind, volume).tobytes()
    with (gzip.open(path, "wb") if str(path).endswith(".gz") else open(path, "wb")) as file:
        file.write(data)


def read_nifti(path):
    """Shape, and the values of a small image that this program wrote."""
    data = gzip.open(path).read()
    dims = struct.unpack_from("<8h", data, 40)
    code = struct.unpack_from("<h", data, 70)[0]
    offset = int(struct.unpack_from("<f", data, 108)[0])
    kind = {2: "B", 8: "i", 16: "f", 64: "d", 256: "b"}[code]
    shape = dims[1:4]
    values = array.array(kind)
    values.frombytes(data[offset:offset + values.itemsize * math.prod(shape)])
    return shape, list(values)


def read_tck(path):
    """The tracks of a file in 32-bit little-endian."""
    data = pathlib.Path(path).read_bytes()
    offset = int(data.split(b"file: . ")[1].split(b"\n")[0])
    numbers = array.array("f")
    numbers.frombytes(data[offset:])
    tracks, track = [], []
    for i in range(0, len(numbers), 3):
        if math.isinf(numbers[i]):
            break
        if math.isnan(numbers[i]):
            tracks.append(track)
            track = []
        else:
            track.append(tuple(numbers[i:i + 3]))
    return tracks


def voxels():
    return [(i, j, k) for k in range(SHAPE[2]) for j in range(SHAPE[1]) for i in range(SHAPE[0])]


def index(i, j, k):
    return i + SHAPE[0] * (j + SHAPE[1] * k)


class ConnectTest(CliCase):
    """The command on a phantom: fibres along x in the middle rows, isotropic elsewhere."""

    def tensors(self, name="tensors.nii", change=None, order="xx yy zz xy xz yz"):
        """An image in the given order of components; `change(voxel, values)` may alter a voxel's."""
        components = {key: [] for key in ("xx", "yy", "zz", "xy", "xz", "yz")}
        for voxel in voxels():
            along = 5 <= voxel[1] <= 9 and 2 <= voxel[2] <= 4
            values = {"xx": 1.7e-3, "yy": 0.3e-3, "zz": 0.3e-3} if along else dict.fromkeys(("xx", "yy", "zz"), 0.8e-3)
            values.update(xy=0.0, xz=0.0, yz=0.0)
            if change:
                change(voxel, values)
            for key in components:
                components[key].append(values[key])
        write_nifti(self.folder / name, SHAPE, [components[key] for key in order.split()])
        return name

    def labels(self, name="labels.nii", boxes=(), **options):
        """A label map; boxes are (value, i0, i1, j0, j1, k0, k1), ends included."""
        values = [0] * math.prod(SHAPE)
        for value, i0, i1, j0, j1, k0, k1 in boxes:
            for k in range(k0, k1 + 1):
                for j in range(j0, j1 + 1):
                    for i in range(i0, i1 + 1):
                        values[index(i, j, k)] = value
        write_nifti(self.folder / name, SHAPE, [values], code=8, **options)
        return name

    def ends(self):
        return ("--from", "voxels:2,7,3", "--to", "voxels:18,7,3")

    # ---- what comes out

    def test_everything_is_written(self):
        summary = self.succeed_json("connect", self.tensors(), "--tensor-order", "mrtrix", *self.ends(), "-o", "out",
                                    "--streamlines")
        self.assertEqual(self.files(), sorted([
            "tensors.nii", "out.json", "out_cost.nii.gz", "out_pathway.nii.gz", "out_path.tck", "out_path.vtp",
            "out_profile.csv", "out_streamlines.tck"]))
        self.assertEqual(json.loads((self.folder / "out.json").read_text()), summary)
        self.assertAlmostEqual(summary["path"]["length_mm"], 32, delta=0.5)
        self.assertAlmostEqual(summary["forward_cost"], summary["backward_cost"], delta=0.01 * summary["cost"])
        self.assertGreater(summary["path"]["mean_fa"], 0.75)
        self.assertEqual(summary["streamlines"]["seeds"], 8)
        self.assertEqual(summary["streamlines"]["reaching"], 8)
        shape, cost = read_nifti(self.folder / "out_cost.nii.gz")
        self.assertEqual(shape, SHAPE)
        self.assertAlmostEqual(min(cost), summary["least_sum"], delta=1e-5 * summary["cost"])
        _, pathway = read_nifti(self.folder / "out_pathway.nii.gz")
        self.assertEqual(sum(pathway), summary["pathway_voxels"])
        self.assertEqual(pathway[index(10, 7, 3)], 1)
        self.assertEqual(pathway[index(10, 1, 1)], 0)
        (track,) = read_tck(self.folder / "out_path.tck")
        self.assertAlmostEqual(track[0][0], -16, delta=1e-4)  # begins in --from, in RAS mm
        self.assertAlmostEqual(track[-1][0], 16, delta=1e-4)
        for x, y, z in track:
            self.assertLess(math.hypot(y, z), 1.0)
        rows = (self.folder / "out_profile.csv").read_text().splitlines()
        self.assertEqual(rows[0], "x,y,z,distance,cost,fa,md,local_cost")
        self.assertAlmostEqual(float(rows[-1].split(",")[4]), summary["forward_cost"], delta=1e-6 * summary["cost"])
        self.assertEqual(len(rows) - 1, summary["path"]["points"])
        self.assertEqual(len(read_tck(self.folder / "out_streamlines.tck")), summary["streamlines"]["lines"])

    def test_text_names_cost_and_path(self):
        text = self.succeed("connect", self.tensors(), "--tensor-order", "mrtrix", *self.ends(), "-o", "out").stdout
        for word in ("cost", "pathway", "32.0 mm", "mean FA", "out_path.tck"):
            self.assertIn(word, text)

    def test_orders_name_the_same_tensors(self):
        def tilt(_, values):
            values.update(xy=2e-4, xz=-1e-4, yz=0.5e-4)
        def tilt_reversed(_, values):  # FSL's x runs the other way where the affine has a positive determinant
            values.update(xy=-2e-4, xz=1e-4, yz=0.5e-4)
        costs = []
        for order, components in (("mrtrix", "xx yy zz xy xz yz"), ("row", "xx xy xz yy yz zz"), ("fsl", "xx xy xz yy yz zz"),
                                  ("vtk", "xx yy zz xy yz xz"), ("lower", "xx xy yy xz yz zz")):
            name = self.tensors(f"{order}.nii", tilt_reversed if order == "fsl" else tilt, components)
            summary = self.succeed_json("connect", name, "--tensor-order", order, *self.ends(), "-o", order)
            costs.append(summary["cost"])
        for cost in costs:
            self.assertAlmostEqual(cost, costs[0], delta=1e-6 * costs[0])

    def test_mixed_up_components_are_noticed(self):
        for order in ("fsl", "lower"):
            self.expect(3, "connect", self.tensors(), "--tensor-order", order, *self.ends(), "-o", "out",
                        words=("not positive definite", "--tensor-order"))
        self.assertIn("most tensors", self.succeed("info", "tensors.nii", "--tensor-order", "lower").stderr)

    def test_the_mask_inside_a_tensor_image_counts(self):
        values = array.array("f")
        for _, j, _ in voxels():
            values.extend((1 if j >= 5 else 0, 1.7e-3, 0, 0, 0.3e-3, 0, 0.3e-3))
        header = "\n".join((
            "NRRD0004", "type: float", "dimension: 4", "sizes: 7 {} {} {}".format(*SHAPE), "endian: little",
            "kinds: 3D-masked-symmetric-matrix space space space", "space: right-anterior-superior",
            "space directions: none (2,0,0) (0,2,0) (0,0,2)", "space origin: (0,0,0)", "encoding: raw", "", ""))
        (self.folder / "t.nrrd").write_bytes(header.encode() + values.tobytes())
        self.succeed("connect", "t.nrrd", *self.ends(), "-o", "inside")
        self.expect(3, "connect", "t.nrrd", "--from", "voxels:2,1,3", "--to", "voxels:18,7,3", "-o", "outside",
                    words=("outside the mask",))

    def test_regions_of_all_kinds_agree(self):
        labels = self.labels(boxes=[(7, 2, 2, 7, 7, 3, 3), (9, 18, 18, 7, 7, 3, 3)])
        mask = self.labels("to.nii", boxes=[(1, 18, 18, 7, 7, 3, 3)])
        tensors = self.tensors()
        costs = []
        for i, (start, end) in enumerate([("voxels:2,7,3", "voxels:18,7,3"), (f"label:{labels}:7", f"label:{labels}:9"),
                                          ("sphere:-16,0,0,0.5", f"mask:{mask}")]):
            costs.append(self.succeed_json("connect", tensors, "--tensor-order", "mrtrix", "--from", start, "--to", end,
                                           "-o", f"out{i}")["cost"])
        self.assertEqual(costs[0], costs[1])
        self.assertEqual(costs[0], costs[2])

    def test_waypoint_exclude_and_stop(self):
        tensors = self.tensors()
        wall = self.labels("wall.nii", boxes=[(1, 10, 10, 4, 14, 0, 6)])
        common = ("connect", tensors, "--tensor-order", "mrtrix", *self.ends())
        plain = self.succeed_json(*common, "-o", "plain")
        way = self.succeed_json(*common, "--waypoint", "voxels:10,12,3", "-o", "way")
        self.assertGreater(way["cost"], 1.1 * plain["cost"])
        self.assertGreater(way["path"]["length_mm"], 33)
        for option in ("--exclude", "--stop"):
            around = self.succeed_json(*common, option, f"mask:{wall}", "-o", option.strip("-"))
            self.assertGreater(around["cost"], 1.1 * plain["cost"])
            tracks = read_tck(self.folder / f"{option.strip('-')}_path.tck")
            self.assertTrue(any(y < -6 for _, y, _ in tracks[0]))

    def test_metrics_differ(self):
        tensors = self.tensors()
        costs = {name: self.succeed_json("connect", tensors, "--tensor-order", "mrtrix", *self.ends(), "--metric", name,
                                         "-o", name)["cost"] for name in ("sharpened", "inverse", "adjugate")}
        self.assertEqual(len(set(costs.values())), 3)
        one = self.succeed_json("connect", tensors, "--tensor-order", "mrtrix", *self.ends(), "--alpha", "1", "-o", "one")
        self.assertAlmostEqual(one["cost"], costs["inverse"], delta=1e-5 * one["cost"])

    def test_existing_files_need_force(self):
        arguments = ("connect", self.tensors(), "--tensor-order", "mrtrix", *self.ends(), "-o", "out")
        self.write("out_path.vtp", "mine")
        self.expect(3, *arguments, words=["out_path.vtp", "exists"])
        self.assertEqual((self.folder / "out_path.vtp").read_text(), "mine")
        self.succeed(*arguments, "--force")
        self.assertNotEqual((self.folder / "out_path.vtp").read_bytes(), b"mine")

    # ---- bad input

    def refused(self, code, words, tensors, *arguments, order="mrtrix"):
        known = ("--tensor-order", order) if order else ()
        self.expect(code, "connect", tensors, *known, *arguments, "-o", "out", words=words)

    def test_unknown_order_explains_the_choices(self):
        self.refused(3, ["tensors.nii", "--tensor-order", "fsl", "mrtrix", "vtk", "lower"], self.tensors(), *self.ends(),
                     order=None)

    def test_image_that_is_no_tensor(self):
        write_nifti(self.folder / "four.nii", SHAPE, [[1.0] * math.prod(SHAPE)] * 4)
        self.refused(3, ["four.nii", "no tensor image", "volumes: 4"], "four.nii", *self.ends())
        self.refused(3, ["labels.nii", "no tensor image"], self.labels(boxes=[(1, 0, 3, 0, 3, 0, 3)]), *self.ends())

    def test_affine_missing_or_singular(self):
        flat = [[2, 0, 0, 0], [0, 2, 0, 0], [0, 2, 0, 0]]
        write_nifti(self.folder / "flat.nii", SHAPE, [[1.0] * math.prod(SHAPE)] * 6, affine=flat)
        self.refused(3, ["flat.nii", "affine"], "flat.nii", *self.ends())

    def test_regions_that_cannot_be(self):
        tensors = self.tensors()
        labels = self.labels(boxes=[(7, 2, 2, 7, 7, 3, 3)])
        to = ("--to", "voxels:18,7,3")
        self.refused(2, ["--from", "is not a region"], tensors, "--from", "ball:1", *to)
        self.refused(3, ["outside the image"], tensors, "--from", "sphere:900,0,0,2", *to)
        self.refused(3, ["outside the image"], tensors, "--from", "voxels:21,0,0", *to)
        self.refused(3, ["no voxel with the label 8", "7"], tensors, "--from", f"label:{labels}:8", *to)
        self.refused(3, ["overlap"], tensors, "--from", "voxels:18,7,3;17,7,3", *to)
        self.refused(3, ["missing.nii"], tensors, "--from", "mask:missing.nii", *to)
        empty = self.labels("empty.nii")
        self.refused(3, ["empty.nii", "empty"], tensors, "--from", f"mask:{empty}", *to)

    def test_region_outside_the_mask(self):
        mask = self.labels("mask.nii", boxes=[(1, 0, 20, 4, 10, 1, 5)])
        self.refused(3, ["entirely outside the mask", "mm away"], self.tensors(), "--from", "voxels:2,0,0", "--to",
                     "voxels:18,7,3", "--mask", mask)

    def test_mask_of_another_shape_or_affine(self):
        write_nifti(self.folder / "small.nii", (3, 3, 3), [[1.0] * 27])
        self.refused(3, ["small.nii", "another shape"], self.tensors(), *self.ends(), "--mask", "small.nii")
        moved = self.labels("moved.nii", boxes=[(1, 0, 20, 0, 14, 0, 6)],
                            affine=[[SPACING, 0, 0, -17], [0, SPACING, 0, -14], [0, 0, SPACING, -6]])
        self.refused(3, ["moved.nii", "another affine"], self.tensors(), *self.ends(), "--mask", moved)

    def test_regions_in_different_parts(self):
        mask = self.labels("mask.nii", boxes=[(1, 0, 8, 0, 14, 0, 6), (1, 12, 20, 0, 14, 0, 6)])
        self.refused(5, ["no path", "945 and 945 voxels"], self.tensors(), *self.ends(), "--mask", mask)

    def test_nan_and_negative_tensors_are_reported(self):
        def spoil(voxel, values):
            if voxel == (5, 1, 1):
                values["xx"] = math.nan
            if voxel == (6, 1, 1):
                values.update(xx=-1e-3, yy=-1e-3, zz=-1e-3)
        summary = self.succeed_json("connect", self.tensors(change=spoil), "--tensor-order", "mrtrix", *self.ends(), "-o",
                                    "out")
        self.assertEqual(summary["metric"]["not_finite_voxels"], 1)
        self.assertEqual(summary["metric"]["not_positive_definite_voxels"], 1)
        self.assertEqual(len(summary["warnings"]), 2)

    def test_all_zero_tensors(self):
        def zero(_, values):
            values.update(dict.fromkeys(values, 0.0))
        self.refused(3, ["tensors.nii", "positive mean diffusivity"], self.tensors(change=zero), *self.ends())

    def test_options_out_of_range(self):
        tensors = self.tensors()
        self.refused(2, ["epsilon"], tensors, *self.ends(), "--epsilon", "-1")
        self.refused(2, ["alpha"], tensors, *self.ends(), "--alpha", "99")
        self.refused(2, ["--scheme"], tensors, *self.ends(), "--scheme", "magic")
        self.expect(2, "connect", tensors, *self.ends(), "-o", "folder/", words=["prefix"])
        self.expect(2, "connect", tensors, "--to", "voxels:1,1,1", "-o", "out", words=["--from"])

    def test_options_without_their_partner_are_named(self):
        common = ("connect", self.tensors(), "--tensor-order", "mrtrix", *self.ends(), "-o", "out", "--force")
        for options, words in ((("--streamline-fa", "0.2"), ("--streamline-fa", "--streamlines")),
                               (("--metric", "inverse", "--alpha", "2"), ("--alpha", "--metric sharpened")),
                               (("--raw-type", "uint8"), ("--raw-type", "--raw-shape"))):
            warnings = self.succeed_json(*common, *options)["warnings"]
            self.assertEqual(len(warnings), 1, warnings)
            for word in ("no effect", *words):
                self.assertIn(word, warnings[0])
        self.assertEqual(self.succeed_json(*common, "--streamlines", "--streamline-fa", "0.2")["warnings"], [])
        self.expect(2, *common, "--raw-shape", "3,3", words=["--raw-shape", "tensors.nii"])

    def test_both_directions_are_told(self):
        common = ("connect", self.tensors(), "--tensor-order", "mrtrix", *self.ends(), "-o", "out", "--force")
        summary = self.succeed_json(*common)
        there, back = summary["forward_cost"], summary["backward_cost"]
        self.assertAlmostEqual(summary["cost_spread"], 2 * abs(there - back) / (there + back), places=12)
        self.assertAlmostEqual(summary["cost"], (there + back) / 2, places=9)
        path = summary["path"]
        self.assertAlmostEqual(path["cost_per_mm"], path["integrated_cost"] / path["length_mm"], places=9)
        text = self.succeed(*common).stdout
        self.assertIn(f"{summary['cost']:.6g}, the mean of {there:.6g} there and {back:.6g} back", text)
        self.assertIn(f"above its least, {summary['least_sum']:.6g}", text)

    def test_the_cost_is_the_same_as_in_a_connectome(self):
        labels = self.labels(boxes=((1, 2, 2, 7, 7, 3, 3), (2, 18, 18, 7, 7, 3, 3)))
        tensors = (self.tensors(), "--tensor-order", "mrtrix")
        cost = self.succeed_json("connect", *tensors, *self.ends(), "-o", "out")["cost"]
        self.succeed("connectome", *tensors, "--labels", labels, "-o", "matrix.csv")
        row = (self.folder / "matrix.csv").read_text().splitlines()[1]
        self.assertAlmostEqual(float(row.split(",")[2]), cost, delta=1e-5 * cost)

    def test_raw_tensors_with_a_confidence(self):
        values = array.array("f")
        for i, _, _ in voxels():
            values.extend([1.0 if i != 10 else 0.25, 1.7e-3, 0, 0, 0.2e-3, 0, 0.2e-3])
        (self.folder / "tensors.raw").write_bytes(values.tobytes())
        common = ("connect", "tensors.raw", "--raw-shape", ",".join(map(str, (*SHAPE, 7))), "--raw-spacing", SPACING)
        done = self.succeed_json(*common, "--from", "voxels:2,7,3", "--to", "voxels:8,7,3", "-o", "out")
        self.assertEqual(done["mask_voxels"], math.prod(SHAPE) * 20 // 21)
        self.assertAlmostEqual(done["path"]["length_mm"], 12, delta=0.1)
        self.expect(5, *common, "--from", "voxels:2,7,3", "--to", "voxels:18,7,3", "-o", "other", words=["no path"])

    # ---- connectome

    def regions(self):
        return self.labels(boxes=[(3, 1, 2, 6, 8, 2, 4), (10, 18, 19, 6, 8, 2, 4), (5, 9, 11, 1, 2, 2, 4)])

    def test_connectome_matrices(self):
        summary = self.succeed_json("connectome", self.tensors(), "--tensor-order", "mrtrix", "--labels", self.regions(),
                                    "-o", "m.csv")
        self.assertEqual(summary["regions"], 3)
        self.assertEqual(summary["unconnected_pairs"], 0)
        matrices = {}
        for name in ("m", "m_normalised", "m_length"):
            rows = [line.split(",") for line in (self.folder / f"{name}.csv").read_text().splitlines()]
            self.assertEqual(rows[0], ["region", "3", "5", "10"])
            self.assertEqual([row[0] for row in rows[1:]], ["3", "5", "10"])
            matrices[name] = [[float(x) for x in row[1:]] for row in rows[1:]]
        for i in range(3):
            for j in range(3):
                for matrix in matrices.values():
                    self.assertEqual(matrix[i][j], matrix[j][i])
                if i != j:
                    self.assertAlmostEqual(matrices["m_normalised"][i][j], matrices["m"][i][j] / matrices["m_length"][i][j],
                                           delta=1e-6 * matrices["m_normalised"][i][j])
        self.assertAlmostEqual(matrices["m_length"][0][2], 32, delta=0.5)

    def test_connectome_as_npy_with_ids(self):
        self.succeed("connectome", self.tensors(), "--tensor-order", "mrtrix", "--labels", self.regions(), "-o", "m.npy")
        self.assertEqual((self.folder / "m.txt").read_text().split(), ["3", "5", "10"])
        data = (self.folder / "m_length.npy").read_bytes()
        self.assertIn(b"'shape': (3, 3)", data)
        values = struct.unpack("<9d", data[-72:])
        self.assertAlmostEqual(values[2], 32, delta=0.5)

    def test_connectome_of_parcels(self):
        summary = self.succeed_json("connectome", self.tensors(), "--tensor-order", "mrtrix", "--parcels", "6", "-o",
                                    "m.csv", "--parcels-output", "parcels.nii.gz")
        self.assertEqual(summary["regions"], 6)
        _, labels = read_nifti(self.folder / "parcels.nii.gz")
        self.assertEqual(set(labels), {1, 2, 3, 4, 5, 6})

    def test_connectome_parts_are_infinite(self):
        mask = self.labels("mask.nii", boxes=[(1, 0, 8, 0, 14, 0, 6), (1, 12, 20, 0, 14, 0, 6)])
        labels = self.labels(boxes=[(1, 1, 2, 6, 8, 2, 4), (2, 18, 19, 6, 8, 2, 4), (3, 6, 7, 6, 8, 2, 4),
                                    (4, 10, 10, 6, 6, 2, 2)])
        done = self.succeed("connectome", self.tensors(), "--tensor-order", "mrtrix", "--mask", mask, "--labels", labels,
                            "-o", "m.csv", "--json")
        summary = json.loads(done.stdout)
        self.assertEqual(summary["unconnected_pairs"], 5)
        self.assertEqual(summary["regions_outside_mask"], 1)
        self.assertIn("1,0,inf,", (self.folder / "m.csv").read_text())

    def test_connectome_bad_input(self):
        tensors, labels = self.tensors(), self.regions()
        common = ("connectome", tensors, "--tensor-order", "mrtrix")
        self.expect(2, *common, "-o", "m.csv", words=["--labels", "--parcels"])
        self.expect(2, *common, "--labels", labels, "--parcels", "3", "-o", "m.csv", words=["either"])
        self.expect(2, *common, "--labels", labels, "-o", "m.txt", words=[".csv"])
        self.expect(3, *common, "--labels", self.labels("empty.nii"), "-o", "m.csv", words=["no labels"])
        one = self.labels("one.nii", boxes=[(1, 1, 2, 6, 8, 2, 4)])
        self.expect(3, *common, "--labels", one, "-o", "m.csv", words=["two regions"])
        self.expect(3, *common, "--parcels", "99999", "-o", "m.csv", words=["parcels"])
        mask = self.labels("mask.nii", boxes=[(1, 0, 8, 0, 14, 0, 6), (1, 12, 20, 0, 14, 0, 6)])
        apart = self.labels("apart.nii", boxes=[(1, 1, 2, 6, 8, 2, 4), (2, 18, 19, 6, 8, 2, 4)])
        self.expect(5, *common, "--labels", apart, "--mask", mask, "-o", "m.csv", words=["no pair", "nothing was written"])


if __name__ == "__main__":
    unittest.main()
