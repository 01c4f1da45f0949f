"""The server behind `isochron view`: who may ask, what is answered, and what is never served."""

import concurrent.futures
import contextlib
import gzip
import json
import math
import os
import pathlib
import select
import signal
import socket
import threading
import time

from cli_case import square_mesh, TET, TET_POINTS
from view_case import ViewCase


class View(ViewCase):
    # ---- the answers

    def test_state_geometry_and_solve(self):
        self.start("square.msh")
        status, headers, body = self.ask("GET", "/api/state")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Cache-Control"], "no-store")
        state = json.loads(body)
        self.assertEqual(len(state["datasets"]), 1)
        entry = state["datasets"][0]
        self.assertEqual((entry["id"], entry["name"], entry["kind"]), (0, "square.msh", "mesh"))
        self.assertEqual((entry["points"], entry["triangles"], entry["solvable"]), (144, 242, True))
        status, headers, body = self.ask("GET", "/api/datasets/0/geometry")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/x-isochron-pack"))
        points = self.unpack(body)[1]["points"]
        meta, arrays = self.solve([{"vertex": 0}], speed=2, isochrones={"about": 10})
        self.assertEqual(meta["reached"], 144)
        for i, time_there in enumerate(arrays["times"]):
            self.assertAlmostEqual(time_there, math.dist(points[3 * i:3 * i + 3], (0, 0, 0)) / 2, delta=0.03)
        self.assertGreater(len(arrays["iso_levels"]), 4)

    def test_the_page_and_its_headers(self):
        self.start("square.msh")
        status, headers, body = self.ask("GET", "/", token=False)
        self.assertEqual(status, 200)
        self.assertIn(b"isochron", body.lower())
        self.assertIn("default-src 'self'", headers["Content-Security-Policy"])
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertNotIn(self.token.encode(), body)

    def test_several_files_and_an_export(self):
        self.write_msh("tet.msh", TET_POINTS, tets=TET)
        self.start("square.msh", "tet.msh")
        names = [entry["name"] for entry in json.loads(self.ask("GET", "/api/state")[2])["datasets"]]
        self.assertEqual(names, ["square.msh", "tet.msh"])
        body = {"client": "x", "sources": [{"vertex": 0}]}
        self.assertEqual(self.status("POST", "/api/datasets/1/solve", body), 200)
        status, headers, body = self.ask("POST", "/api/datasets/1/export", {"client": "x", "format": "csv"})
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Disposition"], 'attachment; filename="tet-times.csv"')
        self.assertEqual(body.decode().splitlines()[:2], ["id,x,y,z,arrival_time", "0,0,0,0,0"])
        self.assertEqual(self.refused(404, "GET", "/api/datasets/2/geometry"), "there is no data set 2")

    def test_arrays_are_asked_for_where_they_are(self):
        points, triangles = square_mesh(3)
        self.write_msh("arrays.msh", points, triangles, point_arrays={"depth": [(1,)] * 9, "still": [(0,)] + [(1,)] * 8},
                       cell_arrays={"fiber": [(1, 0, 0)] * len(triangles)})
        self.start("arrays.msh")
        for name, on, other in (("fiber", "points", "cells"), ("depth", "cells", "points")):
            self.assertEqual(self.refused(422, "GET", f"/api/datasets/0/array?name={name}&on={on}"),
                             f"array '{name}' is on the {other}, not on the {on}; ask with on={other}")
            self.assertEqual(self.status("GET", f"/api/datasets/0/array?name={name}&on={other}"), 200)
        self.assertIn("on=cells", self.refused(422, "GET", "/api/datasets/0/array?name=fiber"))
        self.assertIn("choose one of: depth", self.refused(422, "GET", "/api/datasets/0/array?name=cv"))
        still = {"sources": [{"vertex": 0}], "speed_array": "still"}
        self.assertIn("not a positive finite number on 2 of 8 cells", self.refused(422, "POST", "/api/datasets/0/solve", still))
        self.assertEqual(self.solve([{"vertex": 0}], speed_array="depth")[0]["unreached"], 0)

    def test_exports_name_the_formats_that_hold_the_mesh(self):
        self.write_msh("tet.msh", TET_POINTS, tets=TET)
        self.start("tet.msh")
        self.solve([{"vertex": 0}])
        said = self.refused(422, "POST", "/api/datasets/0/export", {"client": "test", "format": "ply"})
        self.assertTrue(said.startswith("ply files cannot hold these cells"), said)
        able = said.split("use one of ")[1].split(", ")
        self.assertEqual(able, ["vtu", "vtk", "msh", "csv", "npy"])
        for one in able:
            self.assertEqual(self.status("POST", "/api/datasets/0/export", {"client": "test", "format": one}), 200, one)
        self.assertIn("vtu, vtp", self.refused(400, "POST", "/api/datasets/0/export", {"client": "test", "format": "exe"}))

    def test_the_spacing_is_that_of_the_isochrones(self):
        self.start("square.msh")
        for about in (1, 2, 5):
            meta, arrays = self.solve([{"vertex": 0}], isochrones={"about": about})
            count = math.ceil(meta["max_time"] / meta["spacing"]) - 1
            self.assertEqual({round(level / meta["spacing"], 5) for level in arrays["iso_levels"]}, set(range(1, count + 1)))
        self.assertEqual(self.solve([{"vertex": 0}], isochrones={"spacing": 5})[0]["spacing"], 5)  # of none
        everywhere = [{"vertex": i} for i in range(144)]
        self.assertIsNone(self.solve(everywhere, isochrones={})[0]["spacing"])

    def test_sources_off_the_mesh_are_named(self):
        self.start("square.msh")
        sources = [{"point": [9, 9, 0]}, {"point": [0.5, 0.5, 0]}, {"vertex": 3}, {"point": [0, 0, 5]}]
        status, _, body = self.ask("POST", "/api/datasets/0/solve", {"sources": sources})
        self.assertEqual((status, json.loads(body)["sources"]), (422, [1, 3]))  # vertices are counted first
        self.assertIn("the point 9,9,0 is 11.3", json.loads(body)["error"])

    def test_questions_are_those_that_can_be_answered(self):
        self.write_msh("tet.msh", TET_POINTS, tets=TET)
        self.write("lines.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n"
                                "0 0 0 1 0 0\nLINES 1 3\n2 0 1\n")
        self.start("tet.msh", "square.msh", "lines.vtk")
        tet, square, lines = (set(entry["questions"]) for entry in json.loads(self.ask("GET", "/api/state")[2])["datasets"])
        self.assertEqual(tet - square, {"POST isosurface"})
        self.assertEqual(square - lines, {"POST solve", "POST path", "POST export"})
        self.assertEqual(lines - tet, set())
        self.assertIn("no tetrahedra", self.refused(422, "POST", "/api/datasets/1/isosurface", {"level": 1}))

    def test_directions_are_advised(self):
        points, triangles = square_mesh(3)
        self.write_msh("arrays.msh", points, triangles, point_arrays={"depth": [(1,)] * 9, "along": [(1, 0, 0)] * 9},
                       cell_arrays={"fiber": [(1, 0, 0)] * len(triangles)})
        self.start("arrays.msh", "square.msh")
        for name, words in (("fi%25zzber", "no array 'fi%zzber'"), ("depth", "'depth' has 1 components")):
            said = self.refused(422, "GET", f"/api/datasets/0/fibers?array={name}")
            self.assertIn(words, said)
            self.assertTrue(said.endswith("choose one of: fiber, along"), said)
        self.assertIn("no directions", self.refused(422, "GET", "/api/datasets/1/fibers?array=x"))
        for question in ("fibers?array=%00fiber", "array?name=a%0ab"):
            self.assertIn("control characters", self.refused(400, "GET", f"/api/datasets/0/{question}"))

    def test_lines_can_be_seen_but_not_solved(self):
        self.write("lines.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n"
                                "0 0 0 1 0 0 1 1 0\nLINES 1 4\n3 0 1 2\n")
        self.start("lines.vtk")
        entry = json.loads(self.ask("GET", "/api/state")[2])["datasets"][0]
        self.assertFalse(entry["solvable"])
        self.assertIn("no triangles", entry["why"])
        _, arrays = self.unpack(self.ask("GET", "/api/datasets/0/geometry")[2])
        self.assertEqual(arrays["line_offsets"], (0, 3))
        self.assertIn("nothing to solve on",
                      self.refused(422, "POST", "/api/datasets/0/solve", {"sources": [{"vertex": 0}]}))

    # ---- who may ask

    def test_no_or_wrong_token(self):
        self.start("square.msh")
        for path in ("/api/state", "/api/events?client=a", "/api/datasets/0/geometry", "/api/nothing", "/api",
                     "/%61pi/state"):
            self.refused(401, "GET", path, token=False)
            self.refused(403, "GET", path, token=False, headers={"X-Isochron-Token": "0" * 32})
        self.refused(401, "POST", "/api/datasets/0/solve", {"sources": [{"vertex": 0}]}, token=False)
        self.refused(403, "GET", "/api/state?token=" + self.token[:-1], token=False)
        self.refused(403, "GET", "/api/state?token=" + self.token + "0", token=False)
        self.assertEqual(self.status("GET", "/api/state?token=" + self.token, token=False), 200)

    def test_foreign_host_or_origin(self):
        self.start("square.msh")
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1", f"127.0.0.1:{self.port + 1}", "[::1]", ""):
            self.refused(403, "GET", "/api/state", headers={"Host": host})
            self.refused(403, "GET", "/", headers={"Host": host})
        self.assertEqual(self.status("GET", "/api/state", headers={"Host": f"localhost:{self.port}"}), 200)
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{self.port}", "http://127.0.0.1"):
            self.refused(403, "GET", "/api/state", headers={"Origin": origin})
        self.assertEqual(self.status("GET", "/api/state", headers={"Origin": f"http://127.0.0.1:{self.port}"}), 200)

    def test_other_addresses_of_the_machine_do_not_answer(self):
        self.start("square.msh")
        with socket.socket() as other:
            other.settimeout(2)
            with self.assertRaises(OSError):
                other.connect(("127.0.0.2", self.port))

    # ---- what is never served

    def test_paths_that_lead_out(self):
        self.write("secret.txt", "secret")
        os.symlink("/etc/passwd", self.folder / "link.txt")
        os.symlink("/etc", self.folder / "assets")
        self.start("square.msh")
        for path in ("/../secret.txt", "/secret.txt", "/link.txt", "/assets/passwd", "/square.msh", "/./square.msh",
                     "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%2e%2e%2f%2e%2e%2fetc/passwd", "/..\\secret.txt",
                     "/....//secret.txt", "//etc/passwd", "/index.html/../../etc/passwd", "/%00", "/index.html%00.txt",
                     "/%c0%ae%c0%ae/etc/passwd", f"/{self.folder}/secret.txt", "/file:///etc/passwd",
                     "/api/datasets/../../secret.txt", "/api/datasets/0/../0/geometry", "/api/datasets/-1/geometry",
                     "/api/datasets/0x0/geometry", "/api/datasets/99999999999999999999/geometry",
                     "/api/datasets/0", "/api/datasets/0/", "/api/datasets//geometry"):
            status, _, body = self.ask("GET", path)
            self.assertIn(status, (400, 404, 405), path)
            self.assertNotIn(b"secret", body, path)
            self.assertNotIn(b"root:", body, path)
        self.alive()

    def test_wrong_methods(self):
        self.start("square.msh")
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
            self.assertIn(self.status(method, "/api/state"), (400, 404, 405), method)
        for method, path, allowed in (("GET", "/api/datasets/0/solve", "POST"), ("GET", "/api/datasets/0/reload", "POST"),
                                      ("GET", "/api/datasets/0/cancel", "POST"), ("POST", "/", "GET, HEAD"),
                                      ("POST", "/api/datasets/0/geometry", "GET, HEAD"),
                                      ("POST", "/api/state", "GET, HEAD"), ("POST", "/api/events", "GET, HEAD"),
                                      ("HEAD", "/api/events?client=a", "GET")):
            status, headers, _ = self.ask(method, path, None if method != "POST" else {})
            self.assertEqual((status, headers["Allow"]), (405, allowed), (method, path))
        for method in ("GET", "POST"):
            body = {} if method == "POST" else None
            for path in ("/api/nothing", "/api/datasets/0/nothing", "/api/datasets/0/histogram", "/api/datasets/9/solve",
                         "/nothing"):
                self.refused(404, method, path, body)
        self.assertIn("'histogram' here; ask for geometry, array", self.refused(404, "GET", "/api/datasets/0/histogram"))
        self.alive()

    def test_whole_answers_only(self):
        self.start("square.msh")
        for path in ("/", "/api/state", "/api/datasets/0/geometry"):
            status, headers, body = self.ask("HEAD", path)
            self.assertEqual((status, headers["Accept-Ranges"], body), (200, "none", b""))
            self.assertEqual(int(headers["Content-Length"]), len(self.ask("GET", path)[2]))

    def test_forms(self):
        self.start("square.msh")
        urlencoded = {"Content-Type": "application/x-www-form-urlencoded"}
        for body, headers in (("--x--", {"Content-Type": "multipart/form-data; boundary=x"}), ("a=1&b=2", urlencoded),
                              ("", urlencoded)):
            self.assertIn("send JSON", self.refused(415, "POST", "/api/datasets/0/solve", body, headers=headers))
        body = json.dumps({"sources": [{"vertex": 0}]})  # as `curl -d` sends it
        self.assertEqual(self.status("POST", "/api/datasets/0/solve", body, headers=urlencoded), 200)
        self.assertIn("not JSON", self.refused(400, "POST", "/api/datasets/0/solve", "{a=1", headers=urlencoded))
        self.assertIn("only POST", self.refused(400, "GET", "/api/state", "{}"))

    def test_no_body_is_an_object_without_fields(self):
        self.start("square.msh")
        for headers in ({}, {"Content-Length": "0"}, {"Content-Type": "application/json"}):
            self.assertEqual(self.post_nothing("reload", headers), 200, headers)
            self.assertEqual(self.post_nothing("solve", headers), 400, headers)  # it wants sources
        for headers in ({"Origin": "http://evil.example"}, {"X-Isochron-Token": "0" * 32}):
            self.assertEqual(self.post_nothing("reload", headers), 403, headers)
        self.assertEqual(self.post_nothing("reload", {"Content-Type": "multipart/form-data; boundary=x"}), 415)
        self.alive()

    def post_nothing(self, question, headers):
        """The status of a POST that says nothing of a body but what the headers say, as `curl -X POST` sends it."""
        headers = {"Host": f"127.0.0.1:{self.port}", "X-Isochron-Token": self.token, **headers}
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as raw:
            lines = [f"POST /api/datasets/0/{question} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
            raw.sendall("\r\n".join([*lines, "", ""]).encode())
            return int(raw.recv(4096).split()[1])

    # ---- too much and not well formed

    def test_oversized_bodies(self):
        self.start("square.msh")
        large = b'{"x": "' + b"a" * (2 << 20) + b'"}'
        self.assertEqual(self.post_raw(large), 413)
        self.assertEqual(self.post_raw(large, chunked=True), 413)
        self.assertEqual(self.status("GET", "/" + "a" * 5000), 414)
        self.assertIn(self.status("GET", "/" + "a" * 20000), (400, 414))
        self.assertIn(self.status("GET", "/", headers={"X-Long": "a" * 20000}), (400, 200, 431))
        self.alive()

    def post_raw(self, body, chunked=False):
        """The status of a posted body, whether or not the server reads all of it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as raw:
            head = (f"POST /api/datasets/0/solve HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                    f"X-Isochron-Token: {self.token}\r\n")
            head += "Transfer-Encoding: chunked\r\n\r\n" if chunked else f"Content-Length: {len(body)}\r\n\r\n"
            try:
                raw.sendall(head.encode())
                if chunked:
                    for at in range(0, len(body), 65536):
                        part = body[at:at + 65536]
                        raw.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                    raw.sendall(b"0\r\n\r\n")
                else:
                    raw.sendall(body)
            except OSError:
                pass  # it does not want to hear more
            return int(raw.recv(4096).split()[1])

    def test_what_is_refused_is_read_to_its_end(self):
        self.start("square.msh")
        hidden = f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nX-Isochron-Token: {self.token}\r\n\r\n"
        form = {"Content-Type": "multipart/form-data; boundary=x"}
        for status, method, path, fields in ((401, "POST", "/api/datasets/0/solve", {"token": False}),
                                             (403, "POST", "/", {"headers": {"Host": "evil.example"}}),
                                             (415, "POST", "/api/datasets/0/solve", {"headers": form}),
                                             (414, "POST", "/" + "a" * 5000, {}), (405, "PUT", "/api/state", {}),
                                             (405, "DELETE", "/", {}), (405, "POST", "/", {"body": "{}"}),
                                             (404, "POST", "/api/datasets/0/nothing", {}),
                                             (400, "POST", "/api/datasets/0/solve?client=a", {}),
                                             (413, "POST", "/", {"body": hidden * 20000})):
            connection = self.connection()
            self.refused(status, method, path, connection=connection, **{"body": hidden, **fields})
            kept = connection.sock
            self.refused(404, "GET", "/nothing", connection=connection)  # the next answer is that to the next question
            self.assertIs(connection.sock, kept)
        self.alive()

    def test_long_or_odd_names_are_refused(self):
        self.start("square.msh")
        sources = [{"vertex": 0}]
        for name in ("client", "slot"):
            body = {"sources": sources, "seq": 1, name: "x" * 64}
            self.assertEqual(self.status("POST", "/api/datasets/0/solve", body), 200)
            for text, words in (("x" * 65, "too long"), ("x" * 500, "too long"), ("a\nb", "control"), (5, "not a text")):
                self.assertIn(f"'{name}'", self.refused(400, "POST", "/api/datasets/0/solve", {**body, name: text}), words)
        self.assertIn("control", self.refused(400, "POST", "/api/datasets/0/cancel", {"client": "a\nb"}))
        self.assertIn("missing", self.refused(400, "POST", "/api/datasets/0/cancel", {}))
        for client in ("", "%0a", "x" * 65):
            self.assertIn("'client'", self.refused(400, "GET", f"/api/events?client={client}"))

    def test_unknown_fields_are_refused(self):
        self.start("square.msh")
        sources = [{"vertex": 0}]
        for path, body, words in (("solve", {"sources": sources, "sped": 2}, "did you mean 'speed'?"),
                                  ("solve", {"source": sources}, "did you mean 'sources'?"),
                                  ("reload", {"force": True}, "no field 'force'"),
                                  ("cancel", {"client": "a", "slot": "b"}, "no field 'slot'"),
                                  ("solve?speed=2", {"sources": sources}, "posted object"),
                                  ("solve", '{"sources": [{"vertex": 0}], "speed": 1, "speed": 2}', "'speed' is there twice")):
            self.assertIn(words, self.refused(400, "POST", f"/api/datasets/0/{path}", body))
        for path, words in (("state?x=1", "no field 'x'"), ("events?client=a&x=1", "no field 'x'"),
                            ("datasets/0/geometry?x=1", "no field 'x'"), ("datasets/0/array?nam=a&name=b", "'name'?"),
                            ("datasets/0/array?nme=a", "no field 'nme'; did you mean 'name'?"),
                            ("datasets/0/array?on=cells", "'name' is missing"),
                            ("datasets/0/array?name=a&name=b", "there twice"),
                            ("datasets/0/fibers?array=f&count=-3", "from 1 to 100000"),
                            ("datasets/0/fibers?array=f&count=12x", "'count' is \"12x\"; give a finite number"),
                            ("datasets/0/fibers?array=f&count=%ff", "give a finite number")):
            self.assertIn(words, self.refused(400, "GET", f"/api/{path}"))
        self.alive()

    def test_what_is_wrong_is_named(self):
        points, triangles = square_mesh(3)
        self.write_msh("arrays.msh", points, triangles, cell_arrays={"fiber": [(1, 0, 0)] * 8, "part": [(1,)] * 4 + [(2,)] * 4})
        self.start("arrays.msh")
        source = {"sources": [{"vertex": 0}]}
        parts = lambda speeds: {**source, "regions": {"array": "part", "speeds": speeds}}
        for status, question, body, words in (
                (400, "solve", parts({"1": 0.5, "01": 0.7}), "region 1 is there twice"),
                (422, "solve", parts({"7": 0.5}), "no such region"),
                (400, "solve", {"sources": [{}]}, "'vertex' of sources[0] or 'point' of sources[0] is missing"),
                (400, "solve", {"sources": [{"vertx": 1}]}, "did you mean 'vertex'?"),
                (400, "path", {"to": {}}, "'vertex' of 'to' or 'point' of 'to' is missing"),
                (400, "isosurface", {}, "'level' or 'levels' is missing"),
                (400, "clip", {"point": [0, 0, 0], "normal": [1, 0, 0], "levels": []}, "has 0 numbers in it; give 1 to 501"),
                (400, "clip", {"point": 1, "normal": [1, 0, 0]}, "'point' is not a list of 3 numbers"),
                (400, "solve", '{"sources": [{"vertex": 0, "time": 1e999}]}', "a number in the body is too large"),
                (400, "solve", {**source, "speed": 1e-300}, "'speed' is 1e-300 (too small"),
                (400, "solve", {**source, "speed": 1e300}, "'speed' is 1e+300 (too large"),
                (400, "solve", {**source, "fibers": {"array": "fiber", "velocity": [1, 1e-9]}}, "'velocity' has 1e-09 and 1 (too"),
                (400, "solve", {**source, "seq": 2 ** 53}, "up to 9007199254740991"),
                (400, "solve", {**source, "a\0b": 1}, "no field 'a?b'")):
            self.assertIn(words, self.refused(status, "POST", f"/api/datasets/0/{question}", body), body)
        meta = self.solve([{"vertex": 0}], fibers={"array": "fiber", "velocity": [1, 1e-6]}, seq=2 ** 53 - 1)[0]
        self.assertEqual((meta["seq"], meta["unreached"]), (2 ** 53 - 1, 0))
        for path in (f"state?token={self.token}&token=x", f"datasets/0/geometry?token={self.token}&token="):
            self.assertIn("'token' is there twice", self.refused(400, "GET", f"/api/{path}"))
        self.assertIn("address is too long", self.refused(414, "GET", "/api/datasets/0/array?name=" + "x" * 9000))

    def test_packed_bodies(self):
        self.start("square.msh")
        body = json.dumps({"sources": [{"vertex": 0}]}).encode()
        for kind in ({}, {"Content-Type": "application/x-www-form-urlencoded"}):
            headers = {"Content-Encoding": "gzip", **kind}
            self.assertEqual(self.status("POST", "/api/datasets/0/solve", gzip.compress(body), headers=headers), 200)
            self.assertIn("not packed as it says", self.refused(400, "POST", "/api/datasets/0/solve", body, headers=headers))
            large = gzip.compress(b'{"x": "' + b"a" * (2 << 20) + b'"}')
            self.refused(413, "POST", "/api/datasets/0/solve", large, headers=headers)
        self.alive()

    def test_range_headers(self):
        self.start("square.msh")
        for value in ("bytes=0-1", "bytes=0-", "bytes=-1", "bytes=" + ",".join(["0-1"] * 1500),
                      "bytes=" + ",".join(f"{i}-{i}" for i in range(1000)), "bytes=9-1", "x", "bytes=" + "-" * 7000):
            self.assertIn(self.status("GET", "/api/datasets/0/geometry", headers={"Range": value}), (400, 416), value[:40])
            self.assertIn(self.status("GET", "/", headers={"Range": value}), (400, 416), value[:40])
        self.alive()

    def test_malformed_json(self):
        self.start("square.msh")
        for body in ("", "{", "nothing", "[]", "5", "null", '"x"', '{"sources": [{"vertex": NaN}]}', "{}}", "\xff\xfe",
                     "[" * 100000, '{"a":' * 20000, '{"sources": [{"point": [1e999, 0, 0]}]}',
                     '{"client": "\xff"}', '{"slot": "\\ud800"}',
                     '{"sources": [{"vertex": 0}], "speed": ' + "[" * 400000 + "]" * 400000 + "}",
                     '{"sources": [{"vertex": 0}], "regions": ' + '{"a":' * 90000 + "1" + "}" * 90000 + "}"):
            self.refused(400, "POST", "/api/datasets/0/solve", body.encode("latin-1"))
        self.alive()

    def test_bad_picks(self):
        self.start("square.msh")
        for status, source, words in ((422, {"vertex": 144}, "out of range"), (400, {"vertex": -1}, "whole number"),
                                      (400, {"vertex": 0.5}, "whole number"), (400, {"vertex": 1e18}, "whole number"),
                                      (400, {"vertex": "0"}, "number"), (400, {"point": [0, 0]}, "3 numbers"),
                                      (400, {"point": [None, 0, 0]}, "null"), (400, {"point": ["1", 0, 0]}, "text ('1')"),
                                      (422, {"point": [1e300, 1e300, 1e300]}, "away"),
                                      (422, {"point": [3, 3, 3]}, "away"), (400, {"vertex": 0, "time": "0"}, "text ('0')"),
                                      (400, {"vertex": 0, "point": [0, 0, 0]}, "exclude"), (400, {}, "missing")):
            self.assertIn(words, self.refused(status, "POST", "/api/datasets/0/solve", {"sources": [source]}), source)
        self.refused(400, "POST", "/api/datasets/0/solve", {"sources": [{"vertex": 0}], "seq": 1e300})
        self.assertEqual(self.refused(400, "POST", "/api/datasets/0/solve", {"sources": [{"vertex": 0}], "speed": "1"}),
                         "'speed' is text ('1'); give a number")
        self.refused(422, "POST", "/api/datasets/0/path", {"client": "none", "to": {"vertex": 0}})
        self.assertEqual(self.solve([{"vertex": 0}])[0]["unreached"], 0)

    # ---- many at once

    def test_a_hundred_parallel_picks(self):
        self.start("square.msh")

        def patient(body):
            """Asks again while too many others ask; each time anew, as the server closes what is idle."""
            while True:
                with contextlib.closing(self.connection()) as connection:
                    answer = self.ask("POST", "/api/datasets/0/solve", body, connection=connection)
                if answer[0] != 503:
                    return answer
                time.sleep(0.02)

        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            ones = list(pool.map(lambda i: patient({"client": f"c{i}", "sources": [{"vertex": i}]}), range(100)))
        for i, (status, _, body) in enumerate(ones):
            self.assertEqual(status, 200, body[:200])
            self.assertEqual(self.unpack(body)[1]["times"][i], 0)  # everyone has the answer to their own question
        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            ones = list(pool.map(lambda i: patient({"client": "one", "seq": i, "sources": [{"vertex": i}]}), range(100)))
        statuses = [status for status, _, _ in ones]
        self.assertEqual(statuses[99], 200)  # the latest wins
        self.assertEqual(set(statuses) - {200, 409}, set())
        for status, _, body in ones:
            if status == 409:
                self.assertEqual(json.loads(body), {"error": "superseded"})

    def test_connections_that_come_together_are_all_taken(self):
        self.start("square.msh")
        began = time.monotonic()
        open_at_once = []
        for _ in range(300):
            one = socket.socket()
            self.addCleanup(one.close)
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", self.port))
            open_at_once.append(one)
        for one in open_at_once:
            one.settimeout(30)
            select.select([], [one], [], 30)
            self.assertEqual(one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0)
            one.sendall(b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % self.port)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual({one.recv(12) for one in open_at_once}, {b"HTTP/1.1 404"})

    def test_many_long_questions_leave_room_for_short_ones(self):
        self.start(self.slow_mesh(), "--threads", "1")
        waiting = self.ask_much("many", 60)
        while not self.one_is_refused(waiting):  # they may come slowly
            waiting += [self.post_in_background({"client": "many", "sources": [{"vertex": 0}], "speed": 100 + i})
                        for i in range(60)]
            self.assertLess(len(waiting), 600)
        self.alive()
        stream = self.connection()
        stream.request("GET", f"/api/events?client=many&token={self.token}")
        self.assertEqual(stream.getresponse().status, 200)
        statuses = self.cancel_until_ended(waiting, "many")
        self.assertEqual(set(statuses) | {200}, {200, 409, 503})
        self.solve([{"vertex": 0}])

    def test_one_file_is_read_again_at_a_time(self):
        self.start(self.slow_mesh())
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda _: self.status("POST", "/api/datasets/0/reload", {}), range(8)))
        self.assertEqual(set(statuses), {200, 503})
        self.alive()

    def test_a_file_that_cannot_be_looked_at_ends_nothing(self):
        self.succeed("generate", "cube", "--n", "3", "-o", "cube.node")
        self.start("cube.node")
        (self.folder / "cube.ele").unlink()
        os.symlink("cube.ele", self.folder / "cube.ele")  # leads to itself
        time.sleep(1.5)  # it is looked at every second
        self.assertEqual(json.loads(self.ask("GET", "/api/state")[2])["datasets"][0]["file"], "unreadable")
        self.assertEqual(self.solve([{"vertex": 0}])[0]["unreached"], 0)

    def test_a_deleted_file_is_told(self):
        self.start("square.msh")
        stream = self.connection()
        stream.request("GET", f"/api/events?client=a&token={self.token}")
        events = stream.getresponse()

        def told():
            while not (line := events.readline()).startswith(b"data: "):
                pass
            return json.loads(line[6:])

        os.rename(self.folder / "square.msh", self.folder / "aside.msh")
        self.assertEqual(told(), {"dataset": 0, "file": "deleted"})
        entry = json.loads(self.ask("GET", "/api/state")[2])["datasets"][0]
        self.assertEqual((entry["changed"], entry["file"]), (True, "deleted"))
        self.assertIn("no such file", self.refused(422, "POST", "/api/datasets/0/reload", {}))
        self.assertEqual(self.solve([{"vertex": 0}])[0]["unreached"], 0)
        os.rename(self.folder / "aside.msh", self.folder / "square.msh")
        self.assertEqual(told(), {"dataset": 0, "file": "as read"})
        self.write_msh("square.msh", *square_mesh(5))
        self.assertEqual(told(), {"dataset": 0, "file": "written"})

    def test_streams_are_limited_and_tell_of_changes(self):
        self.start("square.msh")
        streams = []
        for i in range(16):
            stream = self.connection()
            stream.request("GET", f"/api/events?client=s{i}&token={self.token}")
            streams.append(stream.getresponse())
            self.assertEqual(streams[-1].status, 200)
            self.assertEqual(streams[-1].headers["Content-Type"], "text/event-stream")
        self.refused(503, "GET", "/api/events?client=more")
        self.assertEqual(streams[0].readline(), b": alive\n")
        self.write_msh("square.msh", *square_mesh(5))
        lines = []
        while not lines or not lines[-1].startswith(b"data: "):
            lines.append(streams[3].readline())
        self.assertEqual(lines[-2:], [b"event: changed\n", b'data: {"dataset":0,"file":"written"}\n'])
        entry = json.loads(self.ask("GET", "/api/state")[2])["datasets"][0]
        self.assertEqual((entry["changed"], entry["points"]), (True, 144))
        status, _, body = self.ask("POST", "/api/datasets/0/reload", {})
        self.assertEqual(status, 200, body)
        entry = json.loads(body)["datasets"][0]
        self.assertEqual((entry["changed"], entry["points"]), (False, 25))
        self.refused(422, "POST", "/api/datasets/0/solve", {"sources": [{"vertex": 100}]})
        self.write("square.msh", "no mesh")
        self.assertIn("square.msh", self.refused(422, "POST", "/api/datasets/0/reload", {}))
        self.assertEqual(self.solve([{"vertex": 24}])[0]["reached"], 25)  # what was open stays open

    # ---- beginning and end

    def slow_mesh(self):
        """A mesh whose solve takes seconds: strong random anisotropy makes fronts turn back again and again."""
        self.succeed("generate", "cube", "--n", "64", "--random-speed", "0,0.001,1", "-o", "slow.vtk", "--quiet")
        return "slow.vtk"

    def post_in_background(self, body):
        connection = self.connection()
        connection.request("POST", "/api/datasets/0/solve", json.dumps(body), {"X-Isochron-Token": self.token})
        return connection

    def ask_much(self, client, count=30):
        """As many different metrics as it takes for the queue to be busy for a while, without filling the server."""
        sources = [{"vertex": 0}]
        self.solve(sources, client="other")
        waiting = [self.post_in_background({"client": client, "slot": str(i), "sources": sources, "speed": i + 1})
                   for i in range(count)]
        time.sleep(0.1)  # the first is under way
        return waiting

    def one_is_refused(self, waiting):
        """Whether one of them has its answer already: that there are too many."""
        heard = select.select([one.sock for one in waiting], [], [], 0.2)[0]
        return any(one.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 503" for one in heard)

    def cancel_until_ended(self, waiting, client):
        """The statuses of all, of which some may be heard only after a first cancel."""
        ended = threading.Event()

        def cancel():
            while not ended.wait(0.05):
                self.status("POST", "/api/datasets/0/cancel", {"client": client})

        cancelling = threading.Thread(target=cancel)
        cancelling.start()
        try:
            return [one.getresponse().status for one in waiting]
        finally:
            ended.set()
            cancelling.join()

    def all_end(self, statuses):
        self.assertEqual(set(statuses) - {200, 409}, set())
        self.assertEqual(statuses[-1], 409, statuses)
        self.alive()

    def test_closing_the_browser_stops_its_work(self):
        self.start(self.slow_mesh(), "--threads", "1")
        stream = self.connection()
        stream.request("GET", f"/api/events?client=gone&token={self.token}")
        self.assertEqual(stream.getresponse().status, 200)
        waiting = self.ask_much("gone")
        stream.sock.shutdown(socket.SHUT_RDWR)
        stream.close()
        self.all_end([one.getresponse().status for one in waiting])

    def test_work_is_cancelled_on_request(self):
        self.start(self.slow_mesh(), "--threads", "1")
        waiting = self.ask_much("one")
        self.all_end(self.cancel_until_ended(waiting, "one"))

    def test_a_script_that_is_run_again_begins_to_count_anew(self):
        self.start("square.msh")
        asked = {"client": "script", "sources": [{"vertex": 0}]}
        self.solve(**asked, seq=9)
        self.assertEqual(self.refused(409, "POST", "/api/datasets/0/solve", {**asked, "seq": 1}), "superseded")
        self.assertEqual(self.status("POST", "/api/datasets/0/cancel", {"client": "script"}), 200)
        self.solve(**asked, seq=1)

    def test_ctrl_c_ends_it(self):
        process = self.start("square.msh")
        stream = self.connection()
        stream.request("GET", f"/api/events?client=a&token={self.token}")
        stream.getresponse()
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()  # `communicate` would miss what came with the first line
        err = process.communicate(timeout=20)[1]
        self.assertEqual((process.returncode, out), (0, "Ctrl-C ends it.\n"))
        self.assertNotIn("error", err)
        with self.assertRaises(OSError):
            self.status("GET", "/api/state")

    def test_a_server_in_the_background_of_a_script_ends_when_told(self):
        for told in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # such jobs start with SIGINT ignored
            process = self.start("square.msh", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
            stream = self.connection()
            stream.request("GET", f"/api/events?client=a&token={self.token}")
            self.assertEqual(stream.getresponse().status, 200)
            process.send_signal(told)
            err = process.communicate(timeout=20)[1]
            self.assertEqual((process.returncode, err), (0, ""))

    def test_nohup_is_obeyed(self):
        process = self.start("square.msh", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.alive()

    def test_quiet_prints_the_address_alone(self):
        process = self.start("square.msh", "--quiet")
        process.terminate()
        self.assertEqual((process.stdout.read(), process.communicate(timeout=20)[1]), ("", ""))

    def test_ctrl_c_at_once_ends_it(self):
        for _ in range(5):
            process = self.start("square.msh", "--quiet")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0)

    def test_ctrl_c_while_solving_ends_it(self):
        process = self.start(self.slow_mesh(), "--threads", "1")
        waiting = [self.post_in_background({"slot": str(i), "sources": [{"vertex": 0}], "speed": i + 1})
                   for i in range(20)]
        self.assertTrue(waiting)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)

    def test_a_browser_is_opened_where_there_is_a_display(self):
        opener = self.folder / "xdg-open"
        opener.write_text('#!/bin/sh\nprintf "%s\\n%s\\n" $$ "$1" > opened.part && mv opened.part opened\n', encoding="ascii")
        opener.chmod(0o755)
        environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "DISPLAY": ":9", "TMPDIR": str(self.folder)}
        process = self.start("square.msh", "--quiet", browser=(), env=environment)
        end = time.monotonic() + 30
        while not (self.folder / "opened").exists() and time.monotonic() < end:
            time.sleep(0.05)
        opener_id, opened = (self.folder / "opened").read_text(encoding="ascii").splitlines()
        page = pathlib.Path(opened)  # not the address itself, which others could read as an argument
        self.assertEqual(page.read_text(encoding="ascii").count(f"http://127.0.0.1:{self.port}/?token={self.token}"), 2)
        self.assertEqual((page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777), (0o600, 0o700))
        while os.path.exists(f"/proc/{opener_id}") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(os.path.exists(f"/proc/{opener_id}"))
        process.send_signal(signal.SIGHUP)  # its terminal was closed
        process.communicate(timeout=20)
        self.assertEqual((process.returncode, page.parent.exists()), (0, False))
        del environment["DISPLAY"]
        process = self.start("square.msh", browser=(), env=environment)
        process.send_signal(signal.SIGINT)
        self.assertIn("open the address in one", process.communicate(timeout=20)[1])

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.expect(1, "view", "square.msh", "--no-browser", "--port", port, words=[f"port {port}", "in use"])
        self.start("square.msh", "--port", port)
        self.assertEqual(self.port, port)
        self.expect(1, "view", "square.msh", "--no-browser", "--port", port, words=[f"port {port}", "in use"])
        self.expect(2, "view", "square.msh", "--port", "70000", words=["--port", "65,535"])

    def test_files_that_cannot_be_opened(self):
        self.expect(3, "view", "--no-browser", "missing.msh", words=["missing.msh"])
        self.expect(3, "view", "--no-browser", "square.msh", "missing.msh", words=["missing.msh"])
        self.expect(3, "view", "--no-browser", ".", words=["."])
        self.write("text.xyz", "hello")
        self.expect(3, "view", "--no-browser", "text.xyz", words=["text.xyz"])
        self.write("broken.msh", "$MeshFormat\n")
        self.expect(3, "view", "--no-browser", "broken.msh", words=["broken.msh"])
        self.expect(2, "view", words=["FILE"])

    def test_options_for_tensors_need_some(self):
        for option in (("--mask", "square.msh"), ("--tensor-order", "fsl"), ("--tensor-frame", "voxel")):
            self.expect(2, "view", "--no-browser", "square.msh", *option, words=[option[0], "no file is an image of tensors"])

    def test_a_file_of_ten_gigabytes_is_refused_at_once(self):
        with open(self.folder / "large.vtu", "wb") as large:
            large.truncate(10 * 10 ** 9)
        began = time.monotonic()
        self.expect(3, "view", "--no-browser", "large.vtu", words=["large.vtu", "10.0 GB", "8.0 GB", "--max-size"])
        self.assertLess(time.monotonic() - began, 5)
        self.expect(3, "view", "--no-browser", "square.msh", "--max-size", "0.000001", words=["up to 1000 bytes", "--max-size"])
        size = (self.folder / "square.msh").stat().st_size
        self.expect(3, "view", "--no-browser", "square.msh", "--max-size", (size - 1) / 1e9, words=[f"has {size} bytes"])
        self.start("square.msh", "--max-size", (size + 0.5) / 1e9)
        self.start("square.msh", "--max-size", "1e300")
