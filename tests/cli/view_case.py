"""Starts servers of `isochron view` and asks them."""

import http.client
import json
import math
import re
import struct
import subprocess

from cli_case import BINARY, CliCase, square_mesh, words_of


class ViewCase(CliCase):
    """Starts servers and asks them; a test that starts none asks one of square.msh."""

    def setUp(self):
        super().setUp()
        if "not in this build" in self.run_isochron("view", "x.msh").stderr:
            self.skipTest("this build has no viewer")
        self.write_msh("square.msh", *square_mesh(12))

    # ---- running

    def start(self, *arguments, browser=("--no-browser",), **options):
        """Starts a server that is ended with the test."""
        process = subprocess.Popen([BINARY, "view", *browser, *words_of(arguments)], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self.end, process)
        line = process.stdout.readline()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", line.strip())
        self.assertTrue(found, line or process.communicate()[1])
        self.address = int(found[1]), found[2]
        return process

    address = None  # port and token of the server that was started last

    def where(self):
        if self.address is None:
            self.start("square.msh")
        return self.address

    port = property(lambda self: self.where()[0])
    token = property(lambda self: self.where()[1])

    def end(self, process):
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)

    def connection(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        return connection

    def ask(self, method, path, body=None, token=True, headers=None, connection=None):
        """Status, headers and body of an answer. Paths without a slash in front ask data set 0."""
        path = path if path.startswith("/") else "/api/datasets/0/" + path
        headers = dict(headers or {})
        if token:
            headers.setdefault("X-Isochron-Token", self.token)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        connection = connection or self.connection()
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def status(self, *arguments, **options):
        return self.ask(*arguments, **options)[0]

    def refused(self, status, *arguments, **options):
        """The message of an answer that must be an error."""
        got, headers, body = self.ask(*arguments, **options)
        self.assertEqual(got, status, body[:300])
        self.assertEqual(headers["Content-Type"], "application/json")
        return json.loads(body)["error"]

    def data_sets(self):
        return json.loads(self.ask("GET", "/api/state")[2])["datasets"]

    def answer(self, *arguments):
        """The meta data and the arrays of an answer that must be one."""
        status, _, body = self.ask(*arguments)
        self.assertEqual(status, 200, body[:300])
        return self.unpack(body)

    def read(self, path):
        return self.answer("GET", path)

    def post(self, path, **fields):
        return self.answer("POST", path, {"client": "test", **fields})

    def solve(self, sources, **fields):
        return self.post("solve", sources=sources, **fields)

    def events(self, client):
        """The stream of events of a client: its connection and its answer."""
        connection = self.connection()
        connection.request("GET", f"/api/events?client={client}&token={self.token}")
        stream = connection.getresponse()
        self.assertEqual(stream.status, 200)
        return connection, stream

    def unpack(self, pack):
        """The meta data and the arrays of a packed answer."""
        self.assertEqual(pack[:4], b"ISO1")
        length = struct.unpack_from("<I", pack, 4)[0]
        header = json.loads(pack[8:8 + length])
        arrays = {}
        for name, array in header["arrays"].items():
            kind = {"float32": "f", "uint32": "I", "uint8": "B"}[array["dtype"]]
            arrays[name] = struct.unpack_from(f"<{math.prod(array['shape'])}{kind}", pack, 8 + length + array["offset"])
        return header["meta"], arrays

    def alive(self):
        """The server still answers."""
        self.assertEqual(self.status("GET", "/api/state"), 200)
