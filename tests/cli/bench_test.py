"""isochron bench: what quick runs say of themselves, and the plot of a figure."""

import json
import pathlib
import subprocess
import sys

from cli_case import CliCase

PLOT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "plot_convergence.py"

GPU_TABLES = ("000-table-3.3", "000-table-3.4", "000-section-3.3.3", "003-table-4.5", "003-table-4.6", "003-table-4.7",
              "003-table-4.8", "003-table-4.9", "003-section-4.5.2", "001-table-5", "001-table-6", "001-table-7",
              "004-table-1", "004-section-5.2", "goals-connect", "gpu-goals", "gpu-grid-goals", "gpu-513")


class Bench(CliCase):
    def entries(self, arguments):
        """The entries of a table that was run quickly."""
        return self.succeed_json(f"bench {arguments} --quick")["entries"]

    def test_quick_runs_are_not_compared(self):
        text = self.succeed("bench 000-table-3.1 --quick -o out").stdout
        self.assert_has_all(text, "(quick: smaller meshes, not comparable)", "Mesh 1 square (4096 vertices)")
        self.assertNotIn("ours/paper", text)
        table = json.loads(self.read_text("out/000-table-3.1.json"))
        self.assertIs(table["quick"], True)
        self.assertIn("quick", table["title"])
        self.assertEqual({entry["paper"] for entry in table["entries"]}, {None})
        rows = self.rows("out/000-table-3.1.csv")
        self.assertEqual(len(rows), len(table["entries"]))
        for row in rows:
            self.assert_fields(row, quick="true", paper="")

    def meshes(self, name, published):
        """A table of meshes that was run quickly; `published(entry)`: the mesh is of the paper's scheme."""
        table = self.succeed_json(f"bench {name} --quick --threads 2 -o out")
        if not any(entry["column"].endswith("mean radius ratio") for entry in table["entries"]):
            self.assert_said("CGAL", table["notes"])
            self.skipTest("no CGAL")
        for entry in table["entries"]:
            self.assertIsNotNone(entry["ours"], entry)
            if entry["column"].endswith("mean radius ratio"):
                self.assertGreater(entry["ours"], 0.89 if published(entry) else 0.95, entry)
        return table

    def test_triangles_are_well_shaped(self):
        self.meshes("002-table-1", lambda entry: "paper" in entry["column"])

    def test_meshes_of_smaller_sizes_have_more_triangles(self):
        table = self.meshes("002-figure-6", lambda entry: True)
        counts = {column: [entry["ours"] for entry in table["entries"] if entry["column"] == column]
                  for column in ("particles", "triangles")}
        for column in counts.values():  # the densest first
            self.assertEqual(len(column), 3)
            self.assertEqual(column, sorted(column, reverse=True))
        self.assertEqual([picture["name"][-1] for picture in table["pictures"]], ["a", "b", "c", "d"])
        self.assert_pictures(table)

    def assert_pictures(self, table, least=4000):
        """The pictures of a table are files, and none is of one colour: it has this many bytes."""
        self.assertTrue(table["pictures"])
        for picture in table["pictures"]:
            content = (self.folder / "out" / (picture["name"] + ".png")).read_bytes()
            self.assertTrue(content.startswith(b"\x89PNG"))
            self.assertGreater(len(content), least, picture["name"])
            self.assertTrue(picture["caption"])
            colors = [entry["color"] for entry in picture["legend"].get("entries", [])]
            self.assertEqual(len(set(colors)), len(colors))

    def test_meshes_have_a_histogram_of_their_shapes(self):
        table = self.meshes("002-figure-9", lambda entry: "paper" in entry["row"])
        self.assert_pictures(table)
        triangles = [entry["ours"] for entry in table["entries"] if entry["column"] == "triangles"]
        self.assertEqual([sum(picture["legend"]["histogram"]) for picture in table["pictures"]], triangles)

    def test_pathways_of_tracts_are_drawn(self):
        for name, pictures in (("004-figure-6", 3), ("004-figure-7", 1), ("004-figure-9", 2)):
            with self.subTest(name):
                table = self.succeed_json(f"bench {name} --quick --threads 2 -o out")
                self.assertEqual(len(table["pictures"]), pictures)
                self.assert_pictures(table)
                value = {(entry["row"], entry["column"]): entry["ours"] for entry in table["entries"]}
                for (row, column), number in value.items():
                    if column == "pathway":
                        self.assertGreater(number, 5, row)
                if name != "004-figure-9":
                    self.assertGreater([number for (_, column), number in value.items() if column in
                                        ("surfaces of pathways", "glyphs")][-1], 40)

    def test_paths_of_the_helix_reach_the_seed_and_costs_are_of_a_tract(self):
        table = self.succeed_json("bench 004-figure-8 --quick --threads 2 -o out")
        self.assert_pictures(table, least=2000)  # a shell in place of the brain is small
        self.assertEqual([picture["caption"][:3] for picture in table["pictures"]], ["(a)", "(b)", "(b)", "(c)"])
        paths, = (entry for entry in table["entries"] if entry["column"] == "paths to the seed (ours)")
        self.assertEqual((paths["ours"], paths["unit"]), (150, "of 150"))
        table = self.succeed_json("bench 004-figure-2 --quick --threads 2 -o out")
        self.assert_pictures(table)
        self.assertRegex(table["pictures"][2]["caption"], r"\(c\) total cost u1 \+ u2 of the (corpus callosum genu|arch)")

    def test_particles_are_as_many_as_asked_for_on_any_number_of_threads(self):
        for table in ("002-table-2", "002-table-3", "002-table-4"):
            with self.subTest(table):
                entries = self.entries(f"{table} --threads 2")
                for entry in entries:
                    self.assertIsNotNone(entry["ours"], entry)
                counts = {(entry["row"], entry["column"]): entry["ours"] for entry in entries
                          if entry["column"].endswith(", particles")}
                for (row, column), count in counts.items():
                    if "1 thread," in column:
                        self.assertEqual(counts[row, column.replace("1 thread,", "2 threads,")], count, row)
                    if row.endswith("seeds"):
                        self.assertLessEqual(count, int(row.split()[0]) + 10)
                    if row.endswith("asked for"):
                        self.assertAlmostEqual(count / int(row.split()[0]), 1, delta=0.2)
                columns = {column for _, column in counts}
                self.assertEqual(len({entry["column"] for entry in entries}), 2 * len(columns))
                self.assert_has_all(columns, "1 thread, particles", "paper's scheme, 2 threads, particles")

    def test_quick_runs_at_the_papers_sizes_are_compared(self):
        table = self.succeed_json("bench 003-table-4.9 --quick")
        self.assertIs(table["quick"], True)
        self.assertIn("(quick: only the smallest meshes)", table["title"])
        self.assertIn(37, [entry["paper"] for entry in table["entries"]])

    def test_quick_goals_have_real_sizes_and_no_aims(self):
        entries = self.entries("goals-work")
        rows = {entry["row"] for entry in entries}
        self.assert_has_all(rows, "64 x 64 square", "13^3 cube isotropic")
        self.assertEqual({entry["paper"] for entry in entries}, {None})

    def test_gpu_tables_run_without_a_gpu(self):
        for name in GPU_TABLES:
            with self.subTest(name):
                entries = self.entries(f"{name} --gpu-only")
                self.assertTrue(entries)
                for entry in entries:
                    if entry["ours"] is None:
                        self.assertIn(entry["remark"], ("no GPU", "left out"), entry)

    def test_gpu_columns_stand_beside_those_of_the_cpu(self):
        columns = {entry["column"]: entry for entry in self.entries("000-table-3.3")}
        self.assertIsNotNone(columns["meshFIM-ST"]["ours"])
        self.assert_has_all(columns, "patchFIM, GPU", "push (ours), GPU", "patchFIM over FMM")

    def test_the_large_cube_is_compared_with_the_paper(self):
        papers = [entry["paper"] for entry in self.entries("gpu-513") if entry["column"] == "L1 error"]
        self.assertEqual(papers, [8.073934, 15.399447, 4.688324, 9.232588])

    def test_parameter_studies_vary_one_parameter_at_a_time(self):
        entries = self.entries("003-section-4.5.2")
        columns = [entry["column"] for entry in entries]
        self.assertEqual(columns.count("patch of 64, 3 inner"), len({entry["row"] for entry in entries}))
        self.assert_has_all(columns, "patch of 16, 3 inner", "patch of 64, 7 inner")
        self.assertNotIn("patch of 16, 7 inner", columns)

    def test_connections_and_threads_are_checked_and_timed(self):
        entries = self.entries("goals-connect --threads 2")
        on_cpu = [entry for entry in entries if entry["column"] == "CPU, 2 threads"]
        self.assertEqual([entry["unit"] for entry in on_cpu], ["ms", "s"])
        self.assertGreater(min(entry["ours"] for entry in on_cpu), 0)
        entries = self.entries("goals-grid-threads --threads 2")
        gains = [entry["ours"] for entry in entries if entry["column"] == "gain"]
        self.assertEqual(len(gains), len({entry["row"] for entry in entries}))
        self.assertGreater(min(gains), 0)

    def test_the_whole_way_is_timed_for_each_format(self):
        entries = self.entries("goals-end-to-end --threads 2")
        for entry in entries:
            self.assertGreater(entry["ours"], 0, entry)
        seconds = {(entry["row"], entry["column"]): entry["ours"] for entry in entries}
        rows = {row for row, _ in seconds}
        self.assertEqual({row.split(", ")[1] for row in rows}, {".vtu", ".vtk", ".msh", ".pts", ".node", ".mesh"})
        for row in rows:
            steps = sum(seconds[row, f"2 threads, {step}"] for step in ("read", "set-up", "solve", "write"))
            self.assertLessEqual(steps, seconds[row, "2 threads, whole"])

    def test_gradients_agree_and_are_timed(self):
        entries = self.entries("goals-gradients --threads 2")
        self.assertEqual(len({entry["row"] for entry in entries}), 6)
        for entry in entries:
            self.assertGreater(entry["ours"], 0, entry)

    def test_updates_give_the_times_of_a_solve(self):
        entries = self.entries("goals-update --threads 2")
        self.assertEqual(len({entry["row"] for entry in entries}), 5)
        for entry in entries:
            self.assertGreater(entry["ours"], 0, entry)

    def test_inversions_fit_their_times(self):
        entries = self.entries("goals-invert --threads 2")
        self.assertEqual(len({entry["row"] for entry in entries}), 2)
        found = {entry["column"]: entry["ours"] for entry in entries}
        self.assertNotIn(None, found.values())  # a row without figures has not fitted
        self.assertLess(found["worst place"], 2)
        self.assertGreater(found["correlation"], 0.5)

    def test_all_schemes_on_tensor_images_have_times(self):
        entries = self.entries("004-table-1 --threads 2")
        self.assertEqual(len({entry["row"] for entry in entries}), 3)
        for entry in entries:
            if "GPU" not in entry["column"]:
                self.assertIsNotNone(entry["ours"], entry)
        columns = [entry["column"] for entry in entries]
        for column in ("FS, Godunov", "FS, Lax-Friedrichs", "FIM, Godunov", "adaptive (ours), 1 thread",
                       "adaptive (ours), 2 threads", "FIM in blocks, GPU", "adaptive (ours), GPU"):
            self.assertEqual(columns.count(column), 3, column)

    def test_integers_and_hamiltonians_give_the_same_times(self):
        entries = self.entries("004-section-4.2 --threads 2")
        self.assertEqual([entry["column"] for entry in entries], ["integers", "Hamiltonians", "gain"] * 4)
        for entry in entries:
            self.assertIsNotNone(entry["ours"], entry)

    def test_tracts_of_the_phantom_are_found_both_ways(self):
        table = self.succeed_json("bench 004-figure-9 --quick --threads 2")
        value = {(entry["row"], entry["column"]): entry["ours"] for entry in table["entries"]}
        self.assertEqual({row for row, _ in value}, {"phantom brain, arch", "phantom brain, bundle left"})
        for row, _ in value:
            self.assertGreater(value[row, "path"], 40)
            self.assertGreater(value[row, "pathway"], 5)
        self.assertGreater(value["phantom brain, arch", "streamlines that join"], 20)
        again = self.entries("004-figure-9 --threads 1")
        self.assertEqual([entry["column"] for entry in again], [entry["column"] for entry in table["entries"]])

    def test_a_stand_in_for_the_brain_has_no_numbers_of_the_paper(self):
        rows = {entry["row"] for entry in self.entries("004-table-1 --threads 2")}
        self.assertTrue(any(row.startswith("In place of Example 3") for row in rows), rows)

    def test_strong_anisotropy_spoils_the_papers_schemes_and_not_ours(self):
        error = {(entry["row"], entry["column"]): entry["ours"] for entry in self.entries("004-anisotropy")}
        self.assertEqual(len(error), 5 * 4 * 2)
        self.assertAlmostEqual(error["1:1, 16^3", "order 1, largest"], error["1:1, 16^3", "godunov, largest"], places=3)
        for ratio in (5, 10, 30):
            ours, godunov, smeared = (error[f"{ratio}:1, 16^3", f"{scheme}, largest"]
                                      for scheme in ("order 1", "godunov", "lax-friedrichs"))
            self.assertLess(4 * ours, godunov)
            self.assertLess(4 * ours, smeared)

    def test_a_cost_model_needs_large_meshes(self):
        shares = [entry for entry in self.entries("000-cost-model") if entry["column"] == "k2/k1 here"]
        self.assertEqual(len(shares), 4)
        for entry in shares:
            self.assert_fields(entry, ours=None, remark="too small to fit")

    def test_a_quick_figure_is_not_plotted(self):
        self.succeed("bench 000-figure-3.3 --quick --quiet -o out")
        done = subprocess.run([sys.executable, PLOT, "out/000-figure-3.3.csv", "plot.svg"], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("without --quick", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse((self.folder / "plot.svg").exists())

    def test_scale_is_fitted_to_measured_runs(self):
        head = ("mesh,ranks,parts_per_rank,vertices,elements,bands,rounds,messages,bytes,pushes,work_seconds,"
                "solve_seconds\n")
        self.write("runs.csv", head + "cube,1,1,1e6,6e6,100,102,0,0,1e6,2,2\n"
                                      "cube,2,1,1e6,6e6,100,102,400,1e6,1e6,1.1,1.2\n")
        table = self.succeed_json("bench scale --quick --runs runs.csv -o out")
        measured = [entry for entry in table["entries"] if entry["row"].startswith("measured")]
        self.assertEqual([entry["paper"] for entry in measured], [2, 1.2])
        for entry in measured:
            self.assertAlmostEqual(entry["ours"] / entry["paper"], 1, delta=0.05)
        self.assertTrue(any(note.startswith("fit: mean error") for note in table["notes"]))
        for row in self.rows("out/scale-grid.csv"):
            parts = [float(row[name]) for name in ("ideal", "repeats", "imbalance", "fill", "latency", "bandwidth", "reductions")]
            self.assertAlmostEqual(sum(parts) / float(row["seconds"]), 1, delta=0.01)
            self.assertTrue(0 < float(row["efficiency"]) <= 1, row)
        self.write("runs.csv", head + "cube,two,1,1e6\n")
        self.expect(3, "bench scale --quick --runs runs.csv", words=["runs.csv:2", "ranks is 'two'"])
        self.expect(2, "bench goals-work --runs runs.csv", words="do not go with goals-work")
        self.expect(2, "bench 002-table-2 --particles .", words=("--particles", "does not go with 002-table-2"))
        self.expect(3, "bench 002-table-1 --particles none", words="none: is not a folder")
        self.expect(2, "bench scale --quick --machine speed=3", words=["'speed=3' is no cost", "latency"])
