"""isochron connect and connectome, on small tensor images written by hand."""

import array
import itertools
import json
import math
import struct

from cli_case import CliCase
from small_files import read_nifti, read_npy, write_nifti

SHAPE = (21, 15, 7)
VOXELS = math.prod(SHAPE)
SPACING = 2.0
AFFINE = [[SPACING, 0, 0, -20], [0, SPACING, 0, -14], [0, 0, SPACING, -6]]
ENDS = "--from voxels:2,7,3 --to voxels:18,7,3"
CONNECT = f"connect tensors.nii --tensor-order mrtrix {ENDS}"
CONNECTOME = "connectome tensors.nii --tensor-order mrtrix"
APART = [(1, 0, 8, 0, 14, 0, 6), (1, 12, 20, 0, 14, 0, 6)]  # boxes of a mask in two parts


def read_tck(path):
    """The tracks of a file in 32-bit little-endian."""
    data = path.read_bytes()
    offset = int(data.split(b"file: . ")[1].split(b"\n")[0])
    tracks = [[]]
    for point in struct.iter_unpack("<3f", data[offset:]):
        if math.isinf(point[0]):
            break
        if math.isnan(point[0]):
            tracks.append([])
        else:
            tracks[-1].append(point)
    return tracks[:-1]


def read_trk(path):
    """The header's fields and the tracks of a TrackVis file, in world coordinates."""
    data = path.read_bytes()
    magic, dim, size = data[:6], struct.unpack_from("<3h", data, 6), struct.unpack_from("<3f", data, 12)
    affine = struct.unpack_from("<16f", data, 440)
    order, (count, version, header) = data[948:952], struct.unpack_from("<3i", data, 988)
    tracks, at = [], 1000
    while at < len(data):
        (points,) = struct.unpack_from("<i", data, at)
        tracks.append([])
        for stored in struct.iter_unpack("<3f", data[at + 4:at + 4 + 12 * points]):
            voxel = [x / s - 0.5 for x, s in zip(stored, size)] + [1]
            tracks[-1].append([sum(affine[4 * d + e] * voxel[e] for e in range(4)) for d in range(3)])
        at += 4 + 12 * points
    return {"magic": magic, "dim": dim, "size": size, "order": order, "count": count, "version": version,
            "header": header}, tracks


def voxels():
    return [(i, j, k) for k in range(SHAPE[2]) for j in range(SHAPE[1]) for i in range(SHAPE[0])]


def index(i, j, k):
    return i + SHAPE[0] * (j + SHAPE[1] * k)


class ConnectTest(CliCase):
    """The command on a phantom, tensors.nii: fibres along x in the middle rows, isotropic elsewhere."""

    def setUp(self):
        super().setUp()
        self.tensors()

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
        write_nifti(self.folder / name, (*SHAPE, 6), AFFINE, sum((components[key] for key in order.split()), []))
        return name

    def labels(self, name="labels.nii", boxes=(), affine=AFFINE):
        """A label map; boxes are (value, i0, i1, j0, j1, k0, k1), ends included."""
        values = [0] * VOXELS
        for value, i0, i1, j0, j1, k0, k1 in boxes:
            for voxel in itertools.product(range(i0, i1 + 1), range(j0, j1 + 1), range(k0, k1 + 1)):
                values[index(*voxel)] = value
        write_nifti(self.folder / name, SHAPE, affine, values, code=8)
        return name

    # ---- what comes out

    def test_everything_is_written(self):
        summary = self.succeed_json(CONNECT, "-o out --streamlines")
        self.assertEqual(self.files(), sorted([
            "tensors.nii", "out.json", "out_cost.nii.gz", "out_pathway.nii.gz", "out_path.tck", "out_path.vtp",
            "out_profile.csv", "out_streamlines.tck"]))
        self.assertEqual(json.loads(self.read_text("out.json")), summary)
        self.assertAlmostEqual(summary["path"]["length_mm"], 32, delta=0.5)
        self.assertAlmostEqual(summary["forward_cost"], summary["backward_cost"], delta=0.01 * summary["cost"])
        self.assertGreater(summary["path"]["mean_fa"], 0.75)
        self.assert_fields(summary["streamlines"], seeds=8, reaching=8)
        shape, cost = read_nifti(self.folder / "out_cost.nii.gz")
        self.assertEqual(shape, list(SHAPE))
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
        rows = self.read_text("out_profile.csv").splitlines()
        self.assertEqual(rows[0], "x,y,z,distance,cost,fa,md,local_cost")
        self.assertAlmostEqual(float(rows[-1].split(",")[4]), summary["forward_cost"], delta=1e-6 * summary["cost"])
        self.assertEqual(len(rows) - 1, summary["path"]["points"])
        self.assertEqual(len(read_tck(self.folder / "out_streamlines.tck")), summary["streamlines"]["lines"])

    def test_the_path_alone_in_the_file_that_is_named(self):
        self.succeed(CONNECT, "-o out")
        for name in ("q.tck", "q.trk", "q.vtp"):
            summary = self.succeed_json(CONNECT, "-o", name, "--streamlines" if name == "q.trk" else "")
            self.assertEqual(summary["written"], [name] + ["q_streamlines.trk"] * (name == "q.trk"))
        self.assertEqual([file for file in self.files() if file.startswith("q")],
                         ["q.tck", "q.trk", "q.vtp", "q_streamlines.trk"])
        self.assertEqual(self.read_bytes("q.tck"), self.read_bytes("out_path.tck"))
        header, tracks = read_trk(self.folder / "q.trk")
        self.assertEqual(header, {"magic": b"TRACK\0", "dim": SHAPE, "size": (SPACING,) * 3, "order": b"RAS\0",
                                  "count": 1, "version": 2, "header": 1000})
        (track,), (expected,) = tracks, read_tck(self.folder / "q.tck")
        self.assertEqual(len(track), len(expected))
        for a, b in zip(sum(track, []), sum(map(list, expected), [])):
            self.assertAlmostEqual(a, b, delta=1e-4)
        self.assertEqual(self.info("q.trk")["lines"], 1)
        self.assertGreater(len(read_trk(self.folder / "q_streamlines.trk")[1]), 4)
        for name in ("q.nii.gz", "q.csv", "q.vtu", "q.tck.gz"):
            self.expect(2, CONNECT, "-o", name, words=(".tck, .trk, .vtp", "prefix"))
        self.succeed(CONNECT, "-o sub-01.run-2")  # a dot does not make an extension
        self.assertIn("sub-01.run-2_path.tck", self.files())

    def test_text_names_cost_and_path(self):
        text = self.succeed(CONNECT, "-o out").stdout
        self.assert_has_all(text, "cost", "pathway", "32.0 mm", "mean FA", "out_path.tck")

    def test_orders_name_the_same_tensors(self):
        def tilt(_, values):
            values.update(xy=2e-4, xz=-1e-4, yz=0.5e-4)
        def tilt_reversed(_, values):  # FSL's x runs the other way where the affine has a positive determinant
            values.update(xy=-2e-4, xz=1e-4, yz=0.5e-4)
        costs = []
        for order, components in (("mrtrix", "xx yy zz xy xz yz"), ("row", "xx xy xz yy yz zz"),
                                  ("fsl", "xx xy xz yy yz zz"), ("vtk", "xx yy zz xy yz xz"),
                                  ("lower", "xx xy yy xz yz zz")):
            name = self.tensors(f"{order}.nii", tilt_reversed if order == "fsl" else tilt, components)
            costs.append(self.succeed_json(f"connect {name} --tensor-order {order} {ENDS} -o {order}")["cost"])
        for cost in costs:
            self.assertAlmostEqual(cost, costs[0], delta=1e-6 * costs[0])

    def test_mixed_up_components_are_noticed(self):
        for order in ("fsl", "lower"):
            self.expect(3, f"connect tensors.nii --tensor-order {order} {ENDS} -o out",
                        words=("not positive definite", "--tensor-order"))
        self.assertIn("most tensors", self.succeed("info tensors.nii --tensor-order lower").stderr)

    def test_tensors_are_judged_where_paths_run(self):
        def negate(voxel, values):  # a whole tract, but little of the image
            if 5 <= voxel[1] <= 9 and 2 <= voxel[2] <= 4:
                values.update({key: -value for key, value in values.items()})
        self.tensors(change=negate)
        words = ("not positive definite", "in the regions", "--tensor-order")
        self.expect(3, CONNECT, "-o out", words=words)
        labels = self.labels(boxes=[(1, 2, 3, 6, 8, 3, 3), (2, 17, 18, 6, 8, 3, 3), (3, 9, 10, 13, 13, 3, 3)])
        self.expect(3, CONNECTOME, f"--labels {labels} -o matrix.csv", words=words)
        labels = self.labels("outside.nii", boxes=[(1, 2, 3, 6, 6, 3, 3), (2, 17, 18, 0, 4, 3, 3)])
        warnings = self.succeed_json(CONNECTOME, f"--labels {labels} -o matrix.csv")["warnings"]
        self.assert_said("most tensors are not positive definite in 1 region", warnings)
        across = "connect tensors.nii --tensor-order mrtrix --from voxels:9,3,3 --to voxels:9,11,3 -o out"
        self.tensors(change=lambda voxel, values: values.update(xx=-1e-3) if 4 <= voxel[1] <= 10 else None)
        self.expect(3, across, words="tensors along the path are not positive definite")
        self.tensors(change=lambda voxel, values: values.update(xx=-1e-3) if voxel[1] == 7 else None)
        self.assert_said("voxels along the path has a tensor that is not positive definite", self.succeed_json(across)["warnings"])

    def test_the_mask_inside_a_tensor_image_counts(self):
        values = array.array("f")
        for _, j, _ in voxels():
            values.extend((1 if j >= 5 else 0, 1.7e-3, 0, 0, 0.3e-3, 0, 0.3e-3))
        header = "\n".join((
            "NRRD0004", "type: float", "dimension: 4", "sizes: 7 {} {} {}".format(*SHAPE), "endian: little",
            "kinds: 3D-masked-symmetric-matrix space space space", "space: right-anterior-superior",
            "space directions: none (2,0,0) (0,2,0) (0,0,2)", "space origin: (0,0,0)", "encoding: raw", "", ""))
        self.write("t.nrrd", header.encode() + values.tobytes())
        self.succeed(f"connect t.nrrd {ENDS} -o inside")
        self.expect(3, "connect t.nrrd --from voxels:2,1,3 --to voxels:18,7,3 -o outside", words="outside the mask")

    def test_tensors_of_fa_md_and_principal_directions(self):
        expected = self.succeed_json(CONNECT, "-o expected")
        fa, md, v1 = [], [], [[], [], []]
        for n, (_, j, k) in enumerate(voxels()):
            along = 5 <= j <= 9 and 2 <= k <= 4
            fa.append(14 / math.sqrt(17**2 + 2 * 3**2) if along else 0)
            md.append(2.3e-3 / 3 if along else 0.8e-3)
            for component, value in zip(v1, (-1 if n % 2 else 1, 0, 0)):  # signs mean nothing
                component.append(value)
        write_nifti(self.folder / "fa.nii", SHAPE, AFFINE, fa)
        write_nifti(self.folder / "md.nii", SHAPE, AFFINE, md)
        write_nifti(self.folder / "v1.nii", (*SHAPE, 3), AFFINE, sum(v1, []))
        found = self.succeed_json(f"connect v1.nii --fa fa.nii --md md.nii --tensor-frame world {ENDS} -o out")
        self.assertAlmostEqual(found["cost"], expected["cost"], delta=1e-4 * expected["cost"])
        self.assertAlmostEqual(found["path"]["mean_fa"], expected["path"]["mean_fa"], delta=1e-5)
        for code, options, word in ((2, "v1.nii --fa fa.nii --tensor-frame world", "--md"),
                                    (2, "v1.nii --fa fa.nii --md md.nii", "--tensor-frame"),
                                    (3, "fa.nii --fa fa.nii --md md.nii --tensor-frame world", "principal directions"),
                                    (3, "v1.nii --fa v1.nii --md md.nii --tensor-frame world", "v1.nii")):
            self.expect(code, f"connect {options} {ENDS} -o bad", words=word)

    def test_regions_of_all_kinds_agree(self):
        labels = self.labels(boxes=[(7, 2, 2, 7, 7, 3, 3), (9, 18, 18, 7, 7, 3, 3)])
        mask = self.labels("to.nii", boxes=[(1, 18, 18, 7, 7, 3, 3)])
        costs = []
        for i, (start, end) in enumerate([("voxels:2,7,3", "voxels:18,7,3"), (f"label:{labels}:7", f"label:{labels}:9"),
                                          ("sphere:-16,0,0,0.5", f"mask:{mask}")]):
            costs.append(self.succeed_json(f"connect tensors.nii --tensor-order mrtrix --from {start} --to {end}",
                                           f"-o out{i}")["cost"])
        self.assertEqual(costs, costs[:1] * 3)

    def test_waypoint_exclude_and_stop(self):
        wall = self.labels("wall.nii", boxes=[(1, 10, 10, 4, 14, 0, 6)])
        plain = self.succeed_json(CONNECT, "-o plain")
        way = self.succeed_json(CONNECT, "--waypoint voxels:10,12,3 -o way")
        self.assertGreater(way["cost"], 1.1 * plain["cost"])
        self.assertGreater(way["path"]["length_mm"], 33)
        for option in ("exclude", "stop"):
            around = self.succeed_json(CONNECT, f"--{option} mask:{wall} -o {option}")
            self.assertGreater(around["cost"], 1.1 * plain["cost"])
            self.assertLess(min(y for _, y, _ in read_tck(self.folder / f"{option}_path.tck")[0]), -6)

    def test_metrics_differ(self):
        costs = {name: self.succeed_json(CONNECT, f"--metric {name} -o {name}")["cost"]
                 for name in ("sharpened", "inverse", "adjugate")}
        self.assertEqual(len(set(costs.values())), 3)
        one = self.succeed_json(CONNECT, "--alpha 1 -o one")
        self.assertAlmostEqual(one["cost"], costs["inverse"], delta=1e-5 * one["cost"])

    def test_existing_files_need_force(self):
        self.write("out_path.vtp", "mine")
        self.expect(3, CONNECT, "-o out", words=["out_path.vtp", "exists"])
        self.assertEqual(self.read_text("out_path.vtp"), "mine")
        self.succeed(CONNECT, "-o out --force")
        self.assertNotEqual(self.read_bytes("out_path.vtp"), b"mine")

    # ---- bad input

    def refused(self, code, words, *arguments, tensors="tensors.nii"):
        self.expect(code, f"connect {tensors} --tensor-order mrtrix", *arguments, "-o out", words=words)

    def test_unknown_order_explains_the_choices(self):
        self.expect(3, f"connect tensors.nii {ENDS} -o out",
                    words=["tensors.nii", "--tensor-order", "fsl", "mrtrix", "vtk", "lower"])

    def test_image_that_is_no_tensor(self):
        write_nifti(self.folder / "four.nii", (*SHAPE, 4), AFFINE, [1.0] * 4 * VOXELS)
        self.refused(3, ["four.nii", "no tensor image", "volumes: 4"], ENDS, tensors="four.nii")
        labels = self.labels(boxes=[(1, 0, 3, 0, 3, 0, 3)])
        self.refused(3, ["labels.nii", "no tensor image"], ENDS, tensors=labels)

    def test_affine_missing_or_singular(self):
        flat = [[2, 0, 0, 0], [0, 2, 0, 0], [0, 2, 0, 0]]
        write_nifti(self.folder / "flat.nii", (*SHAPE, 6), flat, [1.0] * 6 * VOXELS)
        self.refused(3, ["flat.nii", "affine"], ENDS, tensors="flat.nii")

    def test_regions_that_cannot_be(self):
        labels, empty = self.labels(boxes=[(7, 2, 2, 7, 7, 3, 3)]), self.labels("empty.nii")
        for code, region, words in ((2, "ball:1", ["--from", "is not a region"]),
                                    (3, "sphere:900,0,0,2", "outside the image"),
                                    (3, "voxels:21,0,0", "outside the image"),
                                    (3, f"label:{labels}:8", ["no voxel with the label 8", "7"]),
                                    (3, "voxels:18,7,3;17,7,3", "overlap"), (3, "mask:missing.nii", "missing.nii"),
                                    (3, f"mask:{empty}", ["empty.nii", "empty"])):
            self.refused(code, words, f"--from {region} --to voxels:18,7,3")

    def test_region_outside_the_mask(self):
        mask = self.labels("mask.nii", boxes=[(1, 0, 20, 4, 10, 1, 5)])
        self.refused(3, ["entirely outside the mask", "mm away"],
                     f"--from voxels:2,0,0 --to voxels:18,7,3 --mask {mask}")

    def test_mask_of_another_shape_or_affine(self):
        write_nifti(self.folder / "small.nii", (3, 3, 3), AFFINE, [1.0] * 27)
        self.refused(3, ["small.nii", "another shape"], f"{ENDS} --mask small.nii")
        moved = self.labels("moved.nii", boxes=[(1, 0, 20, 0, 14, 0, 6)],
                            affine=[[SPACING, 0, 0, -17], [0, SPACING, 0, -14], [0, 0, SPACING, -6]])
        self.refused(3, ["moved.nii", "another affine"], f"{ENDS} --mask {moved}")

    def test_regions_in_different_parts(self):
        mask = self.labels("mask.nii", boxes=APART)
        self.refused(5, ["no path", "945 and 945 voxels"], f"{ENDS} --mask {mask}")

    def test_nan_and_negative_tensors_are_reported(self):
        def spoil(voxel, values):
            if voxel == (5, 1, 1):
                values["xx"] = math.nan
            if voxel == (6, 1, 1):
                values.update(xx=-1e-3, yy=-1e-3, zz=-1e-3)
        self.tensors(change=spoil)
        summary = self.succeed_json(CONNECT, "-o out")
        self.assert_fields(summary["metric"], not_finite_voxels=1, not_positive_definite_voxels=1)
        self.assertEqual(len(summary["warnings"]), 2)

    def test_all_zero_tensors(self):
        self.tensors(change=lambda _, values: values.update(dict.fromkeys(values, 0.0)))
        self.refused(3, ["tensors.nii", "positive mean diffusivity"], ENDS)

    def test_options_out_of_range(self):
        for options, words in (("--epsilon -1", "epsilon"), ("--alpha 99", "alpha"), ("--scheme magic", "--scheme")):
            self.refused(2, words, ENDS, options)
        self.expect(2, f"connect tensors.nii {ENDS} -o folder/", words="prefix")
        self.expect(2, "connect tensors.nii --to voxels:1,1,1 -o out", words="--from")

    def test_options_without_their_partner_are_named(self):
        common = f"{CONNECT} -o out --force"
        for options, words in (("--streamline-fa 0.2", ("--streamline-fa", "--streamlines")),
                               ("--metric inverse --alpha 2", ("--alpha", "--metric sharpened")),
                               ("--raw-type uint8", ("--raw-type", "--raw-shape"))):
            warnings = self.succeed_json(common, options)["warnings"]
            self.assertEqual(len(warnings), 1, warnings)
            self.assert_has_all(warnings[0], "no effect", *words)
        self.assertEqual(self.succeed_json(common, "--streamlines --streamline-fa 0.2")["warnings"], [])
        self.expect(2, common, "--raw-shape 3,3", words=["--raw-shape", "tensors.nii"])

    def test_both_directions_are_told(self):
        common = f"{CONNECT} -o out --force"
        summary = self.succeed_json(common)
        there, back = summary["forward_cost"], summary["backward_cost"]
        self.assertAlmostEqual(summary["cost_spread"], 2 * abs(there - back) / (there + back), places=12)
        self.assertAlmostEqual(summary["cost"], (there + back) / 2, places=9)
        path = summary["path"]
        self.assertAlmostEqual(path["cost_per_mm"], path["integrated_cost"] / path["length_mm"], places=9)
        text = self.succeed(common).stdout
        self.assert_has_all(text, f"{summary['cost']:.6g}, the mean of {there:.6g} there and {back:.6g} back",
                            f"above its least, {summary['least_sum']:.6g}")

    def test_the_cost_is_the_same_as_in_a_connectome(self):
        labels = self.labels(boxes=((1, 2, 2, 7, 7, 3, 3), (2, 18, 18, 7, 7, 3, 3)))
        cost = self.succeed_json(CONNECT, "-o out")["cost"]
        self.succeed(CONNECTOME, f"--labels {labels} -o matrix.csv")
        self.assertAlmostEqual(float(self.table("matrix.csv")[0][2]), cost, delta=1e-5 * cost)

    def test_raw_tensors_with_a_confidence(self):
        values = array.array("f")
        for i, _, _ in voxels():
            values.extend([1.0 if i != 10 else 0.25, 1.7e-3, 0, 0, 0.2e-3, 0, 0.2e-3])
        self.write("tensors.raw", values.tobytes())
        common = "connect tensors.raw --raw-shape 21,15,7,7 --raw-spacing 2.0"
        done = self.succeed_json(common, "--from voxels:2,7,3 --to voxels:8,7,3 -o out")
        self.assertEqual(done["mask_voxels"], VOXELS * 20 // 21)
        self.assertAlmostEqual(done["path"]["length_mm"], 12, delta=0.1)
        self.expect(5, common, "--from voxels:2,7,3 --to voxels:18,7,3 -o other", words="no path")

    # ---- connectome

    def regions(self):
        return self.labels(boxes=[(3, 1, 2, 6, 8, 2, 4), (10, 18, 19, 6, 8, 2, 4), (5, 9, 11, 1, 2, 2, 4)])

    def test_connectome_matrices(self):
        summary = self.succeed_json(CONNECTOME, f"--labels {self.regions()} -o m.csv")
        self.assert_fields(summary, regions=3, unconnected_pairs=0)
        matrices = {}
        for name in ("m", "m_normalised", "m_length", "m_fa"):
            rows = [line.split(",") for line in self.read_text(f"{name}.csv").splitlines()]
            self.assertEqual(rows[0], ["region", "3", "5", "10"])
            self.assertEqual([row[0] for row in rows[1:]], ["3", "5", "10"])
            matrices[name] = [[float(x) for x in row[1:]] for row in rows[1:]]
        cost, normalised, length, fa = matrices.values()
        for i, j in itertools.product(range(3), repeat=2):
            for matrix in matrices.values():
                self.assertEqual(matrix[i][j], matrix[j][i])
            if i != j:
                self.assertAlmostEqual(normalised[i][j], cost[i][j] / length[i][j], delta=1e-6 * normalised[i][j])
        self.assertAlmostEqual(length[0][2], 32, delta=0.5)
        self.assertAlmostEqual(fa[0][2], 0.8, delta=0.01)  # along the fibres, of which it is 0.8
        self.assertLess(fa[0][1], 0.8)
        self.assertEqual(fa[1][1], 0)

    def test_a_table_names_chooses_and_orders_labels(self):
        labels = self.regions()
        self.write("lut.txt", "# FreeSurfer\n0 Unknown 0 0 0 0\n10  Left-Thalamus  0 118 14 0\n77 Absent 1 2 3 0\n"
                              "4\tLeft-Lateral-Ventricle 120 18 134 0\n3 Left, \"Cortex\" 1 2 3 0\n")
        self.write("ids.csv", "id,name\n10,Thalamus\n3,\"Cortex\"\n5,Inf-Lat-Vent\n")
        self.write("bids.tsv", "index\tname\tcolor\n10\tLeft thalamus\t#ff0000\n3\tLeft cortex\t#00ff00\n")
        self.write("snap.txt", '10 255 0 0 1 1 1 "Left thalamus"\n3 1 2 3 1 1 1 "Left cortex"\n')
        for i, (table, names) in enumerate((("lut.txt", ["Left-Thalamus", '"Left,"']), ("ids.csv", ["Thalamus", "Cortex"]),
                                            ("bids.tsv", ["Left thalamus", "Left cortex"]),
                                            ("snap.txt", ["Left thalamus", "Left cortex"]))):
            summary = self.succeed_json(CONNECTOME, f"--labels {labels} --label-table {table} -o m{i}.csv")
            rows = self.read_text(f"m{i}.csv").splitlines()
            self.assertEqual(rows[0], "region," + ",".join(names))
            self.assertEqual([one["label"] for one in summary["labels"]], [10, 3])
            if table == "ids.csv":
                self.assertEqual((summary["labels_left_out"], summary["warnings"]), (1, []))
            else:
                self.assert_said("1 label is not in", summary["warnings"])
        for option, kept in (("none", [10, 3, 5]), ("thal*", [3, 5]), ("3,inf*", [10])):
            done = (CONNECTOME, f"--labels {labels} --label-table ids.csv --leave-out {option} -o n{len(kept)}.npy")
            if len(kept) == 1:
                self.expect(3, *done, words="two regions")
                continue
            self.assertEqual([one["label"] for one in self.succeed_json(*done)["labels"]], kept)
        self.assertEqual(self.read_text("n3.txt").splitlines(), ["10 Thalamus", "3 Cortex", "5 Inf-Lat-Vent"])

    def test_bad_label_tables(self):
        labels = f"--labels {self.regions()} -o m.csv"
        for content, word in (("", "empty"), ("# only\n", "no rows"), ("3 a\n3 b\n", "twice"), ("3 a\nx b\n", "line 2"),
                              ("77 a\n78 b\n", "no label is left")):
            self.write("bad.txt", content)
            self.expect(3, CONNECTOME, labels, "--label-table bad.txt", words=word)
        self.expect(2, CONNECTOME, "--parcels 3 -o m.csv --leave-out 3", words="--labels")
        self.assert_said("called 'x'", self.succeed_json(CONNECTOME, labels, "--leave-out x")["warnings"])

    def test_connectome_as_npy_with_ids(self):
        self.succeed(CONNECTOME, f"--labels {self.regions()} -o m.npy")
        self.assertEqual(self.read_text("m.txt").split(), ["3", "5", "10"])
        header, values = read_npy(self.folder / "m_length.npy")
        self.assertEqual(header["shape"], (3, 3))
        self.assertAlmostEqual(values[2], 32, delta=0.5)

    def test_connectome_of_parcels(self):
        summary = self.succeed_json(CONNECTOME, "--parcels 6 -o m.csv --parcels-output parcels.nii.gz")
        self.assertEqual(summary["regions"], 6)
        self.assertEqual(set(read_nifti(self.folder / "parcels.nii.gz")[1]), {1, 2, 3, 4, 5, 6})

    def test_connectome_parts_are_infinite(self):
        mask = self.labels("mask.nii", boxes=APART)
        labels = self.labels(boxes=[(1, 1, 2, 6, 8, 2, 4), (2, 18, 19, 6, 8, 2, 4), (3, 6, 7, 6, 8, 2, 4),
                                    (4, 10, 10, 6, 6, 2, 2)])
        summary = self.succeed_json(CONNECTOME, f"--mask {mask} --labels {labels} -o m.csv")
        self.assert_fields(summary, unconnected_pairs=5, regions_outside_mask=1)
        self.assertIn("1,0,inf,", self.read_text("m.csv"))

    def test_connectome_bad_input(self):
        labels, empty = self.regions(), self.labels("empty.nii")
        one = self.labels("one.nii", boxes=[(1, 1, 2, 6, 8, 2, 4)])
        for code, options, words in ((2, "-o m.csv", ["--labels", "--parcels"]),
                                     (2, f"--labels {labels} --parcels 3 -o m.csv", "either"),
                                     (2, f"--labels {labels} -o m.txt", ".csv"),
                                     (3, f"--labels {empty} -o m.csv", "no labels"),
                                     (3, f"--labels {one} -o m.csv", "two regions"),
                                     (3, "--parcels 99999 -o m.csv", "parcels")):
            self.expect(code, CONNECTOME, options, words=words)
        mask = self.labels("mask.nii", boxes=APART)
        apart = self.labels("apart.nii", boxes=[(1, 1, 2, 6, 8, 2, 4), (2, 18, 19, 6, 8, 2, 4)])
        self.expect(5, CONNECTOME, f"--labels {apart} --mask {mask} -o m.csv", words=["no pair", "nothing was written"])
