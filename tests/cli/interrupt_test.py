"""Ctrl-C and the progress line, on a solve that is slow on purpose."""

import os
import pty
import select
import signal
import subprocess
import time

from cli_case import BINARY, CliCase, words_of

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
