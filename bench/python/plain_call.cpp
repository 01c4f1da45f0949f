// The call that scripts/bench_python.py times in Python, made by a C++ program:
//   isochron-plain-call CORNERS POINTS CELLS THREADS
// with files of float64 coordinates and uint32 ids. For each line on standard input it prepares, solves from vertex 0
// at speeds that are 1 on each element, and prints the wall and the CPU seconds that took.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "isochron/error.h"
#include "isochron/solver.h"

namespace {

using namespace isochron;

template <class T>
std::vector<T> read_rows(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw RuntimeError(path + " cannot be read; give a file of numbers");
  std::vector<T> rows(static_cast<std::size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(rows.data()), static_cast<std::streamsize>(rows.size() * sizeof(T)));
  return rows;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <int Corners>
void serve(const std::string& points, const std::string& cells, int threads) {
  const SimplexMesh<Corners> mesh{read_rows<Vec3d>(points), read_rows<typename SimplexMesh<Corners>::Element>(cells)};
  const Metric metric(SpeedMetric{std::vector<double>(mesh.element_count(), 1.0)});
  SolveOptions options;
  options.threads = threads;
  for (std::string line; std::getline(std::cin, line);) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    Sources sources;
    sources.vertices.push_back({VertexId(0)});
    const std::vector<double> times = std::move(solve(mesh, metric, sources, options).times);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::printf("%.9f %.9f %.17g\n", wall.count(), cpu_seconds() - cpu, times.back());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string corners = argc == 5 ? argv[1] : "";
  if (corners != "3" && corners != "4") {
    std::fprintf(stderr, "usage: isochron-plain-call 3|4 POINTS CELLS THREADS\n");
    return 2;
  }
  try {
    if (corners == "3") serve<3>(argv[2], argv[3], std::stoi(argv[4]));
    else serve<4>(argv[2], argv[3], std::stoi(argv[4]));
  } catch (const isochron::Error& error) {
    std::fprintf(stderr, "isochron-plain-call: %s\n", error.what());
    return 1;
  }
  return 0;
}
