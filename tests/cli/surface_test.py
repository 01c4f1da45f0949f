"""isochron surface: meshes of objects in small images, tetrahedra in them, and what is refused."""

import itertools
import json
import math
import os
import signal
import time

from cli_case import CliCase
from small_files import write_nifti

NAN = float("nan")
# The driver shows no device to a process with this.
NO_DEVICE = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


def ball(p, middle=(10, 10, 10), radius=7):
    """Signed distance to a ball, negative inside."""
    return math.dist(p, middle) - radius


def torus(p, middle=(15.2, 15.4, 7.3), ring=9, tube=3.5):
    """Signed distance to a torus around the third axis."""
    return math.hypot(math.dist(p[:2], middle[:2]) - ring, p[2] - middle[2]) - tube


class Surface(CliCase):
    def setUp(self):
        super().setUp()
        # Without CGAL the command says so before it looks for its input.
        done = self.run_isochron("surface none.nii --isovalue 1 -o a.ply")
        if "CGAL" in done.stderr:
            self.assert_failed(done, 1, words=("CGAL", "; install libcgal-dev"))
            self.skipTest("built without CGAL")
        self.volume("ball.nii", (21, 21, 21), lambda p: -ball(p))

    # ---- volumes

    def volume(self, name, shape, value, spacing=(1, 1, 1), axes=None):
        """A NIfTI image of value(position), the position in voxels times spacing. `axes`: the affine's columns, for
        turned images."""
        values = [value((i * spacing[0], j * spacing[1], k * spacing[2]))
                  for k, j, i in itertools.product(*map(range, reversed(shape)))]
        columns = axes or [[spacing[a] if a == b else 0 for b in range(3)] for a in range(3)]
        rows = [[columns[0][r], columns[1][r], columns[2][r], 0] for r in range(3)]
        write_nifti(self.folder / name, shape, rows, values)
        return name

    # ---- what every mesh must be

    def assert_sound(self, summary, components=1, genus=0):
        surface = summary["surface"]
        self.assertTrue(surface["closed"] and surface["manifold"] and surface["oriented"], surface)
        for fault in ("boundary_edges", "non_manifold_edges", "non_manifold_vertices", "inconsistent_edges",
                      "self_intersections"):
            self.assertEqual(surface[fault], 0, fault)
        self.assert_fields(surface, component_count=components, genus=genus)
        self.assertEqual(summary["differences"], [])
        self.assertGreater(summary["shape"]["radius_ratio"]["mean"], 0.94)
        self.assertGreater(summary["shape"]["angles"]["min"], 12)

    def sound(self, *arguments, **expected):
        """The summary of a mesh that is sound."""
        summary = self.succeed_json(*arguments)
        self.assert_sound(summary, **expected)
        return summary

    def assert_near(self, value, exact, share):
        self.assertAlmostEqual(value / exact, 1, delta=share)

    # ---- meshes

    def test_ball(self):
        summary = self.sound("surface ball.nii --isovalue 0 -o a.ply --report")
        self.assert_fields(summary, warnings=[], written=["a.ply"], converged=True)
        self.assert_near(summary["surface"]["volume"], 4 / 3 * math.pi * 7**3, 0.07)
        self.assert_near(summary["surface"]["area"], 4 * math.pi * 7**2, 0.05)
        self.assertLess(summary["distance"]["to_isosurface"]["percentile_95"], 0.15)
        self.assertLess(summary["distance"]["from_isosurface"]["percentile_95"], 0.15)
        self.assert_fields(self.info("a.ply"), points=summary["vertices"], triangles=summary["elements"])

    def test_isovalue_that_voxels_have(self):
        volume = self.volume("whole.nii", (21, 21, 21), lambda p: math.floor(20 - ball(p, radius=0)))
        at, between = (self.sound(f"surface {volume} --isovalue {value} -o {value}.ply") for value in ("14", "13.5"))
        self.assert_fields(at, isovalue=13.5, surface=between["surface"])
        self.assert_said("14 is the value of", at["warnings"])
        self.assertEqual(between["warnings"], [])

    def test_torus_has_its_handle(self):
        volume = self.volume("torus.nii.gz", (31, 31, 15), lambda p: -torus(p))
        summary = self.sound(f"surface {volume} --isovalue 0 -o a.obj", genus=1)
        self.assert_near(summary["surface"]["volume"], 2 * math.pi**2 * 9 * 3.5**2, 0.03)

    def test_inside_below_and_two_components(self):
        volume = self.volume("two.nii", (21, 21, 40),
                             lambda p: min(ball(p, (10, 10, 9), 6), ball(p, (10, 10, 29), 5)))
        below = self.sound(f"surface {volume} --isovalue 0 --inside below -o a.stl", components=2)
        # Above: a box of the size of the image, with two cavities.
        above = self.succeed_json(f"surface {volume} --isovalue 0 --uniform 2 -o b.stl")
        self.assertEqual(above["surface"]["component_count"], 3)
        self.assert_said("border", above["warnings"])
        self.assert_near(above["surface"]["volume"] + below["surface"]["volume"], 21 * 21 * 40, 0.03)

    def test_spacing_and_direction_are_honoured(self):
        volume = self.volume("a.nii", (21, 21, 11), lambda p: -ball(p), spacing=(1, 1, 2))
        flat = self.sound(f"surface {volume} --isovalue 0 --uniform 1 -o a.ply")
        self.assert_near(flat["surface"]["volume"], 4 / 3 * math.pi * 7**3, 0.03)
        # Turned, and mirrored: triangles still face outward.
        c, s = math.cos(0.4), math.sin(0.4)
        for turned in ([[c, s, 0], [-s, c, 0], [0, 0, 2]], [[c, s, 0], [s, -c, 0], [0, 0, 2]]):
            volume = self.volume("b.nii", (21, 21, 11), lambda p: -ball(p), spacing=(1, 1, 2), axes=turned)
            summary = self.sound(f"surface {volume} --isovalue 0 --uniform 1 -o b.ply --force")
            self.assert_near(summary["surface"]["volume"], 4 / 3 * math.pi * 7**3, 0.03)
            box = self.info("b.ply")["meshes"][0]
            middle = [10 * turned[0][a] + 10 * turned[1][a] + 5 * turned[2][a] for a in range(3)]
            for a in range(3):
                self.assertAlmostEqual(box["low"][a], middle[a] - 7, delta=0.4)
                self.assertAlmostEqual(box["high"][a], middle[a] + 7, delta=0.4)

    def test_labels(self):
        def label(p):
            inside = ball(p) < 0
            return 0 if not inside else 3 if p[2] < 10 else 8
        volume = self.volume("labels.nii.gz", (21, 21, 21), label)
        whole = self.sound(f"surface {volume} --label 3 --label 8 -o a.ply")
        half = self.sound(f"surface {volume} --label 8 -o b.ply")
        other = self.succeed_json(f"surface {volume} --label 3 -o c.ply")
        self.assert_near(half["surface"]["volume"] + other["surface"]["volume"], whole["surface"]["volume"], 0.03)
        self.assert_near(half["surface"]["volume"], half["voxel_volume"], 0.03)

    def test_negative_label(self):
        volume = self.volume("labels.nii.gz", (21, 21, 21), lambda p: -1 if ball(p) < 0 else 2)
        self.sound(f"surface {volume} --label -1 -o a.ply")
        for wrong in ("-", "--1", "-1.5", "-3000000000"):
            self.expect(2, f"surface {volume} --label={wrong} -o b.ply", words="--label")

    def test_sizes(self):
        counts = []
        for size in ("1", "2"):
            summary = self.sound(f"surface ball.nii --isovalue 0 --uniform {size} -o {size}.ply")
            counts.append(summary["vertices"])
        self.assert_near(counts[0] / counts[1], 4, 0.25)
        ranged = self.succeed_json("surface ball.nii --isovalue 0 --size-range 1.9,2.1 -o a.ply")
        self.assert_near(ranged["vertices"], counts[1], 0.2)
        capped = self.succeed_json("surface ball.nii --isovalue 0 --size-range 0.5,1 -o b.ply")
        self.assertGreater(capped["vertices"], 0.8 * counts[0])

    def test_the_published_scheme(self):
        published = "surface ball.nii --isovalue 0 --scheme published"
        self.assert_fields(self.sound(published, "--threads 1 -o a.ply"), scheme="published", converged=True)
        self.assert_fields(self.sound(published, "--threads 2 -o b.ply"), scheme="published", backend="threads")
        self.assertEqual((self.folder / "a.ply").read_bytes(), (self.folder / "b.ply").read_bytes())
        self.assert_fields(self.sound("surface ball.nii --isovalue 0 -o c.ply"), scheme="ours")
        self.expect(1, published, "--backend cuda -o d.ply", words=("GPU", "--backend threads"), env=NO_DEVICE)
        self.expect(2, f"{published} --bins uniform -o d.ply", words=("--bins uniform", "--scheme ours", "leave it out"))
        self.expect(2, f"surface {self.half_balls()} --materials all --scheme published -o d.msh",
                    words=("one object", "--scheme ours"))

    def test_seeds_are_all_there_will_be(self):
        summary = self.succeed_json("surface ball.nii --isovalue 0 --uniform 1 --seeds 300 -o a.ply")
        self.assert_near(summary["seeds"], 300, 0.1)
        self.assertLessEqual(summary["particles"], summary["seeds"])
        self.assertTrue(summary["surface"]["closed"] and summary["surface"]["manifold"])

    def test_same_seed_same_mesh(self):
        for name, seed in (("a.ply", 5), ("b.ply", 5), ("c.ply", 6)):
            self.succeed(f"surface ball.nii --isovalue 0 --seed {seed} -o {name}")
        contents = [self.read_bytes(name) for name in ("a.ply", "b.ply", "c.ply")]
        self.assertEqual(contents[0], contents[1])
        self.assertNotEqual(contents[0], contents[2])

    def test_text_summary(self):
        done = self.succeed("surface ball.nii --isovalue 0 -o a.vtk --report")
        self.assert_has_all(done.stdout, "a.vtk: ", "particles", "radius ratio", "genus 0", "closed",
                            "crossings    none", "to isosurf.", "radius ratios")
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.succeed("surface ball.nii --isovalue 0 -o b.ply --quiet").stdout, "")

    def test_raw_volume(self):
        self.write("a.raw", bytes(
            200 if ball((i, j, k)) < 0 else 10 for k, j, i in itertools.product(range(21), range(21), range(21))))
        self.sound("surface a.raw --raw-shape 21,21,21 --raw-type uint8 --isovalue 100 --smoothing 1", "-o a.ply")

    def test_picture(self):
        if not self.has_vtk():
            self.expect(1, "surface ball.nii --isovalue 0 -o a.ply --picture a.png", words=("--picture", "VTK"))
            return
        self.succeed("surface ball.nii --isovalue 0 -o a.ply --picture a.png")
        self.assertEqual(self.read_bytes("a.png")[:4], b"\x89PNG")
        for picture in ("a.jpg", "a.png.gz"):
            self.expect(2, f"surface ball.nii --isovalue 0 -o b.ply --picture {picture}", words=(picture, ".png"))
        self.expect(3, "surface ball.nii --isovalue 0 -o b.ply --picture a.png", words=("a.png", "--force"))

    # ---- tetrahedra

    def fill(self, *arguments):
        """The summary of a surface filled by Netgen; skips where that is not there."""
        done = self.run_isochron("surface", *arguments, "--tetrahedra netgen --json")
        if "netgen is not there" in done.stderr:
            self.assert_failed(done, 1, words=("--tetrahedra", "; install it"))
            self.skipTest("there is no isochron-netgen")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_solvable(self, mesh, *arguments):
        """Times from the first vertex that all the others get."""
        solved = self.succeed_json(f"solve {mesh} -o times.msh --source 0 --verify", *arguments)
        self.assert_fields(solved, unreached=0, converged=True)
        self.assertLessEqual(solved["residual"], solved["residual_limit"])
        return solved

    def test_tetrahedra_to_arrival_times(self):
        summary = self.fill("ball.nii", "--isovalue 0 -o a.msh")
        self.assert_sound(summary)
        tets = summary["tetrahedra"]
        self.assertGreater(tets["shape"]["dihedral_angles"]["min"], 10)
        self.assertGreaterEqual(tets["vertices"], summary["vertices"])
        found = self.info("a.msh")
        self.assert_fields(found, tetrahedra=tets["elements"], triangles=0)
        self.assertEqual(found["meshes"][0]["inverted"], 0)
        solved = self.assert_solvable("a.msh")
        self.assertEqual(solved["vertices"], tets["vertices"])
        self.assert_near(solved["max_time"], 14, 0.06)  # straight through the ball

    def test_surface_formats_refuse_tetrahedra(self):
        if self.run_isochron("surface ball.nii --isovalue 0 -o a.msh --tetrahedra netgen").returncode != 0:
            self.skipTest("there is no isochron-netgen")
        filled = self.succeed("surface ball.nii --isovalue 0 -o b.msh --tetrahedra netgen").stdout
        self.assertRegex(filled.splitlines()[0], r"^b.msh: [\d,]+ vertices, [\d,]+ triangles, [\d,]+ tetrahedra$")
        self.expect(2, "surface ball.nii --isovalue 0 -o a.stl --tetrahedra netgen", words=("a.stl", "tetrahedra"))
        # That is seen before the image is looked at.
        self.expect(2, "surface none.nii --isovalue 0 -o a.stl --tetrahedra netgen", words=("a.stl", "tetrahedra"))

    # ---- materials

    def half_balls(self, name="halves.nii.gz"):
        """A ball of label 3 below and 8 above, with 5 as a smaller ball beside it."""
        def label(p):
            if ball(p, (10, 10, 10), 7) < 0:
                return 3 if p[2] < 10.5 else 8
            return 5 if ball(p, (24, 10, 10), 4) < 0 else 0
        return self.volume(name, (31, 21, 21), label)

    def materials_of(self, summary):
        found = {one["label"]: one for one in summary["materials"]}
        for one in found.values():
            self.assertTrue(one["closed"] and one["manifold"] and one["oriented"], one)
            self.assert_fields(one, components=1, genus=0)
        return found

    def test_materials_share_their_surfaces(self):
        summary = self.succeed_json("surface", self.half_balls(), "--materials all --uniform 1.2 -o a.msh")
        found = self.materials_of(summary)
        self.assertEqual(sorted(found), [3, 5, 8])
        self.assertEqual((summary["warnings"], summary["surface"]["self_intersections"]), ([], 0))
        self.assertEqual(summary["surface"]["boundary_edges"], 0)
        self.assertGreater(summary["junction_samples"], 20)
        voxels = sum(ball(p) < 0 for p in itertools.product(range(21), repeat=3))
        self.assert_near(found[3]["volume"] + found[8]["volume"], voxels, 0.05)
        area = {tuple(one["labels"]): one["area"] for one in summary["interfaces"]}
        self.assertEqual(sorted(area), [(0, 3), (0, 5), (0, 8), (3, 8)])
        self.assertAlmostEqual(area[0, 3] + area[3, 8], found[3]["area"], places=6)
        self.assertAlmostEqual(math.sqrt(area[3, 8] / math.pi), 6.85, delta=0.15)
        self.assertGreater(summary["shape"]["radius_ratio"]["mean"], 0.95)
        self.assertGreater(summary["shape"]["radius_ratio"]["min"], 0.45)
        self.assert_near(summary["expected_particles"], summary["samples"], 0.15)
        self.assertEqual((summary["differences"], "distance" in summary), ([], False))
        arrays = self.arrays("a.msh")
        for name in ("material_inside", "material_outside"):
            self.assert_fields(arrays[name], on="triangles", min=0 if name[9] == "o" else 3)
        some = self.succeed_json("surface halves.nii.gz --materials 8,5 -o b.stl --iterations 20")
        self.assertEqual(sorted(self.materials_of(some)), [5, 8])
        self.assertIn("left out", some["warnings"][0])
        text = self.succeed("surface halves.nii.gz --materials all -o c.msh").stdout
        self.assert_has_all(text, "between 3 materials", "on junctions", "material  8: 1 component, area")

    def test_report_about_materials(self):
        summary = self.succeed_json("surface", self.half_balls(), "--materials all --uniform 1.2 --report -o a.msh")
        for way in ("to_isosurface", "from_isosurface"):
            self.assertLess(summary["distance"][way]["percentile_95"], 0.15)
            self.assertGreater(summary["distance"][way]["samples"], 1000)
        text = self.succeed("surface halves.nii.gz --materials all --uniform 1.2 --report -o b.msh").stdout
        self.assert_has_all(text, "to isosurf.", "and back", "radius ratios", "angles")

    def test_materials_are_compared_with_the_image(self):
        # Two blocks of one label, which triangles longer than the gap between them join.
        def label(p):
            inside = 3 <= p[1] < 9 and 3 <= p[2] < 9
            return 2 if inside and (3 <= p[0] < 9 or 11 <= p[0] < 17) else 0
        volume = self.volume("bars.nii", (20, 12, 12), label)
        fine = self.succeed_json(f"surface {volume} --materials all -o a.msh")
        self.assertEqual((fine["differences"], fine["materials"][0]["components"]), ([], 2))
        rough = self.succeed_json(f"surface {volume} --materials all --uniform 9 -o b.msh")
        self.assertTrue(rough["differences"])
        for one in rough["differences"]:
            self.assertEqual((one["label"], one["kind"] in ("lost", "merged", "divided", "handles")), (2, True))
            self.assert_near(one["area"], 6 * 36, 0.3)
        self.assert_said("label 2: the component of area", rough["warnings"])

    def test_materials_filled(self):
        summary = self.fill(self.half_balls(), "--materials 3,8 -o a.msh")
        found = self.info("a.msh")
        self.assert_fields(found, tetrahedra=summary["tetrahedra"]["elements"], triangles=0)
        self.assert_fields(found["arrays"][0], name="region", on="tetrahedra", min=3, max=8)
        self.assert_solvable("a.msh")

    def test_boundary_beside_tetrahedra(self):
        summary = self.fill(self.half_balls(), "--materials 3,8 -o a.msh --boundary")
        found = {(one["region_a"], one["region_b"]): one for one in summary["boundary"]}
        self.assertEqual(sorted(found), [(3, 0), (3, 8), (8, 0)])
        self.assertEqual(sorted(one["tag"] for one in found.values()), [9, 10, 11])
        self.assert_fields(self.info("a.msh"), triangles=summary["elements"],
                           tetrahedra=summary["tetrahedra"]["elements"])
        self.assert_solvable("a.msh")
        # Every triangle is a face of tetrahedra of its two regions, and all faces of only one of them are there.
        lines = self.read_text("a.msh").splitlines()
        first = lines.index("$Elements") + 2
        elements = [list(map(int, line.split())) for line in lines[first:lines.index("$EndElements")]]
        faces = {}
        for _, kind, _, physical, _, *corners in elements:
            if kind == 4:
                for face in itertools.combinations(sorted(corners), 3):
                    faces.setdefault(face, []).append(physical)
        pairs = {one["tag"]: pair for pair, one in found.items()}
        triangles = {}
        for _, kind, _, physical, _, *corners in elements:
            if kind == 2:
                triangles[tuple(sorted(corners))] = pairs[physical]
        self.assertEqual(triangles, {face: (min(of), max(of) if len(of) > 1 else 0) for face, of in faces.items()
                                     if len(set(of)) > 1 or len(of) == 1})

    def test_boundary_of_one_object(self):
        summary = self.fill("ball.nii", "--isovalue 0 -o a.vtu --boundary")
        self.assertEqual(len(summary["boundary"]), 1)
        one = summary["boundary"][0]
        self.assert_fields(one, tag=2, region_a=1, region_b=0, triangles=summary["elements"])
        self.assert_near(one["area"], summary["surface"]["area"], 1e-9)
        self.assert_fields(self.info("a.vtu"), triangles=summary["elements"])
        self.expect(2, "surface ball.nii --isovalue 0 -o b.vtu --boundary", words=("--boundary", "--tetrahedra"))

    def test_bad_materials(self):
        volume = self.half_balls()
        for arguments, words in (("--materials some", ("--materials", "some")), ("--materials 3,,8", "--materials"),
                                 ("--materials 0,3", "label 0"),
                                 ("--materials all --label 3", "--label and --materials"),
                                 ("--materials all --seeds 9", ("--seeds", "--materials")),
                                 ("--materials all --uniform=-1", ("--uniform", "positive"))):
            self.expect(2, f"surface {volume} -o a.msh", arguments, words=words)
        self.expect(3, f"surface {volume} --materials 3,4 -o a.msh", words=("label 4", "0, 3, 5, 8"))
        self.expect(3, f"surface {volume} --materials all --most-particles 10 -o a.msh", words="allowed: 10")
        self.expect(3, "surface ball.nii --materials all -o a.msh", words="no label map")
        self.expect(3, "surface", self.volume("zeros.nii", (6, 6, 6), lambda p: 0), "--materials all -o a.msh",
                    words="no label but 0")

    # ---- what is refused

    def test_existing_output_needs_force(self):
        self.write("a.ply", "mine")
        self.expect(3, "surface ball.nii --isovalue 0 -o a.ply", words=("a.ply", "--force"))
        self.assertEqual(self.read_text("a.ply"), "mine")
        self.succeed("surface ball.nii --isovalue 0 -o a.ply --force")
        self.expect(2, "surface ball.nii --isovalue 0 -o a.nothing", words="a.nothing")
        self.expect(3, "surface none.nii --isovalue 0 -o b.ply", words="none.nii")

    def test_one_way_to_say_what_is_inside(self):
        self.expect(2, "surface ball.nii -o a.ply", words=("--isovalue", "--label"))
        self.expect(2, "surface ball.nii --isovalue 0 --label 1 -o a.ply", words=("--isovalue", "--label", "exclude"))
        self.expect(2, "surface ball.nii --label 1 --inside below -o a.ply", words="--inside")

    def test_values_without_a_surface(self):
        for isovalue in ("50", "-50"):
            self.expect(3, f"surface ball.nii --isovalue={isovalue} -o a.ply", words=("go from", "choose one"))
        constant = self.volume("constant.nii", (6, 6, 6), lambda p: 2.5)
        self.expect(3, f"surface {constant} --isovalue 2 -o a.ply", words=("same value", "2.5"))
        nothing = self.volume("nan.nii", (6, 6, 6), lambda p: NAN)
        self.expect(3, f"surface {nothing} --isovalue 2 -o a.ply", words="no finite values")

    def test_some_voxels_that_are_no_numbers(self):
        volume = self.volume("holes.nii", (21, 21, 21), lambda p: NAN if p[0] + p[1] < 3 else -ball(p))
        self.assert_said("not finite", self.sound(f"surface {volume} --isovalue 0 -o a.ply")["warnings"])

    def test_an_image_full_of_the_label_is_closed_at_its_border(self):
        volume = self.volume("full.nii", (8, 8, 8), lambda p: 4)
        for options in ("--label 4", "--materials all"):
            summary = self.succeed_json(f"surface {volume}", options, "-o a.ply --force")
            self.assert_said("closed there", summary["warnings"])
        self.sound(f"surface {volume} --label 4 -o b.ply")

    def test_labels_that_are_no_numbers_are_counted(self):
        volume = self.volume("holes.nii", (12, 12, 12), lambda p: NAN if p[0] < 1 else 4 if 2 < p[0] < 8 else 0)
        for options in ("--label 4", "--materials all"):
            warnings = self.succeed_json(f"surface {volume}", options, "-o a.ply --force")["warnings"]
            self.assert_said("144 voxels are not finite", warnings)

    def test_labels_that_are_not_there(self):
        volume = self.volume("labels.nii", (8, 8, 8), lambda p: 4 if 1 < p[0] < 6 else 0)
        self.expect(3, f"surface {volume} --label 7 -o a.ply", words=("label 7", "0, 4"))
        self.expect(2, f"surface {volume} --label heart -o a.ply", words=("--label", "heart"))
        self.expect(3, "surface ball.nii --label 1 -o a.ply", words=("no label map", "--isovalue"))

    def test_images_of_several_volumes(self):
        write_nifti(self.folder / "four.nii", (5, 5, 5, 3), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], range(375))
        self.expect(3, "surface four.nii --isovalue 9 -o a.ply", words="3 values a voxel")
        self.expect(3, "surface ball.nii --isovalue 0 --array other -o a.ply", words=("no array 'other'", "there are"))
        flat = self.volume("flat.nii", (9, 9, 1), lambda p: p[0])
        self.expect(3, f"surface {flat} --isovalue 4 -o a.ply")

    def test_objects_that_leave_the_image(self):
        volume = self.volume("cut.nii", (12, 21, 21), lambda p: -ball(p))
        self.expect(3, f"surface {volume} --isovalue 0 --border refuse -o a.ply", words="border")
        self.assert_said("border", self.sound(f"surface {volume} --isovalue 0 -o a.ply")["warnings"])

    def test_too_many_particles(self):
        start = time.monotonic()
        self.expect(3, "surface ball.nii --isovalue 0 --uniform 0.0001 -o a.ply", words=("particles", "GB", "larger"))
        self.expect(3, "surface ball.nii --isovalue 0 --uniform 0.5 --most-particles 100 -o a.ply",
                    words=("particles", "allowed: 100"))
        self.assertLess(time.monotonic() - start, 30)

    def test_options_that_make_no_sense(self):
        for arguments, words in (("--uniform 1 --size-range 1,2", ("--uniform", "--size-range")),
                                 ("--size-range 2,1", "--size-range"), ("--size-range 2", "--size-range"),
                                 ("--uniform=-1", ("--uniform", "positive")),
                                 ("--uniform 0", ("--uniform", "positive")), ("--seeds 0", ("--seeds", "positive")),
                                 ("--most-particles 0", ("--most-particles", "positive")),
                                 ("--smoothing=-1", ("--smoothing", "negative")), ("--epsilon 0", "epsilon"),
                                 ("--smoothing 1e9", ("smoothing", "at most 64")),
                                 ("--delta=-1", "delta"), ("--uniform 1 --epsilon 1", ("--epsilon", "--uniform")),
                                 ("--uniform 1 --delta 1 --epsilon 1", "--epsilon and --delta"),
                                 ("--bins many", ("--bins", "adaptive")), ("--scheme magic", ("--scheme", "published")), ("--tetrahedra magic", ("magic", "netgen")),
                                 ("--inside left", ("--inside", "above"))):
            self.expect(2, "surface ball.nii --isovalue 0 -o a.ply", arguments, words=words)
        self.expect(2, "surface ball.nii --isovalue 0", words="--output")

    def test_ctrl_c_leaves_nothing(self):
        for after in (0.5, 2):
            self.interrupt(signal.SIGINT, after, "surface ball.nii --isovalue 0 --uniform 0.03 -o a.ply")

    def test_ctrl_c_while_drawing_leaves_no_picture(self):
        if not self.has_vtk():
            self.skipTest("built without VTK")

        def mesh_is_written(process):  # just before the picture is drawn
            while not (self.folder / "a.ply").exists() and process.poll() is None:
                time.sleep(0.002)

        self.interrupt(signal.SIGINT, mesh_is_written, "surface ball.nii --isovalue 0 -o a.ply --picture a.png",
                       left=["a.ply", "ball.nii"])

    # ---- real volumes

    def real_volume_to_arrival_times(self, volume, *arguments):
        summary = self.fill(self.data_file(volume), *arguments, "-o a.msh")
        surface = summary["surface"]
        self.assertTrue(surface["closed"] and surface["manifold"] and surface["oriented"], surface)
        self.assertEqual(surface["self_intersections"], 0)
        self.assertGreater(summary["shape"]["radius_ratio"]["mean"], 0.94)
        self.assertGreater(summary["shape"]["radius_ratio"]["min"], 0.2)
        self.assertGreater(summary["shape"]["angles"]["min"], 12)
        self.assert_fields(self.info("a.msh")["meshes"][0], components=1, inverted=0)
        self.assert_solvable("a.msh", "--speed 0.6")

    def test_heart_mask_to_arrival_times(self):
        self.real_volume_to_arrival_times("vol/heart_mask_233x167x191.nii.gz", "--label 1 --size-range 3,12")

    def test_ct_to_arrival_times(self):
        self.real_volume_to_arrival_times("vol/ct_122x101x112.nii.gz",
                                          "--isovalue=-300 --smoothing 2 --size-range 9,36")

    def test_forty_two_labels(self):
        summary = self.succeed_json("surface", self.data_file("vol/labels_122x101x30.nii.gz"),
                                    "--materials all --uniform 7 -o labels.msh")
        self.assertGreaterEqual(len(summary["materials"]), 39)  # the smallest is a single voxel
        for one in summary["materials"]:
            self.assertTrue(one["closed"] and one["manifold"] and one["oriented"], one)
        self.assert_fields(summary["surface"], self_intersections=0, boundary_edges=0)
