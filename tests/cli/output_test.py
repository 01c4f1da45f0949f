"""Outputs: two processes that want the same name, sets of files, and links."""

import subprocess

from cli_case import BINARY, CliCase, TET, TET_POINTS


class OutputTest(CliCase):

    def run_at_once(self, count, *words):
        """Exit codes and messages of the same command, run several times at once."""
        running = [subprocess.Popen([BINARY, *words], cwd=self.folder, text=True, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE) for _ in range(count)]
        messages = [process.communicate(timeout=100)[1] for process in running]
        return [process.returncode for process in running], messages

    def test_one_of_several_at_once_gets_a_new_name(self):
        for name in ["a.vtu", "b.node"]:
            codes, messages = self.run_at_once(4, "generate", "square", "--n", "150", "-o", name)
            self.assertEqual(sorted(codes), [0, 3, 3, 3], messages)
            for code, message in zip(codes, messages):
                if code == 3:
                    self.assertRegex(message, r"^isochron: error: .* exists already .*--force.*\n$")
        self.assertEqual(self.files(), ["a.vtu", "b.ele", "b.node"])

    def test_a_set_comes_from_one_of_several_that_replace_it(self):
        for i in range(3):
            running = [subprocess.Popen([BINARY, "generate", "square", "--n", n, "-o", "a.node", "--force"],
                                        cwd=self.folder, stdout=subprocess.DEVNULL) for n in ["9", "10", "11", "12"]]
            self.assertEqual([process.wait(timeout=100) for process in running], [0] * 4)
            mesh = self.info("a.node")
            n = round(mesh["points"] ** 0.5)
            self.assertEqual(mesh["triangles"], 2 * (n - 1) ** 2)
        self.assertEqual(self.files(), ["a.ele", "a.node"])

    def test_links_stay_and_their_files_are_written(self):
        self.write_msh("a.msh", TET_POINTS, tets=TET)
        (self.folder / "real").mkdir()
        for name in ["out.pts", "out.elem", "new.vtu"]:
            (self.folder / name).symlink_to(f"real/{name}")
        for i, force in enumerate(["", "--force"]):
            self.succeed("generate square --n", 3 + i, "-o out.elem", force)
            self.succeed("solve a.msh --source 0 -o new.vtu", force)
        self.assertEqual(self.files(), ["a.msh", "new.vtu", "out.elem", "out.pts", "real", "real/new.vtu",
                                        "real/out.elem", "real/out.pts"])
        for name in ["out.pts", "out.elem", "new.vtu"]:
            self.assertTrue((self.folder / name).is_symlink())
        self.assertEqual(self.info("real/out.elem")["points"], 16)
        self.expect(3, "generate square --n 3 -o out.elem", words=["exists already", "--force"])

    def test_links_that_lead_to_no_file_are_refused_before_any_work(self):
        for name, target, code, words in [("gone.vtu", "no/such.vtu", 1, "create it first"),
                                          ("null.vtu", "/dev/null", 3, "is not a file"),
                                          ("stream.vtu", "/dev/stdout", 3, "is not a file"),
                                          ("circle.vtu", "circle.vtu", 3, "circle")]:
            (self.folder / name).symlink_to(target)
            self.expect(code, "generate square --n 3 --force -o", name, words=[name, words])
