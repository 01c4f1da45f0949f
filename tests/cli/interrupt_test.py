"""Ctrl-C and the progress line, on a solve that is slow on purpose."""

import itertools
import os
import pty
import re
import select
import signal
import subprocess
import time

from cli_case import BINARY, CliCase, words_of
from small_files import write_nifti

SLOW = "solve a.msh -o out.msh --source 0 --metric-array metric --method fsm --threads 1 --source-init plain"


class Interrupt(CliCase):
    def setUp(self):
        super().setUp()
        self.succeed("generate cube --n 36 --random-tensors 0,0.1,100 -o a.msh --quiet")

    def test_ctrl_c_while_solving_leaves_nothing(self):
        self.interrupt(signal.SIGINT, 2.5, SLOW)

    def test_terminate_while_solving_leaves_nothing(self):
        self.interrupt(signal.SIGTERM, 2.5, SLOW)

    def test_ctrl_c_while_reading_leaves_nothing(self):
        self.interrupt(signal.SIGINT, 0.3, SLOW)

    def read_terminal(self, descriptor, wanted, seconds):
        """What the terminal shows until it has the wanted text."""
        shown, end = b"", time.monotonic() + seconds
        while wanted not in shown and time.monotonic() < end:
            if select.select([descriptor], [], [], 0.5)[0]:
                try:
                    shown += os.read(descriptor, 4096)
                except OSError:  # the other end is closed
                    break
        return shown

    def test_progress_with_time_left_on_a_terminal(self):
        ours, theirs = pty.openpty()
        with subprocess.Popen([BINARY, *words_of([SLOW])], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=theirs) as process:
            os.close(theirs)
            shown = self.read_terminal(ours, b" left", 60)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        os.close(ours)
        self.assertEqual(process.returncode, 130)
        self.assert_has_all(shown, b"reading a.msh", b"solving", b" %, about ")

    def test_stages_of_a_surface_count_as_parts_of_the_whole(self):
        inside = lambda p: sum((x - 11) ** 2 for x in p) < 81
        values = [0 if not inside(p) else 1 + p[0] // 11 for p in itertools.product(range(23), repeat=3)]
        write_nifti(self.folder / "a.nii", (23, 23, 23), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], values)
        ours, theirs = pty.openpty()
        command = "surface a.nii --materials all --uniform 0.35 --threads 1 -o a.vtu"
        with subprocess.Popen([BINARY, *words_of([command])], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                              stderr=theirs) as process:
            os.close(theirs)
            shown = self.read_terminal(ours, b"examining", 60).decode(errors="replace")
            process.communicate(timeout=60)
        os.close(ours)
        if "CGAL" in shown:
            self.skipTest("built without CGAL")
        self.assertEqual(process.returncode, 0, shown)
        shares = [int(share) for share in re.findall(r" … (\d+) %", shown)]
        self.assertEqual(shares, sorted(shares))
        self.assertGreaterEqual(shares[-1], 60)
