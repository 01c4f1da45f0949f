// isochron: first-arrival times on the command line.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>

#include "apps/isochron/commands.h"
#include "apps/isochron/exit_code.h"
#include "apps/isochron/solve_mpi.h"
#include "apps/isochron/wording.h"
#include "isochron/communicator.h"
#include "isochron/core/parallel.h"
#include "isochron/partition.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/tetrahedra.h"

namespace isochron::cli {
namespace {

double positive_number(const std::string& text) {
  double number = 0;
  into_positive(number)(text);
  return number;
}

}  // namespace

void declare_common(Command& command, Console& console) {
  command.group("Everywhere");
  command.flag("--json", "Print one JSON object on stdout instead of text", console.options.json);
  command.flag("-q,--quiet", "No text, warnings or progress (errors still show)", console.options.quiet);
  command.option("--threads", "N", "Threads to use; 0: all cores (default)", [&console](const std::string& text) {
    constexpr int most = 1024;  // several times the cores of any machine; many more only wait for one another
    const int threads = parse_as<int>(text);
    if (threads > most) throw_too_large(text, most);
    console.options.threads = threads;
  });
  command.option("--time-limit", "SECONDS", "End with code 124 and without output when it takes longer",
                 [](const std::string& text) { limit_time(positive_number(text)); });
  command.option("--memory-limit", "GB", "Refuse files and work that need more memory than this (of a rank)",
                 [&console](const std::string& text) {
                   constexpr double most = 1e9;  // far above any machine, and no overflow
                   console.options.max_bytes = static_cast<std::uint64_t>(1e9 * std::min(most, positive_number(text)));
                 });
  command.group("Options");
}

namespace {

std::string version() {
  std::string text = "isochron " ISOCHRON_VERSION;
#if defined(ISOCHRON_WITH_VTK)
  text += ", with VTK";
#else
  text += ", without VTK";
#endif
#if defined(_OPENMP)
  text += ", with OpenMP";
#else
  text += ", without OpenMP";
#endif
  if (mpi::available()) text += ", with MPI";
  if (has_metis()) text += ", with METIS";
  if (has_tet_program(TetProgram::netgen)) text += ", with Netgen";
  if (delaunay_available()) text += ", with CGAL (under the GPL)";
  return text;
}

int run(int argc, const char* const* argv) {
  Console console;
  const auto start = [&] {
    limit_usual_threads(console.threads());
    if (console.options.max_bytes) limit_memory(*console.options.max_bytes, console.threads());
  };
  const auto declare = [&](Command& root) {
    declare_common(root, console);
    declare_generate(root, console);
    declare_info(root, console);
    declare_convert(root, console);
    declare_solve(root, console);
    declare_tensors(root, console);
    declare_invert(root, console);
    declare_path(root, console);
    declare_connect(root, console);
    declare_connectome(root, console);
    declare_surface(root, console);
    declare_view(root, console);
    declare_bench(root, console);
  };
  const int code = parse_and_run(argc, argv, version(), declare, start);
  console.flush();
  return code;
}

}  // namespace
}  // namespace isochron::cli

namespace {

/// Runs the command; says what goes wrong, and gives the exit code. Throws bad_alloc alone.
int run_and_report(int argc, char** argv) {
  using isochron::cli::print_error;
  try {
    return isochron::cli::run(argc, argv);
  } catch (const isochron::Cancelled&) {
    return isochron::cli::report_stopped();
  } catch (const isochron::Error& error) {
    print_error(to_text(error, isochron::cli::command_wording()));
    return isochron::cli::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    print_error(error.what());
  } catch (...) {
    print_error("unknown failure; please report it");
  }
  return 1;
}

/// The same, also when there is not even memory to say what goes wrong.
int run_within_memory(int argc, char** argv) {
  try {
    return run_and_report(argc, argv);
  } catch (const std::bad_alloc&) {
    isochron::cli::print_out_of_memory();
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  isochron::cli::prepare_process();
  const bool another = isochron::cli::is_another_rank(argc, argv);
  isochron::cli::silence(another);
  const int code = run_within_memory(argc, argv);
  return another ? 0 : code;  // the first rank says it; a launcher ends all when one fails, maybe before that
}
