"""Ctrl-C and the progress line, on a solve that is slow on purpose."""

import os
import pty
import select
import signal
import subprocess
import time

from cli_case import BINARY, CliCase

SLOW = ("--source", "0", "--metric-array", "metric", "--method", "fsm", "--threads", "1", "--source-init", "plain")


class Interrupt(CliCase):
    def setUp(self):
        super().setUp()
        self.succeed("generate", "cube", "--n", "36", "--random-tensors", "0,0.1,100", "-o", "a.msh", "--quiet")

    def start(self, **options):
        return subprocess.Popen([BINARY, "solve", "a.msh", "-o", "out.msh", *SLOW], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, **options)

    def interrupted_by(self, number, after):
        before = self.files()
        with self.start(stderr=subprocess.PIPE) as process:
            time.sleep(after)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(err, "isochron: error: interrupted\n")
        self.assertEqual(out, "")
        self.assertEqual(self.files(), before)

    def test_ctrl_c_while_solving_leaves_nothing(self):
        self.interrupted_by(signal.SIGINT, 2.5)

    def test_terminate_while_solving_leaves_nothing(self):
        self.interrupted_by(signal.SIGTERM, 2.5)

    def test_ctrl_c_while_reading_leaves_nothing(self):
        self.interrupted_by(signal.SIGINT, 0.3)

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
        with self.start(stderr=theirs) as process:
            os.close(theirs)
            shown = self.read_terminal(ours, b" left", 60)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        os.close(ours)
        self.assertEqual(process.returncode, 130)
        self.assertIn(b"reading a.msh", shown)
        self.assertIn(b"solving", shown)
        self.assertIn(b" %, about ", shown)
