#include "isochron/surface/tetrahedra/programs.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

namespace {

std::filesystem::path program_of(const TetOptions& options) {
  const bool netgen = options.program == TetProgram::netgen;
  const std::string name = netgen ? "isochron-netgen" : name_of(options.program);
  auto found = find_program(name, options.executable);
  if (!found.empty()) return found;
  if (!options.executable.empty())
    throw RuntimeError("not a program (no such file, or it may not be run); check the path",
                       options.executable.string());
  throw RuntimeError(fmt::format("{} was not found (neither beside this program nor on PATH); {}", name,
                                 netgen ? "install libnglib-dev and build Isochron again, or choose another with "
                                        : "install it, or use ") +
                     Setting{Option::tetrahedra, netgen ? "tetgen|gmsh" : "netgen"});
}

TetAnswer ask_netgen(const TriangleMesh& surface, const TetOptions& options, const std::filesystem::path& folder,
                     const Progress& progress) {
  TetRequest request;
  request.points = surface.points.copy();
  for (const auto& t : surface.elements) request.triangles.push_back({t[0].value, t[1].value, t[2].value});
  request.sizes = options.sizes;
  request.grading = options.grading;
  request.optimisation_steps = options.optimisation_steps;
  Vec3d low = surface.points[0], high = low;
  for (const Vec3d& p : surface.points)
    for (int i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], p[i]);
      high[i] = std::max(high[i], p[i]);
    }
  request.largest = std::min(options.largest, norm(high - low));
  exchange::save(folder / "request", request);
  run_program(program_of(options), {"request", "answer"}, folder, progress, options.time_limit);
  return exchange::load<TetAnswer>(folder / "answer");
}

/// A text file to be written; `close` throws RuntimeError when not everything fit.
class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& name) : name_(name), file_(name) {}
  template <class... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    file_ << fmt::format(format, std::forward<Values>(values)...);
  }
  void close() {
    file_.close();
    if (!file_)
      throw RuntimeError(fmt::format(
          "{}: cannot be written (the disk may be full); free some space there or set TMPDIR", name_.string()));
  }

 private:
  std::filesystem::path name_;
  std::ofstream file_;
};

/// Text files of numbers, read word by word.
class NumberFile {
 public:
  explicit NumberFile(const std::filesystem::path& name) : name_(name), file_(name) {
    if (!file_) damaged();
  }
  template <class T>
  T next() {
    T value{};
    if (!(file_ >> value)) damaged();
    return value;
  }
  Vec3d next_point() {
    const double x = next<double>(), y = next<double>();
    return {x, y, next<double>()};
  }
  void skip(std::size_t words) {
    std::string ignored;
    while (words-- > 0) ignored = next<std::string>();
  }
  /// Goes behind this word.
  void find(const std::string& word) {
    while (next<std::string>() != word) {
    }
  }

 private:
  [[noreturn]] void damaged() const {
    throw RuntimeError("missing or not whole (the program that writes it stopped early); try another program (" +
                           Setting{Option::tetrahedra, "netgen|tetgen|gmsh"} + ")",
                       name_.filename().string());
  }
  std::filesystem::path name_;
  std::ifstream file_;
};

void write_smesh(const TriangleMesh& surface, const std::filesystem::path& name) {
  TextFile file(name);
  file.print("{} 3 0 0\n", surface.vertex_count());
  for (std::size_t v = 0; v < surface.vertex_count(); ++v) {
    const Vec3d& p = surface.points[v];
    file.print("{} {} {} {}\n", v, p.x, p.y, p.z);
  }
  file.print("{} 0\n", surface.element_count());
  for (const auto& t : surface.elements) file.print("3 {} {} {}\n", t[0].value, t[1].value, t[2].value);
  file.print("0\n0\n");  // no holes, no regions
  file.close();
}

TetAnswer ask_tetgen(const TriangleMesh& surface, const TetOptions& options, const std::filesystem::path& folder,
                     const Progress& progress) {
  write_smesh(surface, folder / "surface.smesh");
  // p: a surface is given; Y: it stays as it is; q: good shapes; a: volume of a regular tetrahedron of the largest
  // size.
  std::string how = "-pYqQ";
  if (std::isfinite(options.largest))
    how += fmt::format("a{:.17f}", std::pow(options.largest, 3) / (6 * std::sqrt(2.0)));
  run_program(program_of(options), {how, "surface.smesh"}, folder, progress, options.time_limit);
  TetAnswer answer;
  NumberFile nodes(folder / "surface.1.node");
  answer.points.resize(nodes.next<std::size_t>());
  nodes.skip(1);
  const auto attributes = nodes.next<std::size_t>() + nodes.next<std::size_t>();
  for (Vec3d& p : answer.points) {
    nodes.skip(1);
    p = nodes.next_point();
    nodes.skip(attributes);
  }
  NumberFile tets(folder / "surface.1.ele");
  answer.tets.resize(tets.next<std::size_t>());
  tets.skip(1);
  const auto tags = tets.next<std::size_t>();
  for (auto& tet : answer.tets) {
    tets.skip(1);
    for (auto& corner : tet) corner = tets.next<std::uint32_t>();
    tets.skip(tags);
  }
  return answer;
}

void write_msh(const TriangleMesh& surface, const std::filesystem::path& name) {
  TextFile file(name);
  file.print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", surface.vertex_count());
  for (std::size_t v = 0; v < surface.vertex_count(); ++v) {
    const Vec3d& p = surface.points[v];
    file.print("{} {} {} {}\n", v + 1, p.x, p.y, p.z);
  }
  file.print("$EndNodes\n$Elements\n{}\n", surface.element_count());
  for (std::size_t t = 0; t < surface.element_count(); ++t) {
    const auto& corners = surface.elements[t];
    file.print("{} 2 2 1 1 {} {} {}\n", t + 1, corners[0].value + 1, corners[1].value + 1, corners[2].value + 1);
  }
  file.print("$EndElements\n");
  file.close();
}

TetAnswer ask_gmsh(const TriangleMesh& surface, const TetOptions& options, const std::filesystem::path& folder,
                   const Progress& progress) {
  write_msh(surface, folder / "surface.msh");
  TextFile script(folder / "surface.geo");
  script.print("Merge \"surface.msh\";\nSurface Loop(1) = {{1}};\nVolume(1) = {{1}};\nMesh.SaveAll = 1;\n");
  script.print("Mesh.MshFileVersion = 2.2;\nMesh.Binary = 0;\nMesh.Optimize = 1;\n");
  if (std::isfinite(options.largest)) script.print("Mesh.CharacteristicLengthMax = {};\n", options.largest);
  script.close();
  run_program(program_of(options), {"-3", "surface.geo", "-o", "filled.msh", "-v", "2"}, folder, progress,
              options.time_limit);
  TetAnswer answer;
  NumberFile file(folder / "filled.msh");
  file.find("$Nodes");
  answer.points.resize(file.next<std::size_t>());
  constexpr std::uint32_t nowhere = 0xffffffffU;  // refused later, with everything else that does not fit
  std::vector<std::uint32_t> place_of;
  for (std::uint32_t i = 0; i < answer.points.size(); ++i) {
    const auto tag = file.next<std::uint32_t>();
    if (tag >= place_of.size()) place_of.resize(std::size_t{2} * tag + 1, nowhere);
    place_of[tag] = i;
    answer.points[i] = file.next_point();
  }
  file.find("$Elements");
  for (auto left = file.next<std::size_t>(); left > 0; --left) {
    file.skip(1);
    const auto kind = file.next<int>();
    file.skip(file.next<std::size_t>());
    constexpr int tetrahedron = 4;
    constexpr std::array<std::size_t, 4> corners_of{1, 2, 3, 4};  // of kinds 1 to 3; 15 is a point
    if (kind != tetrahedron) {
      file.skip(kind > 0 && kind < tetrahedron ? corners_of[static_cast<std::size_t>(kind)] : 1);
      continue;
    }
    auto& tet = answer.tets.emplace_back();
    for (auto& corner : tet) {
      const auto tag = file.next<std::size_t>();
      corner = tag < place_of.size() ? place_of[tag] : nowhere;
    }
  }
  return answer;
}

}  // namespace

TetAnswer ask_program(const TriangleMesh& surface, const TetOptions& options, const Progress& progress) {
  const WorkFolder folder;
  switch (options.program) {
    case TetProgram::tetgen: return ask_tetgen(surface, options, folder.path(), progress);
    case TetProgram::gmsh: return ask_gmsh(surface, options, folder.path(), progress);
    default: return ask_netgen(surface, options, folder.path(), progress);
  }
}

bool has_tet_program(TetProgram program, const std::filesystem::path& executable) {
  try {
    TetOptions options;
    options.program = program;
    options.executable = executable;
    return !program_of(options).empty();
  } catch (const RuntimeError&) {
    return false;
  }
}

const char* name_of(TetProgram program) {
  switch (program) {
    case TetProgram::tetgen: return "tetgen";
    case TetProgram::gmsh: return "gmsh";
    default: return "netgen";
  }
}

TetProgram tet_program_of(const std::string& name) {
  for (const TetProgram program : {TetProgram::netgen, TetProgram::tetgen, TetProgram::gmsh})
    if (name == name_of(program)) return program;
  throw UsageError(fmt::format("'{}' does not make tetrahedra; use netgen, tetgen or gmsh", name));
}

}  // namespace isochron
