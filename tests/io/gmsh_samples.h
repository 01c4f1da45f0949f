// The same small mesh as Gmsh files of two versions and three encodings.
#pragma once

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>

#include "io/io_test_support.h"

namespace isochron::test::gmsh_samples {

enum class Encoding { text, binary, swapped };

/// Puts numbers behind one another in the way of the encoding.
class Builder {
 public:
  explicit Builder(Encoding encoding) : encoding_(encoding) {}

  Builder& text(const std::string& value) {
    out_ << value;
    return *this;
  }
  Builder& number(std::int32_t value) { return put(value); }
  Builder& size(std::uint64_t value) { return put(value); }
  Builder& real(double value) { return put(value); }
  Builder& numbers(std::initializer_list<std::int32_t> values) {
    for (const auto v : values) put(v);
    return *this;
  }
  Builder& sizes(std::initializer_list<std::uint64_t> values) {
    for (const auto v : values) put(v);
    return *this;
  }
  Builder& reals(std::initializer_list<double> values) {
    for (const auto v : values) put(v);
    return *this;
  }
  [[nodiscard]] bool is_text() const { return encoding_ == Encoding::text; }
  [[nodiscard]] std::string str() const { return out_.str(); }

  void format(const std::string& version) {
    text("$MeshFormat\n" + version + (is_text() ? " 0 8\n" : " 1 8\n"));
    if (!is_text()) number(1).text("\n");
    text("$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"wall\"\n$EndPhysicalNames\n");
  }
  void data(const std::string& section, const std::string& name, int components, std::size_t rows) {
    text("$" + section + "\n1\n\"" + name + "\"\n1\n0.5\n3\n0\n" + std::to_string(components) + "\n" +
         std::to_string(rows) + "\n");
  }

 private:
  template <class T>
  Builder& put(T value) {
    if (is_text()) {
      out_ << value << ' ';
      return *this;
    }
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    if (encoding_ == Encoding::swapped) std::reverse(bytes, bytes + sizeof(T));
    out_.write(bytes, sizeof(T));
    return *this;
  }

  Encoding encoding_;
  std::ostringstream out_;
};

inline void add_data(Builder& b) {
  b.data("NodeData", "time", 1, 5);
  for (int i = 0; i < 5; ++i) b.number(10 + i).real(0.5 * i);
  b.text("\n$EndNodeData\n");
  b.data("ElementData", "fiber", 3, 3);
  b.number(4).reals({1, 2, 3}).number(3).reals({4, 5, 6}).number(5).reals({7, 8, 9});
  b.text("\n$EndElementData\n");
}

/// Nodes 10 to 14; element 1 a point, 2 a line, 3 a triangle, 4 and 5 tetrahedra, 6 a quadrilateral.
inline std::string version_2(Encoding encoding) {
  Builder b(encoding);
  b.format("2.2");
  b.text("$Nodes\n5\n");
  for (int i = 0; i < 5; ++i) b.number(10 + i).reals({1.0 * i, 0.1 * i * i, i == 4 ? 3.0 : 0.0});
  b.text("\n$EndNodes\n$Elements\n6\n");
  const auto element = [&](int tag, int type, std::initializer_list<int> rest) {
    if (b.is_text()) b.numbers({tag, type, 2}).numbers(rest).text("\n");
    else b.numbers({type, 1, 2, tag}).numbers(rest);
  };
  element(1, 15, {0, 1, 10});
  element(2, 1, {0, 1, 10, 11});
  element(3, 2, {6, 1, 10, 11, 12});
  if (b.is_text()) {
    element(4, 4, {7, 1, 10, 11, 12, 14});
    element(5, 4, {8, 2, 11, 12, 13, 14});
  } else {
    b.numbers({4, 2, 2, 4, 7, 1, 10, 11, 12, 14, 5, 8, 2, 11, 12, 13, 14});
  }
  element(6, 3, {0, 1, 10, 11, 12, 13});
  b.text("\n$EndElements\n");
  add_data(b);
  return b.str();
}

inline std::string version_4(Encoding encoding) {
  Builder b(encoding);
  b.format("4.1");
  b.text("$Entities\n").sizes({1, 1, 1, 2});
  b.number(1).reals({0, 0, 0}).size(0);
  b.number(1).reals({0, 0, 0, 1, 1, 1}).size(0).size(2).numbers({1, -1});
  b.number(1).reals({0, 0, 0, 1, 1, 1}).size(1).number(6).size(1).number(1);
  b.number(1).reals({0, 0, 0, 1, 1, 1}).size(1).number(7).size(1).number(1);
  b.number(2).reals({0, 0, 0, 1, 1, 1}).size(1).number(-8).size(0);
  b.text("\n$EndEntities\n$Nodes\n").sizes({2, 5, 10, 14});
  b.numbers({0, 1, 0}).size(1).size(10).reals({0, 0, 0});
  b.numbers({3, 1, 0}).size(4).sizes({11, 12, 13, 14});
  for (int i = 1; i < 5; ++i) b.reals({1.0 * i, 0.1 * i * i, i == 4 ? 3.0 : 0.0});
  b.text("\n$EndNodes\n$Elements\n").sizes({6, 6, 1, 6});
  b.numbers({0, 1, 15}).size(1).sizes({1, 10});
  b.numbers({1, 1, 1}).size(1).sizes({2, 10, 11});
  b.numbers({2, 1, 2}).size(1).sizes({3, 10, 11, 12});
  b.numbers({3, 1, 4}).size(1).sizes({4, 10, 11, 12, 14});
  b.numbers({3, 2, 4}).size(1).sizes({5, 11, 12, 13, 14});
  b.numbers({2, 1, 3}).size(1).sizes({6, 10, 11, 12, 13});
  b.text("\n$EndElements\n");
  add_data(b);
  return b.str();
}

inline void expect_sample(const Dataset& d) {
  using ::testing::ElementsAre;
  using ::testing::Pair;
  ASSERT_EQ(d.points.size(), 5U);
  EXPECT_EQ(d.points[4], (Vec3d{4, 0.1 * 16, 3}));
  EXPECT_THAT(d.lines, ElementsAre(ElementsAre(VertexId(0), VertexId(1))));
  EXPECT_THAT(d.triangles.cells, ElementsAre(triangle(0, 1, 2), triangle(0, 1, 2), triangle(0, 2, 3)));
  EXPECT_THAT(d.tets.cells, ElementsAre(tet(0, 1, 2, 4), tet(1, 2, 3, 4)));
  EXPECT_THAT(d.ignored_cells, ElementsAre(Pair("vertex", 1)));
  EXPECT_EQ(d.triangles.data.require("gmsh:physical", "t").at(0), 6);
  EXPECT_EQ(d.tets.data.require("gmsh:physical", "t").at(1), 8);
  EXPECT_EQ(d.tets.data.require("gmsh:geometrical", "t").at(1), 2);
  EXPECT_EQ(d.line_data.find("gmsh:physical"), nullptr);
  EXPECT_EQ(d.point_data.require("time", "points").at(4), 2.0);
  EXPECT_EQ(d.tets.data.require("fiber", "tets").at(1, 2), 9);
  EXPECT_EQ(d.triangles.data.require("fiber", "t").at(0, 1), 5);
}

}  // namespace isochron::test::gmsh_samples
