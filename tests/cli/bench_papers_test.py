"""isochron bench papers: one page of the papers' tables, of this machine and of others."""

import html.parser
import json
import signal
import time

from cli_case import CliCase

CHEAP = "bench papers --quick --threads 2 --only 000-figure-3.3,001-figure-8"


class BenchPapers(CliCase):
    def page(self, name="out/papers.html"):
        links = Links()
        links.feed(self.read_text(name))
        return links

    def runs(self, name="out/papers.json"):
        return json.loads(self.read_text(name))["runs"]

    def paper_tables(self):
        return [table["name"] for table in self.succeed_json("bench --list")["tables"] if table["name"][:2] == "00"]

    def test_a_page_stands_alone_and_has_every_table(self):
        self.succeed(f"{CHEAP} -o out --label", ["desk & <co>"])
        page = self.page()
        self.assertTrue(self.paper_tables())
        self.assert_has_all(page.ids, *self.paper_tables())
        self.assert_has_none(page.tags, "script", "link", "iframe")
        self.assert_has_all(page.tags, "svg", "img")
        self.assertTrue(all(link.startswith("data:image/png;base64,") for link in page.loaded), page.loaded)
        self.assert_has_all(page.cells, "desk & <co>", "not drawn: not run")
        run, = self.runs()
        self.assertEqual([table["name"] for table in run["tables"]], ["000-figure-3.3", "001-figure-8"])
        self.assert_fields(run["machine"], label="desk & <co>", threads=2)
        self.assertTrue(run["machine"]["cpu"])
        for table in run["tables"]:
            self.assertGreater(table["seconds"], 0)

    def test_a_run_for_the_gpu_leaves_out_tables_of_the_cpu(self):
        self.succeed("bench papers --only 003-table-4,004-section --gpu-only --quick -o out")
        (run,) = self.runs()
        names = {table["name"] for table in run["tables"]}
        self.assertEqual(names, {f"003-table-4.{number}" for number in range(5, 10)} | {"004-section-5.2"})

    def test_runs_of_several_machines_are_merged(self):
        self.succeed("bench papers --quick --threads 2 --only 001-figure-8 --label lab -o lab")
        self.succeed("bench papers --quick --threads 1 --only 001-figure-8 --label desk -o out --with lab/papers.json")
        self.assertEqual([run["machine"]["label"] for run in self.runs()], ["desk", "lab"])
        self.assert_has_all(self.read_text("out/papers.html"), "ours<br>desk", "ours<br>lab")
        both = self.succeed_json("bench papers --no-run -o both --with lab/papers.json --with out/papers.json")
        self.assertEqual([machine["label"] for machine in both["machines"]], ["lab", "desk", "lab (2)"])
        self.assertEqual(self.runs("both/papers.json")[1], self.runs()[0])

    def test_files_of_a_run_are_kept_where_it_is_merged_or_continued(self):
        command = "bench papers --quick --threads 1 --only 001-figure-8 --label lab -o"
        self.succeed(f"{command} lab")
        file = json.loads(self.read_text("lab/papers.json"))
        points, = made = [{"name": "001-figure-8-points.csv", "text": "x,y,z\n1,2,3\n"}]
        file["runs"][0]["tables"][0]["files"] = made
        self.write("merged.json", json.dumps(file))
        self.succeed("bench papers --no-run -o merged --with merged.json")
        file["runs"][0]["unfinished"] = True
        self.write("continued.json", json.dumps(file))
        self.succeed(f"{command} continued --with continued.json")
        for folder in ("merged", "continued"):
            self.assertEqual(self.read_text(f"{folder}/{points['name']}"), points["text"])
            self.assertEqual(self.runs(f"{folder}/papers.json")[0]["tables"][0]["files"], made)
        points["name"] = "../papers.html"
        self.write("bad.json", json.dumps(file))
        self.expect(3, "bench papers --no-run -o bad --with bad.json", words=["bad.json", "files[0].name"])

    def test_a_failed_table_is_shown_and_is_code_4(self):
        self.succeed("bench papers --quick --threads 1 --only 001-figure-8 --label lab -o lab")
        file = json.loads(self.read_text("lab/papers.json"))
        entry = file["runs"][0]["tables"][0]["entries"][0]
        entry.update(ours=None, failed=True, remark="residual check FAILED: no number")
        self.write("lab/papers.json", json.dumps(file))
        done = self.run_isochron("bench papers --no-run --with lab/papers.json -o out --json")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(json.loads(done.stdout)["failed"], ["001-figure-8"])
        self.assert_has_all(self.read_text("out/papers.html"), "Failed its check.", "residual check FAILED")

    def test_bad_files_are_found_before_anything_runs(self):
        self.write("text.json", "no json")
        self.write("table.json", '{"name": "000-table-3.1", "entries": []}')
        for name, words in (("missing.json", "missing.json"), ("text.json", "is no JSON"), ("table.json", "no runs")):
            self.expect(3, f"bench papers -o out --with {name}", words=[name, words])

    def test_options_that_do_not_go_together(self):
        self.expect(2, "bench papers --quick", words="no folder given")
        self.expect(2, "bench papers -o out --only 009", words="'009'")
        self.expect(2, "bench papers -o out --only goals-work", words="'goals-work'")
        self.expect(2, "bench papers -o out --no-run", words="--with")
        self.expect(2, "bench papers -o out --runs r.csv", words="only the scale model")
        self.expect(2, "bench goals-work --only 000", words="do not go with goals-work")
        self.write("file", "")
        self.expect(3, "bench papers -o file", words="is not a folder")

    def test_an_interrupt_leaves_nothing(self):
        self.interrupt(signal.SIGINT, 2, "bench papers -o out")

    def test_an_interrupted_run_keeps_its_tables_and_goes_on(self):
        partial = "out/papers.partial.json"
        command = "bench papers --quick --threads 2 --label desk -o out --only"

        def one_is_saved(process):
            while not (self.folder / partial).exists():
                self.assertIsNone(process.poll())
                time.sleep(0.05)

        self.interrupt(signal.SIGINT, one_is_saved, f"{command} 000-figure-3.3,003", left=["out", partial])
        saved, = self.runs(partial)
        self.assertIs(saved["unfinished"], True)
        self.succeed(f"bench papers --no-run -o shown --with {partial}")
        self.assertIn("quick: small meshes, interrupted", self.page("shown/papers.html").cells)
        done = self.succeed(f"{command} 000-figure-3.3,001-figure-8 --with {partial}")
        self.assertNotIn("000-figure-3.3", done.stdout)  # not run again
        run, = self.runs()
        self.assertNotIn("unfinished", run)
        self.assertEqual([table["name"] for table in run["tables"]],
                         [table["name"] for table in saved["tables"]] + ["001-figure-8"])
        self.assertEqual(run["tables"][0], saved["tables"][0])
        self.assertEqual([name for name in self.files() if name.startswith("out/")],
                         ["out/papers.html", "out/papers.json"])

    def test_an_interrupted_run_that_is_not_given_is_kept(self):
        (self.folder / "out").mkdir()
        self.write("out/papers.partial.json", "of before")
        done = self.run_isochron("bench papers --quick --threads 2 --only 001-figure-8 -o out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_has_all(done.stderr, "papers.partial.old.json: kept", "give it to --with")
        self.assertEqual((self.folder / "out/papers.partial.old.json").read_text(encoding="utf-8"), "of before")

    def test_pictures_and_charts_are_files_too(self):
        self.succeed("bench 000-figure-3.3 --quick --quiet -o out")
        self.assert_has_all(self.files(), "out/000-figure-3.3.csv", "out/000-figure-3.3.json", "out/000-figure-3.3.svg",
                            "out/000-figure-3.3-a.png")
        self.assertTrue((self.folder / "out/000-figure-3.3-a.png").read_bytes().startswith(b"\x89PNG"))


class Links(html.parser.HTMLParser):
    """What a page loads, and its headings and cells."""

    def __init__(self):
        super().__init__()
        self.loaded, self.ids, self.tags, self.cells, self.in_cell = [], [], [], [], False

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.in_cell = tag == "td"
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster") or (name == "href" and not value.startswith("#")):
                self.loaded.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        self.in_cell = False

    def handle_data(self, data):
        if self.in_cell:
            self.cells.append(data)
