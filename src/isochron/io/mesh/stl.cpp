#include <bit>
#include <cmath>
#include <limits>

#include "isochron/io/mesh/formats.h"

namespace isochron {
namespace {

// Gives every different place a vertex: a hash table with open addressing over the points found so far.
class PointMerger {
 public:
  explicit PointMerger(std::vector<Vec3d>& points) : points_(points), slots_(1 << 10) {}

  VertexId add(Vec3d p) {
    p = p + Vec3d{};  // -0 becomes 0
    if (2 * points_.size() >= slots_.size()) grow();
    VertexId& slot = find(p);
    if (!slot.valid()) {
      slot = VertexId(points_.size());
      points_.push_back(p);
    }
    return slot;
  }

 private:
  VertexId& find(const Vec3d& p) {
    std::uint64_t hash = 0;
    for (int i = 0; i < 3; ++i) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(p[i])) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
    }
    std::size_t place = hash & (slots_.size() - 1);
    while (slots_[place].valid() && points_[slots_[place].index()] != p) place = (place + 1) & (slots_.size() - 1);
    return slots_[place];
  }
  void grow() {
    slots_.assign(2 * slots_.size(), VertexId{});
    for (std::size_t i = 0; i < points_.size(); ++i) find(points_[i]) = VertexId(i);
  }

  std::vector<Vec3d>& points_;
  std::vector<VertexId> slots_;
};

class StlReading {
 public:
  explicit StlReading(const std::filesystem::path& path) : reader_(path), merger_(dataset_.points) {}

  Dataset run() {
    // Some binary files begin with "solid" as well; text shows a facet (or the end) soon after.
    const std::string_view start = reader_.peek(2048);
    const bool text =
        start.find_first_not_of(" \t\r\n") != std::string_view::npos &&
        start.substr(start.find_first_not_of(" \t\r\n")).starts_with("solid") &&
        (start.find("facet") != std::string_view::npos || start.find("endsolid") != std::string_view::npos);
    if (text) read_text();
    else read_binary();
    if (collapsed_ > 0)
      dataset_.warnings.push_back(
          fmt::format("left out because two corners are in one place: {} of the triangles", collapsed_));
    return std::move(dataset_);
  }

 private:
  void add_triangle(const std::array<Vec3d, 3>& corners) {
    const std::array ids{merger_.add(corners[0]), merger_.add(corners[1]), merger_.add(corners[2])};
    if (ids[0] == ids[1] || ids[1] == ids[2] || ids[2] == ids[0]) ++collapsed_;
    else dataset_.triangles.cells.push_back(ids);
  }

  void check(const Vec3d& p) {
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) return;
    reader_.fail("triangle {} has a coordinate that is not a finite number",
                 dataset_.triangles.cells.size() + collapsed_);
  }

  void read_binary() {
    if (reader_.peek(84).size() < 84) reader_.fail("the file is too short for an STL file");
    reader_.skip(80);
    const auto count = read_value<std::uint32_t>(reader_, Encoding::little_endian);
    constexpr std::size_t bytes_each = 50;
    reader_.require_room(count, bytes_each);
    dataset_.triangles.cells.reserve(count);
    for (std::uint32_t t = 0; t < count; ++t) {
      reader_.skip(3 * sizeof(float));  // the normal
      std::array<Vec3d, 3> corners;
      for (Vec3d& p : corners) {
        for (int i = 0; i < 3; ++i) p[i] = static_cast<double>(read_value<float>(reader_, Encoding::little_endian));
        check(p);
      }
      reader_.skip(2);  // the attribute
      add_triangle(corners);
    }
  }

  void read_text() {
    std::array<Vec3d, 3> corners;
    std::size_t have = 0;
    bool open = false;
    while (!reader_.at_end()) {
      const std::string word(reader_.token());
      if (word.empty()) break;
      if (word == "solid" || word == "endsolid") {
        open = word == "solid";
        reader_.line();  // a name of any words
      } else if (word == "vertex") {
        if (have == 3)
          bad_file(reader_.path(), "an STL facet has more than three corners; split its faces into triangles");
        for (int i = 0; i < 3; ++i) corners[have][i] = reader_.real("a coordinate");
        check(corners[have++]);
      } else if (word == "endfacet") {
        if (have != 3) reader_.fail("an STL facet has {} of 3 corners", have);
        add_triangle(corners);
        have = 0;
      } else if (word == "facet") {
        reader_.line();  // the normal
      } else if (word != "outer" && word != "loop" && word != "endloop") {
        reader_.fail("unknown STL keyword {}", in_quotes(word));
      }
    }
    if (open || have > 0) reader_.fail("the file ends before 'endsolid'");
  }

  ByteReader reader_;
  Dataset dataset_;
  PointMerger merger_;
  std::size_t collapsed_ = 0;
};

}  // namespace

Dataset read_stl(const std::filesystem::path& path) { return StlReading(path).run(); }

void write_stl(std::span<const OutputFile> files, const Dataset& dataset) {
  if (dataset.triangles.cells.size() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError("there are too many triangles (STL files count them with 32 bits); write .vtp",
                     files[0].target.string());
  ByteWriter writer(files[0]);
  std::array<char, 80> header{};
  std::string_view title = "written by Isochron";
  std::copy(title.begin(), title.end(), header.begin());
  writer.write(header.data(), header.size());
  write_value(writer, static_cast<std::uint32_t>(dataset.triangles.cells.size()), Encoding::little_endian);
  const auto put = [&](const Vec3d& v) {
    for (int i = 0; i < 3; ++i) write_value(writer, static_cast<float>(v[i]), Encoding::little_endian);
  };
  for (const auto& triangle : dataset.triangles.cells) {
    const Vec3d& a = dataset.points[triangle[0].index()];
    const Vec3d& b = dataset.points[triangle[1].index()];
    const Vec3d& c = dataset.points[triangle[2].index()];
    const Vec3d normal = cross(b - a, c - a);
    const double length = norm(normal);
    put(length > 0 ? normal / length : Vec3d{});
    for (const Vec3d* p : {&a, &b, &c}) put(*p);
    write_value(writer, std::uint16_t{0}, Encoding::little_endian);
  }
  writer.finish();
}

}  // namespace isochron
