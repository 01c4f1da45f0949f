"""Limits of time and memory, and readers of the output that leave early."""

import os
import resource
import signal
import subprocess
import time

from cli_case import BINARY, CliCase
from small_files import write_nifti

STEPS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]


class Limit(CliCase):
    def slow_solve(self):
        self.succeed("generate cube --n 30 --random-tensors 0,0.1,100 -o a.msh --quiet")
        return "solve a.msh -o out.msh --source 0 --metric-array metric --method fsm --threads 1 --source-init plain"

    def big_image(self):
        """The header of 8 GB, in a file of as many bytes that takes no room on the disk."""
        write_nifti(self.folder / "big.nii", (1, 1, 1), STEPS, [1.0])
        with open(self.folder / "big.nii", "r+b") as file:
            file.seek(42)
            file.write(b"".join(size.to_bytes(2, "little") for size in (2000, 1000, 1000)))
            file.truncate(352 + 4 * 2 * 10 ** 9)

    # ---- time

    def test_the_time_limit_ends_the_work(self):
        solve = self.slow_solve()
        started = time.monotonic()
        self.expect(124, solve, "--time-limit 1", words=("not done within 1 s", "--time-limit"))
        self.assertLess(time.monotonic() - started, 20)
        self.write("out.msh", "old")
        self.expect(124, "--time-limit 0.5", solve, "--force --json", words="not done within 0.5 s")
        self.assertEqual(self.read_text("out.msh"), "old")

    def test_the_time_limit_ends_reading(self):
        os.mkfifo(self.folder / "a.off")
        self.expect(124, "info a.off --time-limit 0.3", words="not done within 0.3 s")

    def test_work_within_its_limits_is_as_ever(self):
        limits = "--time-limit 1e12 --memory-limit 1"
        self.succeed("generate square --n 20 -o a.vtu", limits)
        self.succeed("solve a.vtu -o b.vtu --source 0", limits)
        self.succeed("solve a.vtu -o c.vtu --source 0")
        self.assertEqual(self.read_bytes("b.vtu"), self.read_bytes("c.vtu"))

    def test_limits_are_positive_numbers(self):
        for option in ("--time-limit", "--memory-limit"):
            for value in ("0", "-1", "nan", "1x", ""):
                self.expect(2, f"info --formats {option}={value}", words=option)

    # ---- memory

    def need_own_allocator(self):
        if os.environ.get("ISOCHRON_SANITIZE"):
            self.skipTest("sanitizers end the process when there is no memory")

    def test_the_memory_limit_refuses_a_file_that_announces_more(self):
        self.need_own_allocator()
        self.big_image()
        self.expect(3, "info big.nii --memory-limit 0.5", words=("big.nii", "not enough memory"))

    def test_the_memory_limit_ends_work_that_needs_more(self):
        self.need_own_allocator()
        self.expect(1, "generate cube --n 300 -o a.vtu --memory-limit 0.1",
                    words=("out of memory", "limited to 0.1 GB", "--memory-limit"))

    def test_the_memory_limit_does_not_grow_with_stacks(self):
        self.need_own_allocator()
        large = lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, resource.RLIM_INFINITY))
        done = self.expect(1, "generate cube --n 100 -o a.vtu --memory-limit 0.02 --threads 2", preexec_fn=large,
                           words=("out of memory", "give it less to do"))
        self.assertNotIn("precision", done.stderr)
        self.succeed("generate cube --n 60 -o a.vtu")
        self.expect(1, "solve a.vtu -o b.vtu --source 0 --memory-limit 0.12 --threads 2", words="--precision single")

    # ---- readers that leave early

    def test_a_reader_that_leaves_ends_the_command_in_silence(self):
        self.succeed("generate square --n 3 -o a.vtu")
        for arguments in (["info", "a.vtu"], ["solve", "--help"], ["--version"]):
            ours, theirs = os.pipe()
            os.close(ours)
            with subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdout=theirs, stderr=subprocess.PIPE) as process:
                os.close(theirs)
                _, err = process.communicate(timeout=100)
            self.assertEqual((process.returncode, err), (-signal.SIGPIPE, b""))

    def test_warnings_that_nobody_waits_for_lose_nothing(self):
        self.succeed("generate square --n 3 -o a.vtu")
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run([BINARY, *"solve a.vtu --source 0 --band-width 1 --method fim -o b.vtu".split()],
                              cwd=self.folder, stderr=theirs, stdout=subprocess.DEVNULL, check=False)
        os.close(theirs)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.files(), ["a.vtu", "b.vtu"])
