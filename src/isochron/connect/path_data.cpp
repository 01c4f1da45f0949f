#include "isochron/connect/path_data.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace isochron {

void add_line(Dataset& dataset, std::span<const Vec3d> points) {
  std::vector<VertexId> line;
  for (const Vec3d& p : points) {
    line.push_back(VertexId(dataset.points.size()));
    dataset.points.push_back(p);
  }
  dataset.lines.push_back(std::move(line));
}

Dataset path_dataset(const Path& path, const PathStatistics& statistics) {
  Dataset dataset;
  add_line(dataset, path.points);
  const auto column = [&](const char* name, auto value_of) {
    std::vector<double> values;
    for (const PathSample& sample : statistics.profile) values.push_back(value_of(sample));
    dataset.point_data.set({name, 1, std::move(values)});
  };
  column("distance", [](const PathSample& s) { return s.distance; });
  column("fa", [](const PathSample& s) { return s.anisotropy; });
  column("md", [](const PathSample& s) { return s.diffusivity; });
  column("local_cost", [](const PathSample& s) { return s.local_cost; });
  dataset.point_data.set({"cost", 1, path.times});
  return dataset;
}

std::string profile_csv(const Path& path, const PathStatistics& statistics) {
  const auto known = [](double value) { return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value); };
  std::string text = "x,y,z,distance,cost,fa,md,local_cost\n";
  for (std::size_t i = 0; i < statistics.profile.size(); ++i) {
    const PathSample& s = statistics.profile[i];
    text += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{}\n", s.position.x, s.position.y, s.position.z,
                        s.distance, path.times[i], known(s.anisotropy), known(s.diffusivity), known(s.local_cost));
  }
  return text;
}

}  // namespace isochron
