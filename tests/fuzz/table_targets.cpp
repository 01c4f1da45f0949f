// Readers of small tables.
#include <cmath>

#include "fuzz/files.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/tables.h"
#include "isochron/metric.h"

namespace isochron::fuzz {
namespace {

template <class Read>
Target table_target(const std::string& name, const std::string& file, const Read& read, const Texts& seeds,
                    const Texts& words = {}) {
  return {"table." + name, [=](std::string_view input) { read(put(file, input)); }, [=] { return seeds; }, words};
}

bool finite(const Vec3d& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

void read_and_check_sources(const fs::path& path) {
  for (const SourceRow& row : read_source_file(path)) {
    require(row.point ? finite(*row.point) : row.vertex.valid(), "a source without a place");
    require(!row.time || std::isfinite(*row.time), "a time that is not finite");
  }
}

void read_and_check_shots(const fs::path& path, ShotTableKind kind) {
  for (const ShotRow& row : read_shot_table(path, kind).rows) {
    require(row.point ? finite(*row.point) : row.vertex.valid(), "a row without a place");
    require(row.time ? std::isfinite(*row.time) : kind == ShotTableKind::sources, "a row without a time");
    require(row.weight >= 0 && std::isfinite(row.weight), "a weight that cannot be used");
  }
}

void read_and_check_points(const fs::path& path) {
  const NamedPoints read = read_points(path);
  require(read.names.empty() || read.names.size() == read.points.size(), "names do not fit the points");
  for (const Vec3d& point : read.points) require(finite(point), "a point that is not finite");
}

void read_and_check_gradients(std::string_view input) {
  put_all({"g.bval", "g.bvec"}, input);
  const GradientTable table = read_gradients(scratch() / "g.bval", scratch() / "g.bvec");
  require(table.b.size() == table.direction.size(), "b-values do not fit the directions");
}

}  // namespace

std::vector<Target> table_targets() {
  return {
      table_target("sources", "a.txt", read_and_check_sources, {"0 1.5\n5 2.5\n", "1 2 3 0.5\n4 5 6\n", "# c\n0,1\n"}),
      table_target("vtx", "a.vtx", [](const fs::path& path) { static_cast<void>(read_vtx(path)); },
                   {"2\nextra\n0\n5\n", "1 # one\nintra # both\n5 # here"}, {"intra\n", "extra\n"}),
      table_target("measured_times", "a.csv",
                   [](const fs::path& path) { read_and_check_shots(path, ShotTableKind::measured_times); },
                   {"shot,x,y,z,time,weight,name\n1,0,1,2,0.5,1,a\n", "vertex;time\n# c\n5;\"1e3\"\n"},
                   {"\"", "shot", "vertex", "time", "weight", "name"}),
      table_target("shots", "a.csv", [](const fs::path& path) { read_and_check_shots(path, ShotTableKind::sources); },
                   {"shot,source,x,y,z,time\na,0,1,2,3,\n", "shot,vertex\n\"a \"\"b\"\"\",5\n"},
                   {"\"", "shot", "source", "vertex"}),
      table_target("points", "a.txt", read_and_check_points,
                   {"# c\n1 2 3\n", "name 1 2 3\n", "x,y,z,id\n1,2,3,7\n", "\"x\";\"y\"\n1;2\n"}),
      table_target("labels", "a.txt", [](const fs::path& path) { static_cast<void>(read_label_table(path)); },
                   {"# c\n1 Left 0 0 0 0\n2 Right 0 0 0 0\n", "id,name\n1,left\n2,\"a, b\"\n",
                    "1 255 0 0 1 1 1 \"a name\"\n", "1\tleft\n"},
                   {"\"", "index", "label", "name"}),
      table_target("numbers", "a.txt", [](const fs::path& path) { static_cast<void>(read_text_image(path)); },
                   {"1 2 3\n4 5 6\n", "1,nan\n-inf,4e2 # c\n"}, {"nan", "inf", "1e308"}),
      table_target("velocities", "a.txt",
                   [](const fs::path& path) { static_cast<void>(read_velocity_table(path.string())); },
                   {"1:0.6,0.3\n2:0.2\n# c\n", "-3:1,2,3;4:0,0"}),
      {"table.gradients",
       read_and_check_gradients,
       [] {
         return Texts{joined({"0 1000 2000\n", "0 1 0\n0 0 1\n0 0 0\n"}), joined({"0\n1000\n", "0 0 0\n1 0 0\n"})};
       },
       {"nan", "1000 "}},
  };
}

}  // namespace isochron::fuzz
