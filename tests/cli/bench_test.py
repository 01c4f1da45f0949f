"""isochron bench: what quick runs say of themselves, and the plot of a figure."""

import csv
import json
import pathlib
import subprocess
import sys

from cli_case import CliCase

PLOT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "plot_convergence.py"


class Bench(CliCase):
    def test_quick_runs_are_not_compared(self):
        text = self.succeed("bench", "000-table-3.1", "--quick", "-o", "out").stdout
        self.assertIn("(quick: smaller meshes, not comparable)", text)
        self.assertIn("Mesh 1 square (4096 vertices)", text)
        self.assertNotIn("ours/paper", text)
        table = json.loads((self.folder / "out/000-table-3.1.json").read_text(encoding="utf-8"))
        self.assertIs(table["quick"], True)
        self.assertIn("quick", table["title"])
        self.assertTrue(table["entries"])
        for entry in table["entries"]:
            self.assertIsNone(entry["paper"])
        with open(self.folder / "out/000-table-3.1.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(table["entries"]))
        for row in rows:
            self.assertEqual((row["quick"], row["paper"]), ("true", ""))

    def test_quick_runs_at_the_papers_sizes_are_compared(self):
        table = self.succeed_json("bench", "003-table-4.9", "--quick")
        self.assertIs(table["quick"], True)
        self.assertIn("(quick: only the smallest meshes)", table["title"])
        self.assertIn(37, [entry["paper"] for entry in table["entries"]])

    def test_quick_goals_have_real_sizes_and_no_aims(self):
        table = self.succeed_json("bench", "goals-work", "--quick")
        rows = {entry["row"] for entry in table["entries"]}
        self.assertIn("64 x 64 square", rows)
        self.assertIn("13^3 cube isotropic", rows)
        self.assertEqual({entry["paper"] for entry in table["entries"]}, {None})

    def test_a_cost_model_needs_large_meshes(self):
        table = self.succeed_json("bench", "000-cost-model", "--quick")
        shares = [entry for entry in table["entries"] if entry["column"] == "k2/k1 here"]
        self.assertEqual(len(shares), 4)
        for entry in shares:
            self.assertEqual((entry["ours"], entry["remark"]), (None, "too small to fit"))

    def test_a_quick_figure_is_not_plotted(self):
        self.succeed("bench", "000-figure-3.3", "--quick", "--quiet", "-o", "out")
        done = subprocess.run([sys.executable, PLOT, "out/000-figure-3.3.csv", "plot.svg"], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("without --quick", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse((self.folder / "plot.svg").exists())
