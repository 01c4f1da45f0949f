"""The reference describes what the command has: every option of every --help, and the keys of the summaries."""

import pathlib
import re

from cli_case import CliCase

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = {"connectome": "reference/connect.md", "view": "guide/viewer.md"}


def page_of(command):
    return (DOCS / PAGES.get(command, f"reference/{command}.md")).read_text(encoding="utf-8")


def keys_in(value):
    """All keys of a JSON value, however deep."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_in, value.values()))
    return set().union(*map(keys_in, value)) if isinstance(value, list) else set()


class Docs(CliCase):
    COMMANDS = ("generate", "info", "convert", "solve", "invert", "path", "tensors", "connect", "connectome", "surface",
                "view", "bench")
    KINDS = ("square", "irregular-square", "cube", "irregular-cube", "sphere", "ventricle", "lens", "blobs",
             "diagonal-tensors", "helix-tensors", "crossing-fibers", "layers", "salt", "phantom", "from-raw")

    def assert_described(self, command, names, text):
        self.assertEqual([name for name in sorted(names) if not re.search(rf"`{re.escape(name)}\b", text)], [], command)

    def test_all_options_are_described(self):
        shared = page_of("command") + page_of("solve")
        for words in [(command,) for command in self.COMMANDS] + [("generate", kind) for kind in self.KINDS]:
            done = self.run_isochron(*words, "--help")
            if done.returncode == 0:  # a build may lack a command
                options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]|--n\b", done.stdout))
                self.assert_described(words, options, page_of(words[0]) + shared)

    def test_all_commands_are_described(self):
        text = page_of("command")
        for command in self.COMMANDS:
            self.assertIn(f"`{command}`", text)

    def test_all_keys_of_summaries_are_described(self):
        self.write("picks.csv", "vertex,time\n8,1\n80,1.5\n")
        for command, arguments in (("generate", "square --n 9 -o square.vtp"),
                                   ("generate", "crossing-fibers --n 24 -o fibers.nii.gz"),
                                   ("convert", "square.vtp square.off"),
                                   ("convert", "fibers.nii.gz fibers.vti"),
                                   ("solve", "square.vtp -o times.vtp --source 0 --verify"),
                                   ("solve", "square.vtp -o each.vtp --source 0,5 --each-source"),
                                   ("invert", "square.vtp --times picks.csv --unknown onsets --source 0"),
                                   ("path", "times.vtp -o path.vtp --source 0 --to 80"),
                                   ("connect", "fibers.nii.gz --from voxels:4,12,12 --to voxels:20,12,12 -o c"),
                                   ("connectome", "fibers.nii.gz --parcels 3 -o m.csv")):
            self.assert_described(command, keys_in(self.succeed_json(command, arguments)), page_of(command))
