"""Images behind `isochron view`: tensors and volumes, as a browser asks for them."""

import gzip
import math
import os
import pathlib
import re
import subprocess
import sys
import threading

from cli_case import BINARY
from small_files import npy
from view_case import ViewCase


class ViewImages(ViewCase):
    def setUp(self):
        super().setUp()
        self.succeed("generate crossing-fibers --n 24 -o fibers.nii.gz")
        self.succeed("generate phantom --n 32 -o heart.nii.gz")

    def test_two_regions_of_a_tensor_image_are_joined(self):
        self.start("fibers.nii.gz")
        entry = self.data_sets()[0]
        self.assert_fields(entry, kind="tensors", shape=[24, 24, 24], solvable=True)
        low, high = entry["bounds"]
        fa = self.read("volume/fa")[1]["values"]
        self.assertEqual(len(fa), 24 ** 3)
        self.assertTrue(0.3 < max(fa) <= 1)
        self.assertEqual(len(self.read("volume/direction")[1]["values"]), 3 * 24 ** 3)

        middle = [(a + b) / 2 for a, b in zip(low, high)]
        at = lambda share: [low[0] + share * (high[0] - low[0]), *middle[1:]]
        ends = {"from": {"point": at(0.1), "radius": 2}, "to": {"point": at(0.9), "radius": 2}}
        meta, arrays = self.post("connect", name="across", seq=1, **ends)
        self.assertEqual(meta["seq"], 1)
        path = [arrays["path"][i:i + 3] for i in range(0, len(arrays["path"]), 3)]
        length = sum(math.dist(a, b) for a, b in zip(path, path[1:]))
        self.assertAlmostEqual(meta["length"], length, delta=1e-3 * length)
        self.assertEqual(len(arrays["profile_fa"]), len(path))
        self.assertGreater(len(arrays["tube_triangles"]), 0)
        self.assertGreater(len(arrays["pathway_triangles"]), 0)

        cost = self.read("volume/cost?client=test&name=across")[1]["values"]
        self.assertAlmostEqual(min(cost), meta["least_cost"], delta=1e-3 * meta["least_cost"])
        self.cost_is_that_of_connect(meta, ends)
        for field, value, words in (("alpha", -1, "0 to 20"), ("alpha", 1000, "0 to 20"), ("epsilon", -0.1, "0 or more"),
                                    ("from", {**ends["from"], "radius": -1}, "0 or more")):
            wrong = {"name": "across", **ends, field: value}
            self.assertIn(words, self.refused(400, "POST", "connect", wrong))
        self.assertEqual(self.post("glyphs", name="across", most=20)[0]["glyphs"], min(20, meta["voxels"]))

        def saved(**fields):
            status, headers, body = self.ask("POST", "export", {"client": "test", "name": "across", **fields})
            self.assertEqual(status, 200, body[:300])
            name = headers["Content-Disposition"].split('"')[1]
            self.write(name, body)
            return name

        self.assertEqual(len((self.folder / saved(format="csv")).read_text().splitlines()), len(path) + 1)
        name = saved(format="tck")
        self.assertEqual(name, "fibers-across-path.tck")
        self.assertIn(str(len(path)), self.succeed(f"info {name}").stdout)
        self.assertEqual(saved(format="nii.gz", what="cost"), "fibers-across-cost.nii.gz")
        self.succeed("info fibers-across-cost.nii.gz")
        self.assertEqual(len(gzip.decompress(self.read_bytes("fibers-across-cost.nii.gz"))), 352 + 4 * 24 ** 3)
        for status, question, body, words in (
                (400, "export", {"client": "test", "name": "across", "format": "exe"}, "tck, vtp, csv, nii.gz"),
                (422, "export", {"client": "test", "name": "other", "format": "tck"}, "no pathway 'other'"),
                (422, "connect", {"name": "x", "from": ends["from"], "to": ends["from"]}, "overlap"),
                (400, "connect", {"name": "x", "from": ends["from"]}, "'to' is missing")):
            self.assertIn(words, self.refused(status, "POST", question, body))
        self.assertIn("no pathway", self.refused(422, "GET", "volume/cost?client=test&name=other"))
        self.names_are_needed(ends)
        self.assertEqual(self.status("POST", "solve", {}), 404)
        self.alive()

    def cost_is_that_of_connect(self, meta, ends):
        ball = lambda region: f"sphere:{','.join(map(str, region['point']))},{region['radius']}"
        told = self.succeed_json("connect fibers.nii.gz --from", ball(ends["from"]), "--to", ball(ends["to"]), "-o out")
        self.assertAlmostEqual(meta["cost"], told["cost"], delta=1e-6 * told["cost"])
        self.assertAlmostEqual(meta["least_cost"], told["least_sum"], delta=1e-6 * told["cost"])

    def names_are_needed(self, ends):
        """Of pathways that are asked about, and of those that are made."""
        for body in (ends, {**ends, "name": ""}):
            self.assertIn("'name' is missing", self.refused(400, "POST", "connect", {"client": "c", **body}))
        self.assertIn("did you mean 'name'?", self.refused(400, "POST", "connect", {"client": "c", "nam": "x", **ends}))
        self.post("connect", name="second", **ends)
        for method, question, body in (("POST", "glyphs", {"client": "test"}), ("POST", "remove", {"client": "test"}),
                                       ("POST", "export", {"client": "test", "format": "tck"}),
                                       ("GET", "volume/cost?client=test", None)):
            said = self.refused(400, method, question, body)
            self.assertEqual(said, "'name' is missing (of which pathway?); this client has 'across', 'second'", question)
        self.assertIn("connect regions first", self.refused(400, "POST", "glyphs", {"client": "nobody"}))

    def test_small_files_that_unpack_to_more_than_the_limit_are_refused(self):
        for name, begin, rest in (("zeros.npy.gz", npy((400, 400, 400), []), bytes(4 * 400 * 400)),
                                  ("many.off.gz", b"OFF\n9 1 0\n", b"\n" * 640000)):
            with gzip.open(self.folder / name, "wb", 1) as file:  # 256 MB, of which this process never holds much
                file.write(begin)
                for _ in range(400):
                    file.write(rest)
            self.assertLess((self.folder / name).stat().st_size, 2_000_000)
            # A process of its own looks: what a program uses at most counts that of the one it is started from.
            look = ("import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)")
            done = subprocess.run([sys.executable, "-c", look, BINARY, "view", "--no-browser", name, "--max-size", "0.03"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=240)
            self.assert_failed(done, 3, [f"{name}: unpacks to more", "files up to 30.0 MB", "--max-size"])
            if not os.environ.get("ISOCHRON_SANITIZE"):
                self.assertLess(int(done.stdout), 150_000, "kilobytes in use")

    def test_the_surface_of_a_volume_comes_with_its_particles(self):
        self.start("heart_density.nii.gz")
        entry = self.data_sets()[0]
        self.assert_fields(entry, kind="volume", shape=[32, 32, 32])
        if not entry["solvable"]:
            self.skipTest(entry["why"])
        meta, arrays = self.read("histogram")
        self.assertEqual(sum(arrays["counts"]), 32 ** 3)
        wanted = {"isovalue": (meta["low"] + meta["high"]) / 2, "uniform": 2}
        seen = []
        made = threading.Event()

        def look():
            while not made.wait(0.02):
                seen.append(self.read("surface/particles?client=test")[0]["count"])

        watching = threading.Thread(target=look)
        watching.start()
        try:
            meta, arrays = self.post("surface", **wanted)
        finally:
            made.set()
            watching.join()
        self.assertEqual(len(arrays["points"]), 3 * meta["vertices"])
        self.assertEqual(len(arrays["quality"]), meta["triangles"])
        self.assertEqual(sum(arrays["histogram"]), meta["triangles"])
        self.assertGreater(meta["quality"]["mean"], 0.8)
        last = self.read("surface/particles?client=test")[0]
        self.assert_fields(last, count=meta["particles"], iteration=meta["iterations"])
        status, headers, body = self.ask("POST", "export", {"client": "test", "format": "stl"})
        self.assertEqual((status, len(body)), (200, 84 + 50 * meta["triangles"]))
        self.assertEqual(headers["Content-Disposition"], 'attachment; filename="heart_density-surface.stl"')
        self.assertIn("no surface yet", self.refused(422, "POST", "export", {"client": "other", "format": "stl"}))
        self.assertIn("ply", self.refused(400, "POST", "export", {"client": "test", "format": "exe"}))
        brush = {"point": arrays["points"][:3], "radius": 5, "factor": 0.5}
        self.assertGreater(self.post("surface", brush=[brush], **wanted)[0]["vertices"], meta["vertices"])
        self.assertIn("0.05 to 20", self.refused(400, "POST", "surface",
                                                 {**wanted, "brush": [{**brush, "factor": 100}]}))
        self.alive()

    def test_all_questions_and_answers_are_described(self):
        pages = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference"
        text = (pages / "viewer-api.md").read_text(encoding="utf-8")
        self.succeed("generate cube --n 4 -o cube.vtk")
        self.start("cube.vtk fibers.nii.gz heart_density.nii.gz")
        mesh, tensors, volume = self.data_sets()
        for entry in (mesh, tensors, volume):
            for question in entry["questions"]:
                self.assertRegex(text, rf"`{re.escape(question)}[`?]")
        self.assertIn("POST reload", mesh["questions"])
        (x, y, z), high = tensors["bounds"]
        ends = {"from": {"point": [x + 8, y + 8, z + 8]}, "to": {"point": [c - 8 for c in high]}, "name": "n"}
        levels = [0.4, 0.6]
        answers = [self.read("geometry"), self.solve([{"vertex": 0}], isochrones={}),
                   self.post("path", to={"vertex": 7}), self.post("isosurface", levels=levels),
                   self.post("clip", point=[0.5, 0.5, 0.5], normal=[1, 0, 0], levels=levels),
                   self.read("/api/datasets/1/volume/fa"), self.read("/api/datasets/1/volume/direction"),
                   self.post("/api/datasets/1/connect", **ends), self.post("/api/datasets/1/glyphs", name="n"),
                   self.read("/api/datasets/1/volume/cost?client=test&name=n"), self.read("/api/datasets/2/histogram"),
                   self.read("/api/datasets/2/volume/values"), self.read("/api/datasets/2/surface/particles?client=test")]
        if volume["solvable"]:
            answers.append(self.post("/api/datasets/2/surface", isovalue=50, uniform=4))
        names = {*mesh, *tensors, *volume}.union(*(part for answer in answers for part in answer))
        self.assertGreater(len(names), 60)
        self.assertEqual([name for name in sorted(names) if f"`{name}`" not in text], [])

    def test_what_cannot_be_shown_is_refused_before_anything_is_served(self):
        self.expect(3, "view --no-browser fibers.nii.gz --mask heart.nii.gz", words="heart.nii.gz")
        self.expect(3, "view --no-browser nothing.nii.gz", words="nothing.nii.gz")
        self.expect(2, "view --no-browser heart_density.nii.gz --mask heart_density.nii.gz",
                    words=["--mask", "no file is an image of tensors"])

    def test_volumes_without_a_surface_are_shown_and_said(self):
        for name, value in (("five.npy", 5), ("nan.npy", math.nan)):
            self.write(name, npy((4, 4, 4), [value] * 64))
        process = self.start("five.npy nan.npy")
        five, nan = self.data_sets()
        self.assertIn("all values are 5", five["why"])
        self.assertIn("no voxel has a number", nan["why"])
        self.assertEqual((five["units"], five["solvable"], nan["solvable"]), ("", False, False))
        meta, arrays = self.read("histogram")
        self.assertEqual((meta["low"], meta["high"], arrays["counts"][0], sum(arrays["counts"])), (5, 5, 64, 64))
        meta, arrays = self.read("/api/datasets/1/histogram")
        self.assertEqual((meta["low"], meta["not_finite"], sum(arrays["counts"])), (None, 64, 0))
        self.assertEqual(self.read("volume/values")[1]["values"], (5,) * 64)
        for data, words in ((0, "all values are 5"), (1, "no voxel has a number")):
            self.assertIn(words, self.refused(422, "POST", f"/api/datasets/{data}/surface", {"isovalue": 5}))
        process.terminate()
        lines = process.communicate(timeout=30)[1].splitlines()
        self.assertEqual([line.split(" (")[0] for line in lines],
                         ["isochron: warning: five.npy: can only be looked at: all values are 5, so no surface lies between them; "
                          "give another image", "isochron: warning: nan.npy: can only be looked at: no voxel has a number"])
