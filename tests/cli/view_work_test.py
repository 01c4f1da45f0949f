"""The server behind `isochron view` at work: many questions at once, files that change, how it begins and ends."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import threading
import time

from cli_case import square_mesh
from view_case import ViewCase


class ViewWork(ViewCase):
    # ---- many at once

    def test_a_hundred_parallel_picks(self):
        self.start("square.msh")

        def patient(body):
            """Asks again while too many others ask; each time anew, as the server closes what is idle."""
            while True:
                with contextlib.closing(self.connection()) as connection:
                    answer = self.ask("POST", "solve", body, connection=connection)
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
        self.start(self.slow_mesh(), "--threads 1")
        waiting = self.ask_much("many", 60)
        while not self.one_is_refused(waiting):  # they may come slowly
            waiting += [self.post_in_background({"client": "many", "sources": [{"vertex": 0}], "speed": 100 + i})
                        for i in range(60)]
            self.assertLess(len(waiting), 600)
        self.alive()
        self.events("many")
        self.assertEqual(set(self.cancel_until_ended(waiting, "many")) | {200}, {200, 409, 503})
        self.solve([{"vertex": 0}])

    def test_one_file_is_read_again_at_a_time(self):
        self.start(self.slow_mesh())
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda _: self.status("POST", "reload", {}), range(8)))
        self.assertEqual(set(statuses), {200, 503})
        self.alive()

    def test_a_file_that_cannot_be_looked_at_ends_nothing(self):
        self.succeed("generate cube --n 3 -o cube.node")
        self.start("cube.node")
        (self.folder / "cube.ele").unlink()
        os.symlink("cube.ele", self.folder / "cube.ele")  # leads to itself
        time.sleep(1.5)  # it is looked at every second
        self.assertEqual(self.data_sets()[0]["file"], "unreadable")
        self.assertEqual(self.solve([{"vertex": 0}])[0]["unreached"], 0)

    def test_a_deleted_file_is_told(self):
        self.start("square.msh")
        events = self.events("a")[1]

        def told():
            while not (line := events.readline()).startswith(b"data: "):
                pass
            return json.loads(line[6:])

        os.rename(self.folder / "square.msh", self.folder / "aside.msh")
        self.assertEqual(told(), {"dataset": 0, "file": "deleted"})
        self.assert_fields(self.data_sets()[0], changed=True, file="deleted")
        self.assertIn("no such file", self.refused(422, "POST", "reload", {}))
        self.assertEqual(self.solve([{"vertex": 0}])[0]["unreached"], 0)
        os.rename(self.folder / "aside.msh", self.folder / "square.msh")
        self.assertEqual(told(), {"dataset": 0, "file": "as read"})
        self.write_msh("square.msh", *square_mesh(5))
        self.assertEqual(told(), {"dataset": 0, "file": "written"})

    def test_streams_are_limited_and_tell_of_changes(self):
        self.start("square.msh")
        streams = []
        for i in range(16):
            streams.append(self.events(f"s{i}")[1])
            self.assertEqual(streams[-1].headers["Content-Type"], "text/event-stream")
        self.refused(503, "GET", "/api/events?client=more")
        self.assertEqual(streams[0].readline(), b": alive\n")
        self.write_msh("square.msh", *square_mesh(5))
        lines = []
        while not lines or not lines[-1].startswith(b"data: "):
            lines.append(streams[3].readline())
        self.assertEqual(lines[-2:], [b"event: changed\n", b'data: {"dataset":0,"file":"written"}\n'])
        self.assert_fields(self.data_sets()[0], changed=True, points=144)
        status, _, body = self.ask("POST", "reload", {})
        self.assertEqual(status, 200, body)
        self.assert_fields(json.loads(body)["datasets"][0], changed=False, points=25)
        self.refused(422, "POST", "solve", {"sources": [{"vertex": 100}]})
        self.write("square.msh", "no mesh")
        self.assertIn("square.msh", self.refused(422, "POST", "reload", {}))
        self.assertEqual(self.solve([{"vertex": 24}])[0]["reached"], 25)  # what was open stays open

    # ---- beginning and end

    def slow_mesh(self):
        """A mesh whose solve takes seconds: strong random anisotropy makes fronts turn back again and again."""
        self.succeed("generate cube --n 64 --random-speed 0,0.001,1 -o slow.vtk --quiet")
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
                self.status("POST", "cancel", {"client": client})

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
        self.start(self.slow_mesh(), "--threads 1")
        stream = self.events("gone")[0]
        waiting = self.ask_much("gone")
        stream.sock.shutdown(socket.SHUT_RDWR)
        stream.close()
        self.all_end([one.getresponse().status for one in waiting])

    def test_work_is_cancelled_on_request(self):
        self.start(self.slow_mesh(), "--threads 1")
        waiting = self.ask_much("one")
        self.all_end(self.cancel_until_ended(waiting, "one"))

    def test_a_script_that_is_run_again_begins_to_count_anew(self):
        self.start("square.msh")
        asked = {"client": "script", "sources": [{"vertex": 0}]}
        self.solve(**asked, seq=9)
        self.assertEqual(self.refused(409, "POST", "solve", {**asked, "seq": 1}), "superseded")
        self.assertEqual(self.status("POST", "cancel", {"client": "script"}), 200)
        self.solve(**asked, seq=1)

    def test_ctrl_c_ends_it(self):
        process = self.start("square.msh")
        self.events("a")
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
            self.events("a")
            process.send_signal(told)
            err = process.communicate(timeout=20)[1]
            self.assertEqual((process.returncode, err), (0, ""))

    def test_nohup_is_obeyed(self):
        process = self.start("square.msh", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.alive()

    def test_quiet_prints_the_address_alone(self):
        process = self.start("square.msh --quiet")
        process.terminate()
        self.assertEqual((process.stdout.read(), process.communicate(timeout=20)[1]), ("", ""))

    def test_ctrl_c_at_once_ends_it(self):
        for _ in range(5):
            process = self.start("square.msh --quiet")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0)

    def test_ctrl_c_while_solving_ends_it(self):
        process = self.start(self.slow_mesh(), "--threads 1")
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
        process = self.start("square.msh --quiet", browser=(), env=environment)
        end = time.monotonic() + 30
        while not (self.folder / "opened").exists() and time.monotonic() < end:
            time.sleep(0.05)
        opener_id, opened = self.read_text("opened").splitlines()
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
            self.expect(1, f"view square.msh --no-browser --port {port}", words=[f"port {port}", "in use"])
        self.start(f"square.msh --port {port}")
        self.assertEqual(self.port, port)
        self.expect(1, f"view square.msh --no-browser --port {port}", words=[f"port {port}", "in use"])
        self.expect(2, "view square.msh --port 70000", words=["--port", "65,535"])

    def test_files_that_cannot_be_opened(self):
        self.write("text.xyz", "hello")
        self.write("broken.msh", "$MeshFormat\n")
        for files, words in (("missing.msh", "missing.msh"), ("square.msh missing.msh", "missing.msh"), (".", "."),
                             ("text.xyz", "text.xyz"), ("broken.msh", "broken.msh")):
            self.expect(3, "view --no-browser", files, words=words)
        self.expect(2, "view", words="FILE")

    def test_options_for_tensors_need_some(self):
        for option in (("--mask", "square.msh"), ("--tensor-order", "fsl"), ("--tensor-frame", "voxel")):
            self.expect(2, "view --no-browser square.msh", *option, words=[option[0], "no file is an image of tensors"])

    def test_the_back_end_is_chosen(self):
        for backend in ("serial", "threads"):
            self.start(f"square.msh --threads 2 --backend {backend}")
            self.assertEqual(self.solve([{"vertex": 0}])[0]["backend"], backend)
        self.expect(2, "view --no-browser square.msh --backend mpi", words=["--backend", "mpi"])
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}  # the driver shows no device to a process with this
        self.expect(1, "view --no-browser square.msh --backend cuda", words=["GPU", "--backend threads"], env=hidden)

    def test_a_file_of_ten_gigabytes_is_refused_at_once(self):
        with open(self.folder / "large.vtu", "wb") as large:
            large.truncate(10 * 10 ** 9)
        began = time.monotonic()
        self.expect(3, "view --no-browser large.vtu", words=["large.vtu", "10.0 GB", "8.0 GB", "--max-size"])
        self.assertLess(time.monotonic() - began, 5)
        self.expect(3, "view --no-browser square.msh --max-size 0.000001", words=["up to 1000 bytes", "--max-size"])
        size = (self.folder / "square.msh").stat().st_size
        self.expect(3, "view --no-browser square.msh --max-size", (size - 1) / 1e9, words=f"has {size} bytes")
        self.start("square.msh --max-size", (size + 0.5) / 1e9)
        self.start("square.msh --max-size 1e300")
