#!/usr/bin/env python3
"""Measures the server behind `isochron view`: answers a second while a source is dragged, and the first view of a mesh.

  scripts/bench_view.py BINARY MESH [--seconds 5] [--by point|vertex]

Prints how long the mesh took to open and its geometry to arrive, then the answers a second over one kept connection
(source moved each time, times and isochrones sent back), as a browser would ask for them.
"""

import argparse
import http.client
import json
import os
import random
import re
import statistics
import struct
import subprocess
import time


class View:
    """A running server and one connection to it."""

    def __init__(self, binary, mesh):
        start = time.monotonic()
        self.process = subprocess.Popen([binary, "view", mesh, "--no-browser", "--quiet"], text=True,
                                        stdout=subprocess.PIPE)
        port, self.token = re.match(r"http://127.0.0.1:(\d+)/\?token=(\w+)", self.process.stdout.readline()).groups()
        self.open_seconds = time.monotonic() - start
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port))

    def ask(self, name, body=None):
        """The bytes of an answer; of a posted question when there is a body."""
        self.connection.request("GET" if body is None else "POST", f"/api/{name}",
                                None if body is None else json.dumps(body), {"X-Isochron-Token": self.token})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{name}: {answer.status} {content[:200]}")
        return content

    def resident_megabytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait(20)


def unpack(pack):
    """The header of a packed answer, and the arrays' bytes."""
    length = struct.unpack_from("<I", pack, 4)[0]
    return json.loads(pack[8:8 + length]), memoryview(pack)[8 + length:]


def drag(view, points, vertices, by, seconds):
    """Moves the source for a while; gives the seconds of each answer and the server's last summary."""
    taken, meta, end = [], {}, time.monotonic() + seconds
    while time.monotonic() < end:
        i = random.randrange(len(vertices))
        source = {"vertex": vertices[i]} if by == "vertex" else {"point": list(points[3 * i:3 * i + 3])}
        start = time.monotonic()
        answer = view.ask("datasets/0/solve", {"client": "bench", "seq": len(taken), "slot": "a", "sources": [source],
                                               "speed": 1, "isochrones": {"about": 14}})
        taken.append(time.monotonic() - start)
        meta = unpack(answer)[0]["meta"]
    return taken, meta


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("mesh")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--by", choices=["point", "vertex"], default="point")
    options = parser.parse_args()
    random.seed(1)
    view = View(options.binary, options.mesh)
    try:
        start = time.monotonic()
        header, payload = unpack(view.ask("datasets/0/geometry"))
        geometry_seconds = time.monotonic() - start
        arrays = header["arrays"]
        count = arrays["points"]["shape"][0]
        points = payload[arrays["points"]["offset"]:][:12 * count].cast("f")
        vertices = payload[arrays["vertex"]["offset"]:][:4 * count].cast("I")
        print(f"open {view.open_seconds:.2f} s, geometry {geometry_seconds:.2f} s "
              f"({arrays['triangles']['shape'][0]} triangles, {len(payload) / 1e6:.1f} MB), {view.cpu_seconds():.2f} CPU s, "
              f"{view.resident_megabytes():.0f} MB resident")
        used = view.cpu_seconds()
        taken, meta = drag(view, points, vertices, options.by, options.seconds)
        used = view.cpu_seconds() - used
        print(f"{len(taken) / sum(taken):.1f} answers/s ({1e3 * used / len(taken):.1f} CPU ms each), median {1e3 * statistics.median(taken):.1f} ms, worst "
              f"{1e3 * max(taken):.1f} ms, first {1e3 * taken[0]:.1f} ms; last: {meta['milliseconds']:.1f} ms in the server, "
              f"{meta['solve_milliseconds']:.1f} ms of them solving ({meta['backend']}, {meta['threads']} threads); "
              f"{view.resident_megabytes():.0f} MB resident")
    finally:
        view.end()


if __name__ == "__main__":
    main()
