// The whole way from a mesh file to a file with times, beside copying that file.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/dataset.h"
#include "isochron/generate.h"
#include "isochron/io.h"
#include "isochron/io/bytes.h"
#include "isochron/metric_arrays.h"
#include "isochron/solver.h"

namespace isochron::bench {
namespace {

/// A folder that is removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() / fmt::format("isochron-end-to-end-{}", ::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Seconds of each step.
struct Steps {
  double read = 0, set_up = 0, solve = 0, write = 0, whole = 0;
};

/// A format, and how large a mesh it is measured on: text takes several times the room and the time.
struct FormatCase {
  std::string extension;
  bool text;
};
const FormatCase format_cases[] = {{".vtu", false}, {".vtk", false}, {".msh", false},
                                   {".pts", true},  {".node", true}, {".mesh", true}};
constexpr std::size_t max_text_elements = 3'500'000;

std::uintmax_t bytes_of(const std::filesystem::path& mesh) {
  std::uintmax_t bytes = 0;
  for (const auto& file : files_written(mesh))
    if (std::filesystem::exists(file)) bytes += std::filesystem::file_size(file);
  return bytes;
}

/// Seconds of copying a mesh's files as `cp` does: by one thread, from memory of the system to memory of the system.
double copy_seconds(const std::filesystem::path& mesh, const std::filesystem::path& to) {
  std::vector<char> buffer(std::size_t{1} << 20);
  const Timer timer;
  for (const auto& file : files_written(mesh)) {
    const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from.is_open()) continue;  // fibres are left out of a set without them
    const Descriptor copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    const auto read = [&] { return ::read(from.number(), buffer.data(), buffer.size()); };
    for (ssize_t got = read(); got > 0; got = read())
      if (::write(copy.number(), buffer.data(), static_cast<std::size_t>(got)) != got)
        throw RuntimeError("the copy cannot be written; free some space", to.string());
  }
  const double seconds = timer.seconds();
  std::filesystem::remove(to);
  return seconds;
}

class EndToEnd {
 public:
  explicit EndToEnd(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("goals-end-to-end", "Seconds from a file with a ventricle and its fibres to a file with times",
                options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note(
        "Files are in the system's memory, in the folder for temporary files. Copy: of the input, on one thread.");
    report_.note("TetGen and Medit files have no fibres; their front has the same speed everywhere.");
    report_.note("Whole: from opening the input until the output has its name. Each solve is repeated with a check.");
    report_.plot({{"tetrahedra", Scale::logarithmic}, {"seconds", Scale::logarithmic}, "s"});
    note_gpu(report_);
  }

  bool run() {
    const bool quick = options_.size == BenchSize::quick;
    const std::vector<std::size_t> sizes =
        quick ? std::vector<std::size_t>{2000} : std::vector<std::size_t>{100'000, 3'000'000, 24'400'000};
    for (const std::size_t elements : sizes) {
      const Dataset mesh = ventricle(elements);
      for (const FormatCase& format : format_cases)
        if (!format.text || elements <= max_text_elements) add(format, elements, mesh);
    }
    return report_.finish(options_);
  }

 private:
  [[nodiscard]] Dataset ventricle(std::size_t elements) const {
    Ventricle made = generate_ventricle({.elements = elements, .threads = threads_});
    DataArray fibers = vector_array("fiber", made.fiber);
    Dataset dataset = to_dataset<4>(std::move(made.mesh));
    dataset.tets.data.set(std::move(fibers));
    return dataset;
  }

  void add(const FormatCase& format, std::size_t elements, const Dataset& mesh) {
    const auto input = folder_.file("input" + format.extension), output = folder_.file("output" + format.extension);
    write_dataset(input, mesh, Overwrite::yes);
    stop_if_cancelled(options_);
    const double copied =
        std::min(copy_seconds(input, folder_.file("copy")), copy_seconds(input, folder_.file("copy")));
    const std::string row = fmt::format("{} tets, {}, {:.0f} MB", mesh.tets.cells.size(), format.extension,
                                        static_cast<double>(bytes_of(input)) / 1e6);
    const auto x = static_cast<double>(mesh.tets.cells.size());
    report_.add({row, "copy", {}, copied, "s", {}, EntryPoint{"copy of " + format.extension, x}});
    if (options_.columns == BenchColumns::all)
      add_backend(row, format, x, Backend::threads, input, output, copied, elements);
    if (has_gpu()) add_backend(row, format, x, Backend::cuda, input, output, copied, elements);
    for (const auto& path : {input, output})
      for (const auto& file : files_written(path)) std::filesystem::remove(file);
  }

  void add_backend(const std::string& row, const FormatCase& format, double x, Backend backend,
                   const std::filesystem::path& input, const std::filesystem::path& output, double copied,
                   std::size_t elements) {
    const bool gpu = backend == Backend::cuda;
    const std::string name = gpu ? "GPU" : fmt::format("{} threads", threads_);
    std::optional<Steps> steps;
    for (int i = 0; i < 3; ++i) {
      stop_if_cancelled(options_);
      const Steps now = run_once(input, output, backend);
      if (!steps || now.whole < steps->whole) steps = now;
    }
    const Remark fault = check(input, output, backend) ? Remark() : Remark(failed_check);
    const auto entry = [&](const char* step, std::optional<double> aim, double seconds) {
      return Entry{row, fmt::format("{}, {}", name, step), aim, seconds, "s", fault};
    };
    report_.add(entry("read", {}, steps->read));
    report_.add(entry("set-up", {}, steps->set_up));
    report_.add(entry("solve", {}, steps->solve));
    report_.add(entry("write", {}, steps->write));
    const bool aimed = elements > 20'000'000 && format.extension == ".vtk";
    Entry whole = entry("whole", aimed ? std::optional(gpu ? 1.2 : 2.0) : std::nullopt, steps->whole);
    whole.point = EntryPoint{fmt::format("{}, {}", format.extension, name), x};
    report_.add(std::move(whole));
    Entry ratio = entry("read and write over copy", format.text ? std::nullopt : std::optional(3.0),
                        (steps->read + steps->write) / copied);
    ratio.unit = "";
    report_.add(std::move(ratio));
  }

  [[nodiscard]] SolveOptions solve_options_of(Backend backend, Keep verify) const {
    SolveOptions options;
    options.backend = backend;
    options.threads = threads_;
    options.verify = verify;
    options.progress.cancel = options_.progress.cancel;
    return options;
  }

  /// Fibres where the format keeps them, else one speed.
  static Metric metric_of(const TetMesh& mesh, const Dataset& dataset) {
    MetricRequest request;
    if (dataset.tets.data.find("fiber") != nullptr) {
      request.fiber_array = "fiber";
      request.velocities = Velocities{0.6, 0.3, 0.3};
    }
    return metric_from_dataset<4>(mesh, dataset, request);
  }
  static Sources source() {
    Sources sources;
    sources.vertices.push_back({VertexId(0), 0.0});
    return sources;
  }

  [[nodiscard]] Steps run_once(const std::filesystem::path& input, const std::filesystem::path& output,
                               Backend backend) const {
    Steps steps;
    const Timer whole;
    Timer timer;
    const auto lap = [&] {
      const double seconds = timer.seconds();
      timer.restart();
      return seconds;
    };
    Dataset dataset = read_dataset(input);
    steps.read = lap();
    TetMesh mesh = take_mesh<4>(dataset);
    Arrival arrival;
    {
      const Metric metric = metric_of(mesh, dataset);
      Solver solver({mesh, metric}, solve_options_of(backend, Keep::no));
      steps.set_up = lap();
      arrival = solver.solve(source());
    }
    steps.solve = lap();
    restore_mesh<4>(dataset, std::move(mesh));
    dataset.point_data.set({"arrival_time", 1, std::move(arrival.times)});
    dataset.point_data.set({"source", 1, std::move(arrival.source)});
    write_dataset(output, dataset, Overwrite::yes);
    steps.write = lap();
    steps.whole = whole.seconds();
    return steps;
  }

  /// Whether the times in the output, where its format has them, are a solution.
  [[nodiscard]] bool check(const std::filesystem::path& input, const std::filesystem::path& output,
                           Backend backend) const {
    Dataset dataset = read_dataset(input);
    const TetMesh mesh = take_mesh<4>(dataset);
    const Metric metric = metric_of(mesh, dataset);
    Solver solver({mesh, metric}, solve_options_of(backend, Keep::yes));
    const Arrival arrival = solver.solve(source());
    if (!arrival.residual || !arrival.residual->passed() || arrival.unreached > 0) return false;
    const Dataset written = read_dataset(output);
    if (written.tets.cells.size() != mesh.element_count()) return false;
    const DataArray* times = written.point_data.find("arrival_time");
    if (times == nullptr) return true;
    for (std::size_t v = 0; v < arrival.times.size(); ++v)
      if (!(std::abs(times->at(v) - arrival.times[v]) <= 1e-3 * arrival.max_time)) return false;
    return true;
  }

  BenchOptions options_;
  int threads_;
  TemporaryFolder folder_;
  Report report_;
};

}  // namespace

bool goals_end_to_end(const BenchOptions& options) { return EndToEnd(options).run(); }

}  // namespace isochron::bench
