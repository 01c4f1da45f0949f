"""Help, version, usage errors, and what every command has."""

import os
import shutil
import subprocess

from cli_case import BINARY, CliCase


class General(CliCase):
    COMMANDS = ("generate", "info", "convert", "solve", "path", "bench")

    def test_version(self):
        done = self.succeed("--version")
        self.assertRegex(done.stdout, r"^isochron \d+\.\d+\.\d+, (with|without) VTK")
        if shutil.which("ldd") and b"libmetis" in subprocess.run(["ldd", BINARY], capture_output=True, check=False).stdout:
            self.assertIn(", with METIS", done.stdout)
        netgen = os.path.join(os.path.dirname(BINARY), "isochron-netgen")
        self.assertEqual(", with Netgen" in done.stdout, os.path.exists(netgen) or bool(shutil.which("isochron-netgen")))
        self.assertEqual(done.stderr, "")

    def test_help_names_the_commands(self):
        text = self.succeed("--help").stdout
        for command in self.COMMANDS:
            self.assertIn(command, text)

    def test_help_of_each_command_has_an_example(self):
        for command in self.COMMANDS:
            done = self.succeed(f"{command} --help")
            self.assertIn("Example:\n  isochron " + command, done.stdout)
            self.assertEqual(done.stderr, "")

    def test_help_of_each_kind_of_mesh_has_an_example(self):
        for kind in ("square", "irregular-square", "cube", "irregular-cube", "sphere", "ventricle", "lens", "blobs"):
            self.assertIn("Example:\n  isochron generate " + kind, self.succeed(f"generate {kind} --help").stdout)

    def test_no_command_is_a_usage_error(self):
        self.expect(2, words=("no command given", *self.COMMANDS, "isochron --help"))
        self.expect(2, "--quiet", words="no command given")

    def test_unknown_command_is_a_usage_error(self):
        self.expect(2, "slove", words=("unknown command 'slove'", "solve"))

    def test_no_kind_is_a_usage_error(self):
        self.expect(2, "generate", words=("no kind given", "irregular-cube", "ventricle", "isochron generate --help"))
        self.expect(2, "generate cubee -o a.msh", words=("unknown kind 'cubee'", "cube,"))
        self.expect(2, "generate --frobnicate", words=("--frobnicate", "isochron generate --help"))

    def test_unknown_option_is_a_usage_error(self):
        self.expect(2, "info --frobnicate", words=("--frobnicate", "isochron info --help"))

    def test_missing_value_is_a_usage_error(self):
        self.expect(2, "solve a.msh -o", words=("--output has no value", "FILE"))

    def test_option_given_twice_is_a_usage_error(self):
        self.expect(2, "generate cube -o a.msh --n 3 --n 4", words="--n is given more than once")

    def test_numbers_are_decimal_and_whole(self):
        for text in ("1x", "0x10", "-3", "", "1.5", "99999999999999999999999"):
            self.expect(2, f"generate square -o a.msh --n={text}", words="--n")

    def test_leading_zeros_are_not_octal(self):
        self.assertEqual(self.succeed_json("generate square -o a.msh --n 010")["vertices"], 100)

    def test_threads_are_limited(self):
        self.expect(2, "generate square -o a.msh --threads 5000", words=("--threads", "5000"))
        self.expect(2, "generate square -o a.msh --threads=-1", words="--threads")

    def test_common_options_may_come_first(self):
        done = self.succeed("--quiet generate square --n 3 -o a.msh")
        self.assertEqual(done.stdout + done.stderr, "")

    def test_full_stdout_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BINARY, "info", "--formats"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assert_failed(done, 1, ("standard output",))

    def test_warnings_that_nobody_can_read_lose_nothing(self):
        self.succeed("generate square --n 3 -o a.vtu")
        solve = f"'{BINARY}' solve a.vtu --source 0 --band-width 1 --method fim -o b.vtu --force"
        want = self.succeed("solve a.vtu --source 0 --band-width 1 --method fim -o want.vtu")
        self.assertIn("warning", want.stderr)
        for error in ("/dev/full", "&-"):
            done = subprocess.run(["bash", "-c", f"{solve} 2>{error}"], cwd=self.folder, stdout=subprocess.PIPE,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, error)
            self.assertEqual((self.folder / "b.vtu").read_bytes(), (self.folder / "want.vtu").read_bytes())
            done = subprocess.run(["bash", "-c", f"'{BINARY}' info no-such-file 2>{error}"], cwd=self.folder,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 3, error)
        done = subprocess.run(["bash", "-c", f"'{BINARY}' info a.vtu >&-"], cwd=self.folder, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)

    def test_control_characters_of_names_are_spelled_out(self):
        self.write("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
        name = "a\x1b]0;pwned\x07\u009b31m.off"
        (self.folder / "a.off").rename(self.folder / name)
        done = self.succeed("info", [name])
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertNotIn("\u009b", done.stdout + done.stderr)
        self.assertIn("a\\x1b]0;pwned\\x07\\x9b31m.off", done.stdout)
        failed = self.run_isochron("info", [name + ".no"])
        self.assertNotIn("\x1b", failed.stderr)

    def test_bench_lists_its_tables(self):
        listed = self.succeed("bench --list").stdout
        for table in self.succeed_json("bench --list")["tables"]:
            self.assert_has_all(listed, table["name"], table["what"])

    def test_bench_needs_a_folder(self):
        self.write("a.txt", "precious")
        self.expect(3, "bench 000-table-2.1 --quick -o a.txt", words=("a.txt", "not a folder"))

    def test_unknown_bench_is_a_usage_error(self):
        self.expect(2, "bench no-such-table", words=("no-such-table", "--list"))
        self.expect(2, "bench", words=("no table given", "003-table-4.1", "--list"))

    def test_runs_without_home_and_locale(self):
        environment = {"PATH": os.environ.get("PATH", "/usr/bin"), "LC_ALL": "C"}
        if "LD_LIBRARY_PATH" in os.environ:
            environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        done = self.run_isochron("generate cube --n 3 -o a.msh", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
