"""The server behind `isochron view`: who may ask, what is answered, and what is never served."""

import gzip
import http.client
import json
import math
import os
import socket
import time

from cli_case import square_mesh, TET, TET_POINTS
from view_case import ViewCase


class View(ViewCase):
    # ---- the answers

    def test_state_geometry_and_solve(self):
        status, headers, body = self.ask("GET", "/api/state")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Cache-Control"], "no-store")
        state = json.loads(body)
        self.assertEqual(len(state["datasets"]), 1)
        entry = state["datasets"][0]
        self.assert_fields(entry, id=0, name="square.msh", kind="mesh", points=144, triangles=242, solvable=True)
        status, headers, body = self.ask("GET", "geometry")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/x-isochron-pack"))
        points = self.unpack(body)[1]["points"]
        meta, arrays = self.solve([{"vertex": 0}], speed=2, isochrones={"about": 10})
        self.assertEqual(meta["reached"], 144)
        for i, time_there in enumerate(arrays["times"]):
            self.assertAlmostEqual(time_there, math.dist(points[3 * i:3 * i + 3], (0, 0, 0)) / 2, delta=0.03)
        self.assertGreater(len(arrays["iso_levels"]), 4)

    def test_the_page_and_its_headers(self):
        status, headers, body = self.ask("GET", "/", token=False)
        self.assertEqual(status, 200)
        self.assertIn(b"isochron", body.lower())
        self.assertIn("default-src 'self'", headers["Content-Security-Policy"])
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertNotIn(self.token.encode(), body)

    def test_several_files_and_an_export(self):
        self.write_msh("tet.msh", TET_POINTS, tets=TET)
        self.start("square.msh tet.msh")
        names = [entry["name"] for entry in self.data_sets()]
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
            self.assertEqual(self.refused(422, "GET", f"array?name={name}&on={on}"),
                             f"array '{name}' is on the {other}, not on the {on}; ask with on={other}")
            self.assertEqual(self.status("GET", f"array?name={name}&on={other}"), 200)
        self.assertIn("on=cells", self.refused(422, "GET", "array?name=fiber"))
        self.assertIn("choose one of: depth", self.refused(422, "GET", "array?name=cv"))
        still = {"sources": [{"vertex": 0}], "speed_array": "still"}
        self.assertIn("2 elements that do not conduct", self.refused(422, "POST", "solve", still))
        self.assertEqual(self.solve([{"vertex": 0}], speed_array="depth")[0]["unreached"], 0)

    def test_exports_name_the_formats_that_hold_the_mesh(self):
        self.write_msh("tet.msh", TET_POINTS, tets=TET)
        self.start("tet.msh")
        self.solve([{"vertex": 0}])
        said = self.refused(422, "POST", "export", {"client": "test", "format": "ply"})
        self.assertTrue(said.startswith("ply files cannot hold these cells"), said)
        able = said.split("use one of ")[1].split(", ")
        self.assertEqual(able, ["vtu", "vtk", "msh", "csv", "npy"])
        for one in able:
            self.assertEqual(self.status("POST", "export", {"client": "test", "format": one}), 200, one)
        self.assertIn("vtu, vtp", self.refused(400, "POST", "export", {"client": "test", "format": "exe"}))

    def test_the_spacing_is_that_of_the_isochrones(self):
        for about in (1, 2, 5):
            meta, arrays = self.solve([{"vertex": 0}], isochrones={"about": about})
            count = math.ceil(meta["max_time"] / meta["spacing"]) - 1
            self.assertEqual({round(level / meta["spacing"], 5) for level in arrays["iso_levels"]}, set(range(1, count + 1)))
        self.assertEqual(self.solve([{"vertex": 0}], isochrones={"spacing": 5})[0]["spacing"], 5)  # of none
        everywhere = [{"vertex": i} for i in range(144)]
        self.assertIsNone(self.solve(everywhere, isochrones={})[0]["spacing"])

    def test_sources_off_the_mesh_are_named(self):
        sources = [{"point": [9, 9, 0]}, {"point": [0.5, 0.5, 0]}, {"vertex": 3}, {"point": [0, 0, 5]}]
        status, _, body = self.ask("POST", "solve", {"sources": sources})
        self.assertEqual((status, json.loads(body)["sources"]), (422, [1, 3]))  # vertices are counted first
        self.assertIn("the point 9,9,0 is 11.3", json.loads(body)["error"])

    def test_questions_are_those_that_can_be_answered(self):
        self.write_msh("tet.msh", TET_POINTS, tets=TET)
        self.write("lines.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n"
                                "0 0 0 1 0 0\nLINES 1 3\n2 0 1\n")
        self.start("tet.msh square.msh lines.vtk")
        tet, square, lines = (set(entry["questions"]) for entry in self.data_sets())
        self.assertEqual(tet - square, {"POST isosurface"})
        self.assertEqual(square - lines, {"POST solve", "POST path", "POST export"})
        self.assertEqual(lines - tet, set())
        self.assertIn("no tetrahedra", self.refused(422, "POST", "/api/datasets/1/isosurface", {"level": 1}))

    def test_directions_are_advised(self):
        points, triangles = square_mesh(3)
        self.write_msh("arrays.msh", points, triangles, point_arrays={"depth": [(1,)] * 9, "along": [(1, 0, 0)] * 9},
                       cell_arrays={"fiber": [(1, 0, 0)] * len(triangles)})
        self.start("arrays.msh square.msh")
        for name, words in (("fi%25zzber", "no array 'fi%zzber'"), ("depth", "'depth' has 1 components")):
            said = self.refused(422, "GET", f"fibers?array={name}")
            self.assertIn(words, said)
            self.assertTrue(said.endswith("choose one of: fiber, along"), said)
        self.assertIn("no directions", self.refused(422, "GET", "/api/datasets/1/fibers?array=x"))
        for question in ("fibers?array=%00fiber", "array?name=a%0ab"):
            self.assertIn("control characters", self.refused(400, "GET", question))

    def test_lines_can_be_seen_but_not_solved(self):
        self.write("lines.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n"
                                "0 0 0 1 0 0 1 1 0\nLINES 1 4\n3 0 1 2\n")
        self.start("lines.vtk")
        entry = self.data_sets()[0]
        self.assertFalse(entry["solvable"])
        self.assertIn("no triangles", entry["why"])
        _, arrays = self.unpack(self.ask("GET", "geometry")[2])
        self.assertEqual(arrays["line_offsets"], (0, 3))
        self.assertIn("nothing to solve on", self.refused(422, "POST", "solve", {"sources": [{"vertex": 0}]}))

    # ---- who may ask

    def test_no_or_wrong_token(self):
        for path in ("/api/state", "/api/events?client=a", "/api/datasets/0/geometry", "/api/nothing", "/api",
                     "/%61pi/state"):
            self.refused(401, "GET", path, token=False)
            self.refused(403, "GET", path, token=False, headers={"X-Isochron-Token": "0" * 32})
        self.refused(401, "POST", "solve", {"sources": [{"vertex": 0}]}, token=False)
        self.refused(403, "GET", "/api/state?token=" + self.token[:-1], token=False)
        self.refused(403, "GET", "/api/state?token=" + self.token + "0", token=False)
        self.assertEqual(self.status("GET", "/api/state?token=" + self.token, token=False), 200)

    def test_foreign_host_or_origin(self):
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1", f"127.0.0.1:{self.port + 1}", "[::1]", ""):
            self.refused(403, "GET", "/api/state", headers={"Host": host})
            self.refused(403, "GET", "/", headers={"Host": host})
        self.assertEqual(self.status("GET", "/api/state", headers={"Host": f"localhost:{self.port}"}), 200)
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{self.port}", "http://127.0.0.1"):
            self.refused(403, "GET", "/api/state", headers={"Origin": origin})
        self.assertEqual(self.status("GET", "/api/state", headers={"Origin": f"http://127.0.0.1:{self.port}"}), 200)

    def raw(self, *pieces):
        """A connection of its own that has sent these bytes."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(connection.close)
        for piece in pieces:
            connection.sendall(piece)
        return connection

    def answered(self, *pieces):
        """The status and the body of an answer to bytes as they are."""
        connection = self.raw(*pieces)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read()

    def assert_quick(self):
        begin = time.monotonic()
        self.alive()
        self.assertEqual(self.status("GET", "/", token=False), 200)
        self.assertLess(time.monotonic() - begin, 1)

    def test_idle_connections_delay_nobody(self):
        held = [self.raw() for _ in range(300)]
        self.assert_quick()
        held += [self.raw() for _ in range(300)]  # more than are kept
        self.assert_quick()

    def test_slow_connections_delay_nobody(self):
        start = f"POST /api/datasets/0/solve HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n".encode()
        held = [self.raw(start) for _ in range(100)]
        held += [self.raw(start, b"Content-Length: 1000\r\n\r\n{") for _ in range(100)]
        for connection in held:
            connection.sendall(b"a")
        self.assert_quick()

    def test_headers_that_do_not_end(self):
        connection = self.raw(b"GET / HTTP/1.1\r\n")
        answer = http.client.HTTPResponse(connection)
        begin = time.monotonic()
        answer.begin()
        self.assertEqual(answer.status, 408)
        self.assertLess(time.monotonic() - begin, 6)

    def test_too_many_or_large_headers(self):
        start = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n".encode()
        many = b"".join(b"X-%d: 1\r\n" % i for i in range(10000))
        for more in (many, b"X-Long: " + b"a" * 100000 + b"\r\n"):
            status, body = self.answered(start, more, b"\r\n")
            self.assertEqual((status, json.loads(body)["error"][:24]), (431, "the header is too large;"))
        self.assertEqual(self.answered(start, b"X-A: 1\r\n" * 50, b"\r\n")[0], 200)
        self.alive()

    def test_two_hosts(self):
        host = f"Host: 127.0.0.1:{self.port}\r\n".encode()
        status, body = self.answered(b"GET / HTTP/1.1\r\n", host, b"Host: example.com\r\n\r\n")
        self.assertEqual(status, 400)
        self.assertIn("twice", json.loads(body)["error"])

    def test_requests_may_come_together_or_in_pieces(self):
        request = (f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                   f"x-isochron-token: {self.token}\r\n\r\n").encode()
        connection = self.raw(request + request, request[:20])
        connection.sendall(request[20:])
        received = b""
        while received.count(b'"datasets"') < 3:
            received += connection.recv(65536)
        self.assertEqual(received.count(b"HTTP/1.1 200"), 3)

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
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
            self.assertIn(self.status(method, "/api/state"), (400, 404, 405), method)
        for method, path, allowed in (("GET", "solve", "POST"), ("GET", "reload", "POST"), ("GET", "cancel", "POST"),
                                      ("POST", "/", "GET, HEAD"), ("POST", "geometry", "GET, HEAD"),
                                      ("POST", "/api/state", "GET, HEAD"), ("POST", "/api/events", "GET, HEAD"),
                                      ("HEAD", "/api/events?client=a", "GET")):
            status, headers, _ = self.ask(method, path, None if method != "POST" else {})
            self.assertEqual((status, headers["Allow"]), (405, allowed), (method, path))
        for method in ("GET", "POST"):
            body = {} if method == "POST" else None
            for path in ("/api/nothing", "nothing", "histogram", "/api/datasets/9/solve", "/nothing"):
                self.refused(404, method, path, body)
        self.assertIn("'histogram' here; ask for geometry, array", self.refused(404, "GET", "histogram"))
        self.alive()

    def test_whole_answers_only(self):
        for path in ("/", "/api/state", "geometry"):
            status, headers, body = self.ask("HEAD", path)
            self.assertEqual((status, headers["Accept-Ranges"], body), (200, "none", b""))
            self.assertEqual(int(headers["Content-Length"]), len(self.ask("GET", path)[2]))

    def test_forms(self):
        urlencoded = {"Content-Type": "application/x-www-form-urlencoded"}
        for body, headers in (("--x--", {"Content-Type": "multipart/form-data; boundary=x"}), ("a=1&b=2", urlencoded),
                              ("", urlencoded)):
            self.assertIn("send JSON", self.refused(415, "POST", "solve", body, headers=headers))
        body = json.dumps({"sources": [{"vertex": 0}]})  # as `curl -d` sends it
        self.assertEqual(self.status("POST", "solve", body, headers=urlencoded), 200)
        self.assertIn("not JSON", self.refused(400, "POST", "solve", "{a=1", headers=urlencoded))
        self.assertIn("only POST", self.refused(400, "GET", "/api/state", "{}"))

    def test_no_body_is_an_object_without_fields(self):
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
        hidden = f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nX-Isochron-Token: {self.token}\r\n\r\n"
        form = {"Content-Type": "multipart/form-data; boundary=x"}
        for status, method, path, fields in ((401, "POST", "solve", {"token": False}),
                                             (403, "POST", "/", {"headers": {"Host": "evil.example"}}),
                                             (415, "POST", "solve", {"headers": form}),
                                             (414, "POST", "/" + "a" * 5000, {}), (405, "PUT", "/api/state", {}),
                                             (405, "DELETE", "/", {}), (405, "POST", "/", {"body": "{}"}),
                                             (404, "POST", "nothing", {}), (400, "POST", "solve?client=a", {}),
                                             (413, "POST", "/", {"body": hidden * 20000})):
            connection = self.connection()
            self.refused(status, method, path, connection=connection, **{"body": hidden, **fields})
            kept = connection.sock
            self.refused(404, "GET", "/nothing", connection=connection)  # the next answer is that to the next question
            self.assertIs(connection.sock, kept)
        self.alive()

    def test_long_or_odd_names_are_refused(self):
        sources = [{"vertex": 0}]
        for name in ("client", "slot"):
            body = {"sources": sources, "seq": 1, name: "x" * 64}
            self.assertEqual(self.status("POST", "solve", body), 200)
            for text, words in (("x" * 65, "too long"), ("x" * 500, "too long"), ("a\nb", "control"), (5, "not a text")):
                self.assertIn(f"'{name}'", self.refused(400, "POST", "solve", {**body, name: text}), words)
        self.assertIn("control", self.refused(400, "POST", "cancel", {"client": "a\nb"}))
        self.assertIn("missing", self.refused(400, "POST", "cancel", {}))
        for client in ("", "%0a", "x" * 65):
            self.assertIn("'client'", self.refused(400, "GET", f"/api/events?client={client}"))

    def test_unknown_fields_are_refused(self):
        sources = [{"vertex": 0}]
        for path, body, words in (("solve", {"sources": sources, "sped": 2}, "did you mean 'speed'?"),
                                  ("solve", {"source": sources}, "did you mean 'sources'?"),
                                  ("reload", {"force": True}, "no field 'force'"),
                                  ("cancel", {"client": "a", "slot": "b"}, "no field 'slot'"),
                                  ("solve?speed=2", {"sources": sources}, "posted object"),
                                  ("solve", '{"sources": [{"vertex": 0}], "speed": 1, "speed": 2}', "'speed' is there twice")):
            self.assertIn(words, self.refused(400, "POST", path, body))
        for path, words in (("/api/state?x=1", "no field 'x'"), ("/api/events?client=a&x=1", "no field 'x'"),
                            ("geometry?x=1", "no field 'x'"), ("array?nam=a&name=b", "'name'?"),
                            ("array?nme=a", "no field 'nme'; did you mean 'name'?"),
                            ("array?on=cells", "'name' is missing"), ("array?name=a&name=b", "there twice"),
                            ("fibers?array=f&count=-3", "from 1 to 100000"),
                            ("fibers?array=f&count=12x", "'count' is \"12x\"; give a finite number"),
                            ("fibers?array=f&count=%ff", "give a finite number")):
            self.assertIn(words, self.refused(400, "GET", path))
        self.alive()

    def test_what_is_wrong_is_named(self):
        self.write_msh("arrays.msh", *square_mesh(3),
                       cell_arrays={"fiber": [(1, 0, 0)] * 8, "part": [(1,)] * 4 + [(2,)] * 4})
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
            self.assertIn(words, self.refused(status, "POST", question, body), body)
        meta = self.solve([{"vertex": 0}], fibers={"array": "fiber", "velocity": [1, 1e-6]}, seq=2 ** 53 - 1)[0]
        self.assert_fields(meta, seq=2 ** 53 - 1, unreached=0)
        for path in (f"/api/state?token={self.token}&token=x", f"geometry?token={self.token}&token="):
            self.assertIn("'token' is there twice", self.refused(400, "GET", path))
        self.assertIn("address is too long", self.refused(414, "GET", "array?name=" + "x" * 9000))

    def test_packed_bodies(self):
        body = json.dumps({"sources": [{"vertex": 0}]}).encode()
        for kind in ({}, {"Content-Type": "application/x-www-form-urlencoded"}):
            headers = {"Content-Encoding": "gzip", **kind}
            self.assertEqual(self.status("POST", "solve", gzip.compress(body), headers=headers), 200)
            self.assertIn("not packed as it says", self.refused(400, "POST", "solve", body, headers=headers))
            large = gzip.compress(b'{"x": "' + b"a" * (2 << 20) + b'"}')
            self.refused(413, "POST", "solve", large, headers=headers)
        self.alive()

    def test_range_headers(self):
        for value in ("bytes=0-1", "bytes=0-", "bytes=-1", "bytes=" + ",".join(["0-1"] * 1500),
                      "bytes=" + ",".join(f"{i}-{i}" for i in range(1000)), "bytes=9-1", "x", "bytes=" + "-" * 7000):
            self.assertIn(self.status("GET", "geometry", headers={"Range": value}), (400, 416), value[:40])
            self.assertIn(self.status("GET", "/", headers={"Range": value}), (400, 416), value[:40])
        self.alive()

    def test_malformed_json(self):
        for body in ("", "{", "nothing", "[]", "5", "null", '"x"', '{"sources": [{"vertex": NaN}]}', "{}}", "\xff\xfe",
                     "[" * 100000, '{"a":' * 20000, '{"sources": [{"point": [1e999, 0, 0]}]}', '{"client": "\xff"}',
                     '{"slot": "\\ud800"}', '{"sources": [{"vertex": 0}], "speed": ' + "[" * 400000 + "]" * 400000
                     + "}", '{"sources": [{"vertex": 0}], "regions": ' + '{"a":' * 90000 + "1" + "}" * 90000 + "}"):
            self.refused(400, "POST", "solve", body.encode("latin-1"))
        self.alive()

    def test_bad_picks(self):
        for status, source, words in ((422, {"vertex": 144}, "out of range"), (400, {"vertex": -1}, "whole number"),
                                      (400, {"vertex": 0.5}, "whole number"), (400, {"vertex": 1e18}, "whole number"),
                                      (400, {"vertex": "0"}, "number"), (400, {"point": [0, 0]}, "3 numbers"),
                                      (400, {"point": [None, 0, 0]}, "null"), (400, {"point": ["1", 0, 0]}, "text ('1')"),
                                      (422, {"point": [1e300, 1e300, 1e300]}, "away"),
                                      (422, {"point": [3, 3, 3]}, "away"), (400, {"vertex": 0, "time": "0"}, "text ('0')"),
                                      (400, {"vertex": 0, "point": [0, 0, 0]}, "exclude"), (400, {}, "missing")):
            self.assertIn(words, self.refused(status, "POST", "solve", {"sources": [source]}), source)
        self.refused(400, "POST", "solve", {"sources": [{"vertex": 0}], "seq": 1e300})
        self.assertEqual(self.refused(400, "POST", "solve", {"sources": [{"vertex": 0}], "speed": "1"}),
                         "'speed' is text ('1'); give a number")
        self.refused(422, "POST", "path", {"client": "none", "to": {"vertex": 0}})
        self.assertEqual(self.solve([{"vertex": 0}])[0]["unreached"], 0)
