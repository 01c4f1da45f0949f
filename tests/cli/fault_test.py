"""Each allocation and each call of the file system fails once, and signals come at each: the command says so in one line,
and files are as they were."""

import errno
import itertools
import os
import random
import signal

from cli_case import CliCase
from fault_case import LIBRARY, Command
from small_files import write_nifti

FILE_CALLS = ("open", "read", "write", "sync", "rename", "close")
FOR_EVER = 10 ** 9
STEPS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]

# Each with the files that it writes.
COMMANDS = {
    "solve ../cube.vtu --source 0 -o a.vtu": ["a.vtu"],
    "solve ../cube.vtu --source 0,7 --each-source -o a.npy --matrix b.csv": ["a.npy", "b.csv"],
    "solve ../speed.nii --speed-array values --source 0 -o a.nii.gz": ["a.nii.gz"],
    "convert ../cube.vtu a.node": ["a.node", "a.ele"],
    "convert ../speed.nii a.npy": ["a.npy"],
    "path ../solved.vtu --to 100,124 -o a.vtp": ["a.vtp"],
    "path ../solved.vtu --to 100,124 -o a.csv": ["a.csv"],
    "surface ../ball.nii --isovalue 0 --uniform 2 -o a.ply": ["a.ply"],
    "surface ../ball.nii --isovalue 0 --uniform 2 --scheme published -o a.ply": ["a.ply"],
    "connect ../tensors.nii --tensor-order mrtrix --from voxels:1,2,1 --to voxels:6,2,1 -o a":
        ["a.json", "a_cost.nii.gz", "a_pathway.nii.gz", "a_path.tck", "a_path.vtp", "a_profile.csv"],
    "info ../cube.vtu ../speed.nii": [],
    "info ../solved.vtu ../tensors.nii --tensor-order mrtrix --json": [],
}


class Fault(CliCase):
    def setUp(self):
        super().setUp()
        if not LIBRARY:
            self.skipTest("the library with faults does not go with sanitizers")
        self.succeed("generate cube --n 5 -o cube.vtu")
        self.succeed("solve cube.vtu --source 0 -o solved.vtu")
        self.image("speed.nii", (6, 5, 4), lambda i, j, k: 1 + i % 3)
        self.image("ball.nii", (9, 9, 9), lambda i, j, k: 10 - (i - 4) ** 2 - (j - 4) ** 2 - (k - 4) ** 2)
        tensor = (1.7e-3, 0.4e-3, 0.4e-3, 0, 0, 0)
        self.image("tensors.nii", (8, 5, 3, 6), lambda i, j, k, c: tensor[c])

    def image(self, name, shape, value):
        values = [value(*reversed(place)) for place in itertools.product(*map(range, reversed(shape)))]
        write_nifti(self.folder / name, shape, STEPS, values)

    # ---- what every run must be

    def sizes(self, files):
        """Those of whole files; summaries have seconds in them."""
        return {name: len(content) for name, content in files.items() if not name.endswith(".json")}

    def assert_run(self, command, after, run, codes, said, late):
        """A run of a command whose files are `after` when nothing fails. Then all of them are there, or what was there
        before is; `late`: the work may be done when something fails."""
        status, (out, err), files, _ = run
        self.assertTrue(os.WIFEXITED(status), f"ended by signal {os.WTERMSIG(status)}")
        code = os.WEXITSTATUS(status)
        self.assertIn(code, (0, *codes))
        whole = files.keys() == after.keys()
        self.assertTrue(whole or files.keys() == command.before.keys(), sorted(files))
        if code == 0 or (late and files != command.before):
            self.assertEqual(self.sizes(files), self.sizes(after))
        else:
            self.assertTrue(files == command.before, "files have changed")
        if code != 0:
            self.assertEqual(out, "")
            errors = [line for line in err.splitlines() if not line.startswith("isochron: warning: ")]
            self.assertEqual(len(errors), 1)
            self.assertRegex(errors[0], "^isochron: error: .*" + said)

    def fail_each(self, command, calls, code, codes, said, most, lasting=(False,), late=False):
        """Runs a command with each call failing, it alone or all from there on; `most` of them are chosen where there
        are more: among the last ones, since parsing makes most of them."""
        status, printed, after, count = command.run(calls)
        self.assertEqual((status, sorted(after)), (0, sorted(command.files)), printed)
        numbers = range(max(1, count - 300), count + 1)
        if len(numbers) > most and not os.environ.get("ISOCHRON_ALL_FAULTS"):
            numbers = sorted(random.Random(count).sample(numbers, most))
        for number, stays in itertools.product(numbers, lasting):
            run = command.run(calls, number, FOR_EVER if stays else number, code)
            fault = f"{calls} {number} of {count}" + " and all later" * stays
            with self.subTest(command=command.words, fault=fault, err=run[1][1]):
                self.assert_run(command, after, run, codes, said, late)

    def commands(self):
        """Each, to new files and over old ones."""
        for words, files in COMMANDS.items():
            if words.startswith("surface") and not self.has_cgal():
                continue
            yield Command(self, words, files, {})
            if files:
                yield Command(self, words + " --force", files, {name: f"old {name}".encode() for name in files})

    def has_cgal(self):
        return "with CGAL" in self.succeed("--version").stdout

    # ---- what fails

    def test_memory(self):
        for command in self.commands():
            self.fail_each(command, "memory", errno.ENOMEM, (1, 3), "memory", 9, (False, True), late=True)

    def test_files(self):
        for command, calls in itertools.product(self.commands(), FILE_CALLS):
            code = errno.EIO if calls in ("read", "sync") else errno.ENOSPC
            self.fail_each(command, calls, code, (1, 3), r"\(.*\); ", 6, (False, True) if calls == "write" else (False,))

    def test_signals(self):
        for command in self.commands():
            for calls, most in (("memory", 9), (",".join(FILE_CALLS), 18)):
                self.fail_each(command, calls, -signal.SIGTERM, (130,), "interrupted$", most, late=True)
