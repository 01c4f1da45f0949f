"""Each bad input ends with its exit code, one line that names the file, and no output file."""

import os
import resource

from cli_case import TET, TET_POINTS, CliCase, square_mesh
from small_files import write_nifti

OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"


class BadInput(CliCase):
    def setUp(self):
        super().setUp()
        self.write("a.off", OFF)

    def reject(self, mesh, *options, code=3, words=(), **process):
        options = options or ("--source", "0")
        return self.expect(code, f"solve {mesh} -o out.msh", *options, words=words, **process)

    def write_with_cells(self, name, values):
        return self.write_msh("a.msh", *square_mesh(3), cell_arrays={name: values})

    # ---- files

    def test_missing_file(self):
        self.reject("nowhere.msh", words="nowhere.msh")

    def test_unreadable_file(self):
        options = self.without_privileges()
        (self.folder / "a.off").chmod(0)
        self.folder.chmod(0o777)
        self.reject("a.off", words=("a.off", "ermission"), **options)

    def test_folder_as_file(self):
        (self.folder / "a.msh").mkdir()
        self.reject("a.msh", words="a.msh")

    def test_empty_file(self):
        for name in ("a.msh", "a.off", "a.mesh"):
            self.write(name, "")
            self.reject(name, words=(name, "empty"))

    def reject_half_a_file(self, kind, extension):
        self.succeed(f"generate {kind} --n 4 -o whole{extension}")
        content = self.read_bytes("whole" + extension)
        cut = self.write("cut" + extension, content[:len(content) // 2])
        self.reject(cut, words=cut)

    def test_truncated_file(self):
        for kind, extension in (("cube", ".msh"), ("square", ".off"), ("cube", ".mesh")):
            self.reject_half_a_file(kind, extension)

    def test_binary_files_that_are_cut_say_where(self):
        self.succeed("generate square --n 4 -o a.stl")
        self.write("cut.stl", self.read_bytes("a.stl")[:500])
        self.reject("cut.stl", words=("cut.stl", "byte 84"))
        write_nifti(self.folder / "a.nii", (4, 4, 4), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], [1.0] * 64)
        self.write("cut.nii", self.read_bytes("a.nii")[:400])
        self.expect(3, "info cut.nii", words=("cut.nii", "byte 348"))

    def test_truncated_vtu(self):
        self.reject_half_a_file("cube", ".vtu")

    def test_garbage(self):
        for name in ("a.msh", "a.off", "a.mesh", "a.msh.gz"):
            self.write(name, b"\x00\xff\x13 nothing of the kind \x80\n" * 40)
            self.reject(name, words=name)

    def test_unknown_extension(self):
        self.reject(self.write("a.xyz", "1 2 3\n"), words=("a.xyz", ".msh"))

    def test_mesh_without_elements(self):
        self.reject(self.write_msh("a.msh", TET_POINTS), words="a.msh")

    # ---- geometry

    def test_coordinates_that_are_not_finite(self):
        for number in ("nan", "inf", "1e999"):
            self.reject(self.write("a.off", OFF.replace("1 0 0", number + " 0 0", 1)), words="a.off")

    def test_element_index_out_of_range(self):
        self.reject(self.write("a.off", OFF.replace("3 0 1 2", "3 0 1 3")), words=("a.off", "3"))

    # ---- metric

    def test_speed_option(self):
        for speed in ("0", "-1", "nan", "inf", "fast"):
            self.reject("a.off", f"--source 0 --speed={speed}", code=2, words="--speed")

    def test_speed_array(self):
        for bad in (-1, -2, "nan", "inf"):
            name = self.write_with_cells("cv", [(1,)] * 5 + [(bad,)] * 3)
            self.reject(name, "--source 0 --speed-array cv", words=("a.msh", "cv", "3 of 8", "5"))

    def test_missing_array_lists_the_others(self):
        name = self.write_with_cells("cv", [(1,)] * 8)
        for option in ("--speed-array", "--metric-array", "--velocity-tensor-array"):
            self.reject(name, f"--source 0 {option} none", words=("a.msh", "none", "cv"))
        self.reject(name, "--source 0 --fibers none --velocity 1,1", words=("a.msh", "none", "cv"))

    def test_wrong_number_of_components(self):
        name = self.write_with_cells("cv", [(1, 2, 3)] * 8)
        for option in ("--speed-array", "--metric-array"):
            self.reject(name, f"--source 0 {option} cv", words=("a.msh", "cv", "3"))

    def test_tensor_not_positive_definite(self):
        good, bad = (1, 1, 1, 0, 0, 0), (1, -1, 1, 0, 0, 0)
        name = self.write_with_cells("M", [good] * 4 + [bad] * 4)
        for option in ("--metric-array", "--velocity-tensor-array"):
            self.reject(name, f"--source 0 {option} M", words=("a.msh", "M", "4 of 8", "4", "positive definite"))

    def test_zero_fibres(self):
        name = self.write_with_cells("fiber", [(1, 0, 0)] * 7 + [(0, 0, 0)])
        options = "--source 0 --fibers fiber --velocity 2,1"
        self.reject(name, options, words=("a.msh", "fiber", "1 of 8", "7", "--allow-zero-fibers"))
        self.succeed(f"solve {name} -o out.msh", options, "--allow-zero-fibers")

    def test_bad_velocities(self):
        name = self.write_with_cells("fiber", [(1, 0, 0)] * 8)
        for velocity in ("0,1", "1,-1", "a", "nan,1", "1,2,3,4"):
            self.reject(name, f"--source 0 --fibers fiber --velocity={velocity}", code=2, words="--velocity")
        self.reject(name, "--source 0 --fibers fiber --velocity-table 1:", words="1:")
        self.reject(name, "--source 0 --fibers fiber --velocity-table none.txt", words="none.txt")

    def test_contradicting_options(self):
        name = self.write_with_cells("cv", [(1,)] * 8)
        self.reject(name, "--source 0 --speed 1 --speed-array cv", code=2, words="speed")

    # ---- sources

    def test_no_source(self):
        self.expect(2, "solve a.off -o out.msh", words=("no source", "--source"))

    def test_source_id_out_of_range(self):
        self.reject("a.off", "--source 3", words=("a.off", "source id 3", "3 vertices: 0…2"))
        self.reject("a.off", "--source 0-4000000000", words=("a.off", "4000000000"))

    def test_source_that_is_no_vertex_of_an_element(self):
        self.write_msh("a.msh", TET_POINTS + [(9, 9, 9)], tets=TET)
        self.reject("a.msh", "--source 4", words=("a.msh", "4"))

    def test_source_point_far_outside(self):
        self.reject("a.off", "--source-point 100,0,0", words=("a.off", "100"))

    # ---- outputs

    def test_no_output(self):
        self.expect(2, "solve a.off --source 0", words="-o")

    def test_unknown_output_extension(self):
        self.expect(2, "solve a.off -o out.xyz --source 0", words="out.xyz")

    def test_missing_output_folder(self):
        self.expect(1, "solve a.off -o none/out.msh --source 0", words="none/out.msh")

    def test_device_as_output(self):
        (self.folder / "full.msh").symlink_to("/dev/full")
        self.expect(3, "solve a.off -o full.msh --source 0 --force", words="full.msh")

    def test_band_width_and_tolerance(self):
        for option in ("--band-width=0", "--band-width=-1", "--tolerance=0", "--tolerance=-1", "--tolerance=1"):
            self.reject("a.off", f"--source 0 {option}", code=2, words=(option.partition("=")[0], "; give"))
        self.reject("a.off", "--source 0 --velocity-table", [""], code=2, words=("--velocity-table", "; give"))
        self.reject("a.off", "--source 0 --velocity-table .", words=("folder", "; check"))

    def test_odd_output_names(self):
        for name in ("-", "x", ".msh", "x.msh/"):
            self.expect(2, f"solve a.off -o {name} --source 0", words="; use one of")
        for name in ("two words.msh", "größe-日本.msh", "-dash.msh"):
            self.succeed("solve a.off --source 0", [f"--output={name}"])
            self.assertTrue((self.folder / name).is_file(), name)

    def test_read_only_folder(self):
        options = self.without_privileges()
        (self.folder / "locked").mkdir(mode=0o555)
        self.expect(1, "solve a.off -o locked/out.msh --source 0", words=("locked/out.msh", "ermission"), **options)

    def test_full_disk(self):
        self.succeed("generate cube --n 12 -o a.msh")
        outputs = ["out.msh", "out.elem", "out.ele", "out.mesh", "out.msh.gz", "out.vtk", "out.vtu"]
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))}
        for output in outputs:
            self.expect(1, f"solve a.msh -o {output} --source 0", words="out.", **limit)
        self.write("probes.txt", "0.1 0.1 0.1\n" * 1000)
        self.expect(1, "solve a.msh --source 0 --probe probes.txt --probe-output out.csv", words="out.csv", **limit)

    def test_out_of_memory(self):
        if os.environ.get("ISOCHRON_SANITIZE"):
            self.skipTest("sanitizers need more address space than the limit leaves")
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))}
        self.expect(1, "generate cube --n 500 -o a.msh", words="memory", **limit)
