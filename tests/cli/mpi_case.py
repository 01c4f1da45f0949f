"""What tests of the command under mpirun share."""

import json
import os
import pathlib
import shutil
import subprocess

from cli_case import BINARY, CliCase

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


class MpiCase(CliCase):
    """Runs the command under mpirun."""

    def setUp(self):
        super().setUp()
        if "with MPI" not in self.succeed("--version").stdout:
            self.skipTest("this build has no MPI")
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")

    def command(self, ranks, *arguments):
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), BINARY, *map(str, arguments)]

    def over_ranks(self, ranks, *arguments):
        return subprocess.run(self.command(ranks, *arguments), cwd=self.folder, text=True, capture_output=True,
                              timeout=240, stdin=subprocess.DEVNULL, env=ENVIRONMENT)

    def summary(self, ranks, *arguments):
        done = self.over_ranks(ranks, *arguments, "--json", "--verify", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)  # only one rank speaks, or this fails

    def fail_over_ranks(self, code, *arguments, words=()):
        """One line of ours on stderr (mpirun adds its own), the exit code, and no file."""
        before = self.files()
        done = self.over_ranks(3, *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        ours = [line for line in done.stderr.splitlines() if "isochron: error: " in line]
        self.assertEqual(len(ours), 1, done.stderr)
        for word in words:
            self.assertIn(word, ours[0])
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.files(), before)

    def rank_processes(self, launcher):
        """The ranks' process ids by rank, once all are there."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                environment = (entry / "environ").read_bytes().split(b"\0")
            except (OSError, IndexError, ValueError):
                continue
            ranks = [e for e in environment if e.startswith(b"OMPI_COMM_WORLD_RANK=")]
            if parent == launcher and ranks:
                found[int(ranks[0].split(b"=")[1])] = int(entry.name)
        return found
