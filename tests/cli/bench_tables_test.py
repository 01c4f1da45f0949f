"""isochron bench: every table runs to its end, and what does not depend on the clock is what it was.

Those of particles (002) are in bench_test.py."""

import os
import re
import unittest

from cli_case import CliCase


@unittest.skipIf(os.environ.get("ISOCHRON_SANITIZE"), "all tables take many minutes with a sanitizer")
class BenchTables(CliCase):
    def entries(self, arguments):
        """The entries of a table that was run quickly."""
        return self.succeed_json(f"bench {arguments} --quick")["entries"]

    def numbers(self, arguments):
        """Our numbers of a table that was run quickly, by row and column."""
        return {(entry["row"], entry["column"]): entry["ours"] for entry in self.entries(arguments)}

    def assert_near(self, numbers, wanted):
        """Counts depend on the last digits of times, which differ between compilers and machines: half a percent."""
        for key, value in wanted.items():
            self.assertAlmostEqual(numbers[key] / value, 1, delta=0.005, msg=key)

    def assert_run(self, beginnings, count):
        """At least so many tables that begin so run to their end, and each row has a number or says why not."""
        tables = [t["name"] for t in self.succeed_json("bench --list")["tables"] if t["name"].startswith(beginnings)]
        self.assertGreaterEqual(len(tables), count)
        for name in tables:
            if name == "goals-mpi":  # needs mpirun
                continue
            with self.subTest(name):
                for entry in self.entries(f"{name} --threads 2"):
                    self.assertTrue(entry["ours"] is not None or entry["remark"], entry)

    def test_tables_of_surfaces_run_to_their_end(self):
        self.assert_run(("000", "001"), 13)

    def test_tables_of_volumes_run_to_their_end(self):
        self.assert_run("003", 10)

    def test_tables_of_images_run_to_their_end(self):
        self.assert_run("004", 4)

    def test_tables_of_goals_run_to_their_end(self):
        self.assert_run(("goals", "gpu", "tuning", "scale"), 13)

    def test_counts_of_local_solves_are_what_they_were(self):
        square, sphere = "Mesh 1 square (4096 vertices)", "Mesh 3 sphere (4002 vertices)"
        self.assert_near(self.numbers("000-table-3.4"), {
            (square, "FMM"): 17.076, (square, "meshFIM-ST"): 14.365, (square, "banded (ours)"): 5.784,
            (sphere, "FMM"): 17.984, (sphere, "meshFIM-ST"): 14.790, (sphere, "banded (ours)"): 5.897})
        self.assert_near(self.numbers("000-table-2.1"), {(sphere, "synchronous"): 11.955,
                                                         (sphere, "asynchronous"): 11.768})
        work = self.numbers("goals-work")
        self.assert_near(work, {("13^3 cube isotropic", "banded"): 19.752, ("13^3 cube isotropic", "fim"): 59.178})
        for (row, column), calls in work.items():
            if column == "fim" and row.startswith("13^3"):
                self.assertLess(2.5 * work[row, "banded"], calls, row)
        rounds = self.numbers("003-table-4.9")
        for speed, iterations in ((2, 17), (3, 20)):
            self.assertAlmostEqual(rounds[f"17 Speed {speed} tetFIM-ST", "iterations"], iterations, delta=1)
        for speed in (2, 3):
            self.assertLess(rounds[f"17 Speed {speed} banded (ours)", "updates"], 1.06)

    def test_errors_and_orders_are_what_they_were(self):
        across = "Speed 1 exact start, diagonal across"
        errors = self.numbers("003-table-4.1")
        self.assert_near(errors, {(across, "17"): 6.4264, (across, "33"): 3.7342, (across, "33 order"): 0.78321,
                                  ("Speed 2 exact start, diagonal outward", "33"): 3.0586})
        for speed in (1, 2):
            self.assertLess(errors[f"Speed {speed} factored", "33"], 1e-6)
        figure = self.numbers("000-figure-3.3")
        self.assert_near(figure, {("32 x 32", "circles, exact sub-cell"): 0.056143,
                                  ("32 x 32", "circles, exact sub-cell: order"): 1.0698})

    def test_virtual_elements_cost_calls_where_corners_are_obtuse_alone(self):
        calls = self.numbers("000-table-3.4")
        obtuse, right = "Mesh 2 irregular square (4737 vertices)", "Mesh 1 square (4096 vertices)"
        for column in ("meshFIM-ST", "banded (ours)"):
            self.assertGreater(calls[obtuse, column + ", obtuse split"], 1.01 * calls[obtuse, column], column)
            self.assertEqual(calls[right, column + ", obtuse split"], calls[right, column], column)

    def test_smoother_noise_needs_calls_as_a_constant_speed_does(self):
        calls = self.numbers("000-figure-3.2")
        row = "1024 vertices"
        constant = calls[row, "meshFIM, constant"]
        self.assertGreater(calls[row, "meshFIM, N = 0"], 1.01 * constant)
        self.assertAlmostEqual(calls[row, "meshFIM, N = 100"] / constant, 1, delta=0.02)

    def test_sweeping_is_slower_than_bands_by_a_wide_margin(self):
        runs = [self.numbers("003-table-4.3") for _ in range(3)]  # the least: others may use the machine
        for speed in (1, 2, 3):
            bands, sweeps = (min(run[f"Speed {speed}", column] for run in runs) for column in ("banded (ours)", "FSM"))
            self.assertLess(5 * bands, sweeps, speed)

    def test_storages_are_fixed_points_of_their_own_updates(self):
        remarks = {entry["column"]: entry["remark"] for entry in self.entries("001-table-5 --threads 2")}
        for column, size in (("FIM, coordinates and M", 40), ("FIM, 18 products", 88), ("FIM, 6 lengths", 40)):
            found = re.match(r"(\d+) bytes per tet; residual (\S+) edges by its own update, (\S+) by", remarks[column])
            self.assertEqual(int(found[1]), size, column)
            self.assertLessEqual(float(found[2]), 1e-4, column)
            self.assertLessEqual(float(found[3]), 1e-4, column)
