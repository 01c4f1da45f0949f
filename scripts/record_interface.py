#!/usr/bin/env python3
"""Records what users and programs see of a build, as text that can be compared with the record of another build.

    scripts/record_interface.py BINARY PYTHONPATH SOURCES > record.txt

BINARY      the command, e.g. build/release/bin/isochron
PYTHONPATH  the folder that holds the Python package, e.g. build/release/python ("" leaves Python out)
SOURCES     the tree the build was made of; the routes of the server are read from it

The record holds every help text, the keys and types of all JSON summaries, exit codes with the exact error and warning
lines of the command lines in interface/commands.txt (and of every option with values that no option takes), public
Python names with their signatures and the messages of the calls in interface/python.txt, and what the viewer's server
answers to interface/server.txt. Numbers that change from run to run are masked. Before a release, record the last
release and the new build: each line of the difference is either meant (and stands in CHANGELOG.md) or a mistake.

With --missing FILE it lists the messages in SOURCES of which the record in FILE holds no word: cases to add.
"""

import argparse
import contextlib
import http.client
import inspect
import io
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
import small_files  # noqa: E402
from small_files import square_mesh, write_msh  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "interface"
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "DISPLAY": ""}
# Values that hardly any option takes; "" and no value at all are tried too.
WRONG_VALUES = ("", "x", "-1", "0", "nan", "1e999", "99999999999999999999")
ENDLESS = {"--smoothing=99999999999999999999"}  # is taken, and takes for ever


# ---- text

def shown_json(value, path=""):
    """The lines `path: type` of a JSON value; the elements of a list count as one."""
    if isinstance(value, dict):
        lines = {line for key, entry in value.items() for line in shown_json(entry, f"{path}.{key}")}
        return lines or {f"{path}: {{}}"}
    if isinstance(value, list):
        lines = {line for entry in value for line in shown_json(entry, path + "[]")}
        return lines or {f"{path}: []"}
    kind = "null" if value is None else "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
    return {f"{path}: {kind}"}


def shown_text(text):
    """A text for people, with its numbers masked."""
    return [re.sub(r"#(?:[.,#eE+-]*#)?", "#", re.sub(r"\d+", "#", line)).rstrip() for line in text.splitlines()]


def shown_output(text):
    try:
        return sorted(shown_json(json.loads(text)))
    except ValueError:
        return shown_text(text)


def table(name):
    """The lines of a file in the folder beside, without comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def expanded(line):
    """`a {b,c} d` as `a b d` and `a c d`; a comma that belongs to a choice is written with a backslash."""
    parts = re.split(r"\{([^{}]*)\}", line)
    choices = [[part] if i % 2 == 0 else re.split(r"(?<!\\),", part) for i, part in enumerate(parts)]
    return ["".join(choice).replace("\\,", ",").rstrip() for choice in itertools.product(*choices)]


# ---- small files

def write_nrrd(path, shape, values, components=1, kind="vector"):
    small_files.write_nrrd(path, shape, values, kind if components > 1 else None, per_voxel=components, content="values")


def write_meshes(folder):
    points, cells = square_mesh(5)
    count = len(cells)
    some = [(1,)] * (count - 3)
    point_arrays = {"left": [(int(p[0] == 0),) for p in points], "level": [(p[0] - 0.3,) for p in points],
                    "ones": [(1.0,)] * len(points), "level_nan": [("nan",)] * len(points),
                    "bad_times": [(-1.0,)] * len(points), "arrow": [(1, 0, 0)] * len(points)}
    cell_arrays = {"cv": [(2.0,)] * count, "cv_zero": some + [(0,)] * 3, "cv_nan": some + [("nan",)] * 3,
                   "cv_large": [(1e300,)] * count, "cv_negative": some + [(-2,)] * 3, "fiber": [(1, 0, 0)] * count,
                   "fiber_zero": [(1, 0, 0)] * (count - 1) + [(0, 0, 0)],
                   "fiber_nan": [(1, 0, 0)] * (count - 1) + [("nan", 0, 0)], "sheet": [(0, 1, 0)] * count,
                   "tensor": [(1, 0, 0, 0, 1, 0, 0, 0, 1)] * count, "tensor6": [(1, 1, 1, 0, 0, 0)] * count,
                   "tensor_bad": [(1, 0, 0, 0, -1, 0, 0, 0, 1)] * count,
                   "tensor_skew": [(1, 0.5, 0, 0, 1, 0, 0, 0, 1)] * count, "two": [(1, 2)] * count,
                   "region": [(i % 2,) for i in range(count)], "region_half": [(0.5,)] * count}
    write_msh(folder / "arrays.msh", points, cells, point_arrays, cell_arrays)
    write_msh(folder / "islands.msh", [*points, *((x + 5, y, z) for x, y, z in points)],
              [*cells, *(tuple(v + len(points) for v in cell) for cell in cells)])
    write_msh(folder / "loose.msh", [*points, (9, 9, 9)], cells)
    write_msh(folder / "points.msh", points, [])
    write_msh(folder / "lines.msh", points, [(0, 1), (1, 2)])
    write_msh(folder / "mixed.msh", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(1, 2, 3), (0, 1, 2, 3)])
    write_msh(folder / "flat.msh", [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 1, 3)])
    write_msh(folder / "flat_tet.msh", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)], [(0, 1, 2, 3), (0, 1, 2, 4)])
    write_msh(folder / "double.msh", points, [*cells, cells[0]])
    write_msh(folder / "obtuse.msh", [(0, 0, 0), (1, 0, 0), (0.5, 0.1, 0), (0.5, -3, 0)], [(0, 1, 2), (0, 3, 1)])


def write_images(folder):
    n = 6
    voxels = [(i, j, k) for k in range(n) for j in range(n) for i in range(n)]
    shape = (n, n, n)
    write_nrrd(folder / "block.nrrd", shape, [1.0] * n**3)
    write_nrrd(folder / "wall.nrrd", shape, [float(i != 3) for i, _, _ in voxels])
    write_nrrd(folder / "nothing.nrrd", shape, [0.0] * n**3)
    write_nrrd(folder / "holes.nrrd", shape, [float("nan") if i == 3 else 1.0 for i, _, _ in voxels])
    write_nrrd(folder / "negative.nrrd", shape, [-1.0] * n**3)
    write_nrrd(folder / "other.nrrd", (4, 4, 4), [1.0] * 64)
    write_nrrd(folder / "flat.nrrd", (9, 9), [1.0] * 81)
    write_nrrd(folder / "four.nrrd", shape, [1.0] * (4 * n**3), 4)
    write_nrrd(folder / "labels.nrrd", shape, [1.0 if i < 2 else 2.0 if i > 3 else 0.0 for i, _, _ in voxels])
    write_nrrd(folder / "halves.nrrd", shape, [0.5] * n**3)
    good, bad = [2.0, 0.0, 0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, -1.0, 0.0, 1.0]
    for name, tensors in (("good", [good] * n**3), ("bad", [bad] * n**3), ("nan", [[float("nan")] * 6] * n**3),
                          ("some_bad", [bad if v % 8 == 7 else good for v in range(n**3)])):
        write_nrrd(folder / f"{name}_tensors.nrrd", shape, sum(tensors, []), 6, "3D-symmetric-matrix")
    write_nrrd(folder / "unnamed_tensors.nrrd", shape, good * n**3, 6)
    side = 17
    ball = [8 - sum((x - 8) ** 2 for x in v) ** 0.5 for v in itertools.product(range(side), repeat=3)]
    write_nrrd(folder / "ball.nrrd", (side,) * 3, [x - 2.5 for x in ball])
    write_nrrd(folder / "ball_labels.nrrd", (side,) * 3, [float((x > 2.5) * (1 + (i > 2400))) for i, x in enumerate(ball)])
    (folder / "block.bin").write_bytes(struct.pack(f"<{n**3}f", *[1.0] * n**3))
    write_nrrd(folder / "dwi.nrrd", (2, 2, 2), [100.0, *[60.0] * 6] * 8, 7)


def write_texts(folder):
    texts = {
        "one.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "index.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
        "nan.off": "OFF\n3 1 0\nnan 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "huge.off": "OFF\n3 1 0\n1e999 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
        "short.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n", "quad.off": "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n",
        "unknown.xyz": "1 2 3\n", "points.txt": "0.5 0.5 0\n0.2 0.2 0\n", "named.txt": "a 0.5 0.5 0\nfar 30 0 0\n",
        "bad_points.txt": "0 0\n", "nan_points.txt": "0 0 nan\n", "sources.txt": "# id time\n0 0.5\n3 0\n", "far_id.txt": "900 0\n",
        "three.txt": "0 1 2\n", "word.txt": "id time\n", "minus.txt": "-1 0\n", "nan_time.txt": "0 nan\n", "comment.txt": "# c\n",
        "s.vtx": "2\nextra\n0\n3\n", "short.vtx": "5\nextra\n0\n", "bad.vtx": "x\n", "speeds.txt": "0:0.6,0.3\n1:0.2,0.1\n",
        "twice.tab": "0:0.6,0.3\n0:0.2,0.1\n", "bad.tab": "0 0.6\n", "model.txt": "1 2 3\n4 5 6\n", "ragged.txt": "1 2 3\n4 5\n",
        "bval": "0 1000 1000 1000 1000 1000 1000\n", "bval_short": "0 1000\n", "bval_bad": "0 x 1000\n", "bval_zero": "0 0 0 0 0 0 0\n",
        "bvec": "0 1 0 0 0.7 0.7 0\n0 0 1 0 0.7 0 0.7\n0 0 0 1 0 0.7 0.7\n", "bvec_short": "0 1\n0 0\n0 0\n",
        "bvec_zero": "0 0 0 0 0 0 0\n0 0 0 0 0 0 0\n0 0 0 0 0 0 0\n", "bvec_flat": "0 1 1 1 1 1 1\n0 0 0 0 0 0 0\n0 0 0 0 0 0 0\n",
        "taken.vtu": "precious\n", "cells.vtu": "<VTKFile type=\"UnstructuredGrid\"></VTKFile>\n", "runs.csv": "a,b\n1,2\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for extension in ("msh", "off", "mesh", "vtu", "vtp", "vtk", "vti", "ply", "stl", "obj", "pts", "elem", "node", "nii", "nii.gz",
                      "nrrd", "npy", "mgz", "mha", "pvtu", "pvti", "tck", "mesh", "msh.gz", "lon", "vtx", "mif"):
        (folder / f"empty.{extension}").write_text("")
        (folder / f"garbage.{extension}").write_bytes(b"\x00\xff\x13 nothing of the kind \x80\n" * 40)
    (folder / "folder.vtu").mkdir()
    (folder / "folder").mkdir()


# ---- the command

class Command:
    """Runs command lines in a folder with files to use and to misuse."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(pathlib.Path(binary).resolve()), folder
        write_meshes(folder)
        write_images(folder)
        write_texts(folder)

    def run(self, arguments, launcher=()):
        try:
            done = subprocess.run([*launcher, self.binary, *arguments], cwd=self.folder, text=True, encoding="utf-8",
                                  errors="replace", capture_output=True, timeout=120, stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        except subprocess.TimeoutExpired:
            return "none within two minutes", "", []
        return done.returncode, done.stdout, self.masked(done.stderr)

    def masked(self, text):
        """What the command says on stderr; MPI and display libraries say more, with names of the machine in it."""
        lines = [line for line in text.splitlines() if line.startswith("isochron: ")]
        lines = [re.sub(r"free: [\d.]+ GB", "free: # GB", line) for line in lines]
        return [line.replace(str(self.folder), "FOLDER").replace(self.binary, "isochron") for line in lines]

    def record(self, line):
        ranks = re.match(r"mpirun (\d+) ", line)
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks[1]] if ranks else []
        code, out, errors = self.run(shlex.split(line[ranks.end():] if ranks else line), launcher)
        yield f"$ {line}"
        yield f"  exit {code}"
        yield from (f"  ! {text}" for text in errors)
        yield from (f"  > {text}" for text in shown_output(out))

    def help_texts(self):
        """The help of the command and of all subcommands, by name."""
        waiting, texts = [()], {}
        while waiting:
            name = waiting.pop(0)
            texts[name] = self.run([*name, "--help"])[1]
            listed = texts[name].partition("Subcommands:\n")[2].partition("\n\n")[0]  # examples follow
            waiting += [(*name, found) for found in re.findall(r"^  (\S+)", listed, re.MULTILINE) if not found.startswith("-")]
        return texts

    def record_options(self, base, text):
        """Every option of a help text with wrong values, behind a command line that is right without it."""
        options = re.findall(r"^  (?:-\w,)?(--[\w-]+)( \S+)?", text, re.MULTILINE)
        for option, value in options:
            if option in ("--help", "--version"):
                continue
            tried = [f"{option}={wrong}" for wrong in WRONG_VALUES] + [option, f"{option} 1 {option} 1"] if value else [f"{option}=x"]
            for one in tried:
                if one not in ENDLESS:
                    yield from self.record(f"{base} {one}")


def record_command(binary, folder):
    command = Command(binary, folder)
    helps = command.help_texts()
    yield "== help"
    for name, text in sorted(helps.items()):
        yield f"$ {' '.join([*name, '--help'])}"
        yield from (f"  > {line}" for line in text.splitlines())
    has_mpi = shutil.which("mpirun") is not None and "with MPI" in command.run(["--version"])[1]
    yield "== command lines"
    for line in table("commands.txt"):
        if line.startswith("options: "):
            base = line.partition(" ")[2]
            name = next(words for words in (tuple(shlex.split(base)[:2]), tuple(shlex.split(base)[:1])) if words in helps)
            yield from command.record_options(base, helps[name])
        elif not line.startswith("mpirun ") or has_mpi:
            for one in expanded(line):
                yield from command.record(one)


# ---- the server

def unpacked(body):
    """The keys of a packed answer: its meta data, and types and ranks of its arrays."""
    length = struct.unpack_from("<I", body, 4)[0]
    header = json.loads(body[8:8 + length])
    arrays = {name: f"{array['dtype']} of {len(array['shape'])} axes" for name, array in header["arrays"].items()}
    return sorted(shown_json(header["meta"], "meta")) + [f"array {name}: {arrays[name]}" for name in sorted(arrays)]


def shown_answer(body, kind):
    if body[:4] == b"ISO1":
        return unpacked(body)
    if body and kind.startswith("application/json"):
        answer = json.loads(body)
        said = [f"error: {answer['error']}"] if "error" in answer else []
        return said + sorted(shown_json(answer))
    return []


def ask(port, token, line):
    """An answer's status, type and body. A line is METHOD PATH, then a body of JSON; Name:Value are headers before it."""
    method, path, *rest = line.split(" ", 2)
    headers, body = {"X-Isochron-Token": token}, rest[0] if rest else None
    while body and (found := re.match(r"([A-Z][\w-]+):(\S*) ?", body)):
        headers[found[1]] = found[2].replace("TOKEN", token)
        body = body[found.end():]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, body or None, {name: value for name, value in headers.items() if value})
        answer = connection.getresponse()
        content = b"" if path.startswith("/api/events") and answer.status == 200 else answer.read()
        return answer.status, answer.headers, content


def record_server(binary, folder, sources):
    yield "== routes in the sources"
    found = set()
    for path in sorted((sources / "apps/viewer/server").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        found |= {f"{asked.upper()} {name}" for name, asked in re.findall(r'\{"([\w/]+)",\s*Asked::(\w+)\}', text)}
        found |= {f"path {name}" for name in re.findall(r'"(/api/[\w/]+)"', text)}
    yield from sorted(found)
    yield "== answers of the server"
    files = ["arrays.msh", "good_tensors.nrrd", "ball_labels.nrrd", "points.msh", "block.nrrd"]
    server = subprocess.Popen([binary, "view", "--no-browser", "--threads", "2", *files], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    try:
        address = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", server.stdout.readline().strip())
        if not address:
            yield "there is no server"
            return
        for line in itertools.chain.from_iterable(map(expanded_request, table("server.txt"))):
            status, headers, body = ask(int(address[1]), address[2], line)
            yield f"$ {line}"
            kind = headers.get("Content-Type", "")
            yield f"  {status} {kind} {headers.get('Content-Disposition', '')}".rstrip()
            yield from (f"  > {text.replace(str(folder), 'FOLDER').replace(address[1], 'PORT')}" for text in shown_answer(body, kind))
    finally:
        server.terminate()
        server.wait(timeout=30)


def expanded_request(line):
    """Alternatives stand in the path alone: the braces of the body are JSON's."""
    method, path, *rest = line.split(" ", 2)
    return [" ".join([method, one, *rest]) for one in expanded(path)]


# ---- Python, in a process of its own that finds the package

def members(owner, name):
    """A public name with its signature, the first line of its text, and its own public names."""
    text = (inspect.getdoc(owner) or "").strip().splitlines()
    try:
        signature = str(inspect.signature(owner))
    except (TypeError, ValueError):
        signature = ""
    if isinstance(owner, type):
        bases = ", ".join(base.__name__ for base in owner.__bases__)
        yield f"class {name}({bases}){signature}"
    elif callable(owner):
        yield f"def {name}{signature}"
    elif inspect.ismodule(owner):
        yield f"module {name}"
    elif isinstance(owner, property) or inspect.isdatadescriptor(owner):
        yield f"property {name}"
    else:
        yield f"value {name}: {type(owner).__name__}"
        return
    if text:
        yield f"  {text[0]}"
    inside = vars(owner) if isinstance(owner, type) else {n: getattr(owner, n) for n in getattr(owner, "__all__", [])} \
        if inspect.ismodule(owner) else {}
    for inner, value in sorted(inside.items()):
        if not inner.startswith("_") or inner in ("__getitem__", "__len__", "__iter__", "__array__", "__contains__"):
            value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            yield from members(value, f"{name}.{inner}")


def shown_call(line, names):
    """What a call gives or says, with the warnings on the way."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            value = eval(line, names)
            result = f"{type(value).__name__}"
        except Exception as error:  # noqa: BLE001  whatever comes is what is recorded
            result = f"{type(error).__name__}: {error}"
    yield f">>> {line}"
    yield from (f"  warning {one.category.__name__}: {one.message}" for one in told)
    yield f"  {re.sub('0x[0-9a-f]+', '0x#', result)}"


def python_part():
    import isochron
    import numpy
    yield "== Python names"
    yield from (f"name {name}" for name in sorted(isochron.__all__))
    yield from itertools.chain.from_iterable(members(getattr(isochron, name), name) for name in sorted(isochron.__all__))
    yield "== Python calls"
    names = {"isochron": isochron, "np": numpy}
    for line in table("python.txt"):
        if line.startswith("let "):
            name, _, value = line[4:].partition(" = ")
            names[name] = eval(value, names)
        else:
            yield from shown_call(line, names)


def record_python(package, folder):
    environment = {**ENVIRONMENT, "PYTHONPATH": str(pathlib.Path(package).resolve())}
    for python in (sys.executable, "/usr/bin/python3"):  # the first one on PATH may be without NumPy
        done = subprocess.run([python, __file__, "--python-part"], cwd=folder, text=True, capture_output=True, env=environment)
        if done.returncode == 0:
            break
    yield from (done.stdout if done.returncode == 0 else done.stderr).replace(str(folder), "FOLDER").splitlines()


# ---- messages without a case

def missing(record, sources):
    """Messages in the sources, as the pieces between their numbers, of which none is in the record."""
    said = re.sub(r"\s+", " ", pathlib.Path(record).read_text(encoding="utf-8"))
    for path in sorted(itertools.chain(sources.glob("include/**/*.h"), sources.glob("src/**/*.[ch]*"), sources.glob("apps/**/*.[ch]*"), sources.glob("python/src/*"))):
        text = path.read_text(encoding="utf-8")
        for throw in re.finditer(r"(?:[Ee]rror|Refusal|warn)\w*[({][^;]*?((?:\"(?:[^\"\\]|\\.)*\"\s*)+)", text):
            message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', throw[1]))
            pieces = [piece for piece in re.split(r"\{[^}]*\}", message) if len(piece) > 12]
            if pieces and not any(piece in said for piece in pieces):
                yield f"{path.relative_to(sources)}:{text.count(chr(10), 0, throw.start()) + 1}: {message}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("pythonpath")
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--missing", metavar="FILE", help="list messages of the sources that the record FILE does not hold")
    parser.add_argument("--only", choices=("command", "server", "python"), help="record one part")
    arguments = parser.parse_args()
    if arguments.missing:
        print(*missing(arguments.missing, arguments.sources), sep="\n")
        return
    with tempfile.TemporaryDirectory(prefix="isochron-record-") as name:
        folder = pathlib.Path(name)
        binary = str(pathlib.Path(arguments.binary).resolve())
        lines = [record_command(binary, folder)] if arguments.only in (None, "command") else []
        if arguments.only not in (None, "command"):
            Command(binary, folder)
        if arguments.only in (None, "server"):
            lines.append(record_server(binary, folder, arguments.sources))
        if arguments.only in (None, "python") and arguments.pythonpath:
            lines.append(record_python(arguments.pythonpath, folder))
        for line in itertools.chain(*lines):
            print(line)


if __name__ == "__main__":
    if sys.argv[1:] == ["--python-part"]:
        print(*python_part(), sep="\n")
    else:
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
        main()
