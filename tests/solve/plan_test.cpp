// What a solve will do, decided from the options, the domain and the machine; and the table of what is possible.
#include "isochron/capabilities.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/solver.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t gibibyte = std::size_t{1} << 30;
constexpr std::size_t small = 1000, medium = backend_thresholds.threads_elements, large = 5000000;
static_assert(small < medium && medium < backend_thresholds.cuda_elements && backend_thresholds.cuda_elements < large);

Machine with_device(std::size_t free_bytes) {
  return {8, [free_bytes] { return std::optional(free_bytes); }};
}
const Machine roomy = with_device(80 * gibibyte), cramped = with_device(2 * gibibyte);
const Machine no_device{8, []() -> std::optional<std::size_t> { return std::nullopt; }};

DomainFacts mesh_of(std::size_t elements, DomainKind kind = DomainKind::tetrahedra) {
  return {kind, elements, false, [](Precision) { return 3 * gibibyte; }};
}

SolveOptions with(Method method, Backend backend = Backend::automatic) {
  SolveOptions options;
  options.method = method;
  options.backend = backend;
  return options;
}

Backend backend_of(const SolveOptions& options, std::size_t elements, const Machine& machine) {
  return make_plan(options, mesh_of(elements), machine).backend;
}

TEST(Plan, LargeMeshesGoToTheGpu) {
  EXPECT_EQ(backend_of({}, large, roomy), Backend::cuda);
  EXPECT_EQ(backend_of({}, backend_thresholds.cuda_elements, roomy), Backend::cuda);
  EXPECT_EQ(backend_of({}, backend_thresholds.cuda_elements - 1, roomy), Backend::threads);
  EXPECT_EQ(backend_of({}, small, roomy), Backend::serial);
  EXPECT_EQ(make_plan({}, mesh_of(large), roomy).note, "");
  SolveOptions exact;
  exact.precision = Precision::double_;
  EXPECT_EQ(backend_of(exact, large, roomy), Backend::cuda);
}

TEST(Plan, ManySolvesBringSmallerImagesToTheGpu) {
  SolveOptions many;
  many.expected_solves = ExpectedSolves::many;
  const std::size_t voxels = backend_thresholds.cuda_voxels_of_many;
  const auto backend = [&](const SolveOptions& options, std::size_t count, DomainKind kind, const Machine& machine) {
    return make_plan(options, mesh_of(count, kind), machine).backend;
  };
  EXPECT_EQ(backend(many, voxels, DomainKind::image, roomy), Backend::cuda);
  EXPECT_EQ(backend(many, voxels, DomainKind::image, no_device), Backend::serial);
  EXPECT_EQ(backend(many, voxels - 1, DomainKind::image, roomy), Backend::serial);
  EXPECT_EQ(backend({}, voxels, DomainKind::image, roomy), Backend::serial);
  EXPECT_EQ(backend(many, voxels, DomainKind::tetrahedra, roomy), Backend::serial);
}

TEST(Plan, WithoutADeviceTheCpuNeedsNoNote) {
  EXPECT_EQ(backend_of({}, large, no_device), Backend::threads);
  EXPECT_EQ(backend_of({}, medium, no_device), Backend::threads);
  EXPECT_EQ(backend_of({}, medium - 1, no_device), Backend::serial);
  EXPECT_EQ(make_plan({}, mesh_of(large), no_device).note, "");
}

TEST(Plan, ABackEndThatIsNamedIsKept) {
  for (const Backend backend : {Backend::serial, Backend::threads, Backend::cuda})
    for (const std::size_t elements : {small, large}) {
      EXPECT_EQ(backend_of(with(Method::automatic, backend), elements, cramped), backend);
      EXPECT_EQ(backend_of(with(Method::automatic, backend), elements, no_device), backend);
      EXPECT_EQ(make_plan(with(Method::automatic, backend), mesh_of(elements), cramped).note, "");
    }
}

TEST(Plan, OptionsOfTheCpuKeepTheCpu) {
  for (const Method method : {Method::banded, Method::fim, Method::fmm, Method::fsm, Method::relabel_sync})
    EXPECT_EQ(backend_of(with(method), large, roomy), Backend::threads);
  SolveOptions factored;
  factored.source_init = SourceInit::factored;
  EXPECT_EQ(backend_of(factored, large, roomy), Backend::threads);
}

TEST(Plan, AMethodOfTheGpuMeansTheGpu) {
  for (const Method method : {Method::push, Method::patch_fim, Method::active_list, Method::domain_decomposition}) {
    EXPECT_EQ(backend_of(with(method), small, no_device), Backend::cuda);
    EXPECT_EQ(backend_of(with(method), large, cramped), Backend::cuda);
  }
}

TEST(Plan, TooLittleMemoryIsNoted) {
  const Plan plan = make_plan({}, mesh_of(large), cramped);
  EXPECT_EQ(plan.backend, Backend::threads);
  EXPECT_THAT(plan.note,
              AllOf(HasSubstr("on the CPU"), HasSubstr("3328 MiB needed, 2048 MiB free"), Not(HasSubstr("backend"))));
  const std::size_t exactly = 3 * gibibyte + backend_thresholds.cuda_spare_bytes;
  EXPECT_EQ(backend_of({}, large, with_device(exactly)), Backend::cuda);
  EXPECT_EQ(backend_of({}, large, with_device(exactly - 1)), Backend::threads);
}

TEST(Plan, AFailedDeviceIsNotedWithoutItsAdvice) {
  const Plan plan = plan_without_device(
      {}, mesh_of(large), roomy,
      "the GPU failed at solving (cudaErrorIllegalAddress)" + Message(Advice()) + "solve elsewhere");
  EXPECT_EQ(plan.backend, Backend::threads);
  EXPECT_EQ(plan.note, "solved on the CPU: the GPU failed at solving (cudaErrorIllegalAddress)");
  EXPECT_EQ(plan_without_device({}, mesh_of(small), roomy, "no advice").note, "solved on the CPU: no advice");
  EXPECT_EQ(plan_without_device({}, mesh_of(small), roomy, "no advice").backend, Backend::serial);
}

TEST(Plan, TheDeviceIsLookedForOnlyWhereItMatters) {
  const auto looks = [](const SolveOptions& options, std::size_t elements) {
    bool looked = false;
    const Machine machine{8, [&]() -> std::optional<std::size_t> {
                            looked = true;
                            return std::nullopt;
                          }};
    (void)make_plan(options, mesh_of(elements), machine);
    return looked;
  };
  EXPECT_TRUE(looks({}, large));
  EXPECT_FALSE(looks({}, small));
  EXPECT_FALSE(looks(with(Method::fim), large));
  EXPECT_FALSE(looks(with(Method::automatic, Backend::threads), large));
  EXPECT_FALSE(looks(with(Method::automatic, Backend::cuda), large));
}

TEST(Plan, PrecisionAndToleranceFollowTheBackEnd) {
  const Plan cpu = make_plan({}, mesh_of(small), roomy), gpu = make_plan({}, mesh_of(large), roomy);
  EXPECT_EQ(cpu.precision, Precision::double_);
  EXPECT_EQ(gpu.precision, Precision::single_);
  EXPECT_EQ(cpu.tolerance(cpu.precision), 1e-6);
  EXPECT_EQ(gpu.tolerance(gpu.precision), 1e-5);
  SolveOptions options;
  options.tolerance = 1e-3;
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).tolerance(Precision::double_), 1e-3);
  for (const double wrong : {0.0, -1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options.tolerance = wrong;
    EXPECT_THROW(make_plan(options, mesh_of(small), roomy), UsageError) << wrong;
  }
}

TEST(Plan, FactoredSourcesAreSolvedInDoublePrecision) {
  SolveOptions options;
  options.precision = Precision::single_;
  options.source_init = SourceInit::factored;
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).precision, Precision::double_);
}

TEST(Plan, VirtualTetrahedraAreMadeByTheActiveList) {
  SolveOptions options = with(Method::automatic, Backend::cuda);
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).method, Method::push);
  options.obtuse = ObtuseSplit::split;
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).method, Method::active_list);
  EXPECT_EQ(make_plan(options, mesh_of(small, DomainKind::triangles), roomy).method, Method::push);
}

TEST(Plan, OnlyWhatWasLeftOpenFallsBack) {
  EXPECT_TRUE(make_plan({}, mesh_of(large), roomy).may_fall_back);
  EXPECT_FALSE(make_plan({}, mesh_of(small), roomy).may_fall_back) << "on the CPU there is nothing to fall back from";
  EXPECT_FALSE(make_plan(with(Method::push), mesh_of(large), roomy).may_fall_back);
  EXPECT_FALSE(make_plan(with(Method::automatic, Backend::cuda), mesh_of(large), roomy).may_fall_back);
  DomainFacts facts = mesh_of(large);
  facts.device_arrays = true;
  SolveOptions to_host;
  to_host.results = ResultMemory::host;
  EXPECT_FALSE(make_plan(to_host, facts, roomy).may_fall_back);
  SolveOptions kept;
  kept.results = ResultMemory::device;
  EXPECT_FALSE(make_plan(kept, mesh_of(large), roomy).may_fall_back);
}

TEST(Plan, ThreadsAreThoseOfTheMachineUnlessAskedFor) {
  const Plan serial = make_plan(with(Method::automatic, Backend::serial), mesh_of(large), roomy);
  EXPECT_EQ(serial.threads, 1);
  EXPECT_EQ(serial.batch_threads, 1);
  const Plan small_one = make_plan({}, mesh_of(small), no_device);
  EXPECT_EQ(small_one.threads, 1);
  EXPECT_EQ(small_one.batch_threads, 8) << "many small solves share the cores";
  EXPECT_TRUE(small_one.several_threads);
  SolveOptions options = with(Method::automatic, Backend::threads);
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).threads, 8);
  options.threads = 3;
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).threads, 3);
  EXPECT_EQ(make_plan(options, mesh_of(small), roomy).batch_threads, 3);
  EXPECT_EQ(wanted_threads(options), 3);
  EXPECT_EQ(wanted_threads(SolveOptions()), hardware_threads());
}

TEST(Plan, OneProcessIsNotRanks) {
  EXPECT_THROW(make_plan(with(Method::automatic, Backend::mpi), mesh_of(small), roomy), UsageError);
}

TEST(Plan, ResultsStayWhereTheArraysAre) {
  DomainFacts facts = mesh_of(small);
  EXPECT_FALSE(make_plan({}, facts, roomy).keep_on_device);
  facts.device_arrays = true;
  EXPECT_TRUE(make_plan({}, facts, roomy).keep_on_device);
  EXPECT_EQ(make_plan({}, facts, roomy).backend, Backend::cuda);
  SolveOptions options;
  options.results = ResultMemory::host;
  EXPECT_FALSE(make_plan(options, facts, roomy).keep_on_device);
  options.results = ResultMemory::device;
  EXPECT_TRUE(make_plan(options, mesh_of(small), roomy).keep_on_device);
}

TEST(Plan, ArraysOfADeviceAreNotForEveryMethod) {
  DomainFacts facts = mesh_of(small);
  EXPECT_EQ(make_plan(with(Method::active_list), facts, roomy).method, Method::active_list);
  SolveOptions kept = with(Method::active_list);
  kept.results = ResultMemory::device;
  EXPECT_THROW(make_plan(kept, facts, roomy), UsageError);
  facts.device_arrays = true;
  EXPECT_EQ(make_plan(with(Method::push), facts, roomy).method, Method::push);
  EXPECT_THROW(make_plan(with(Method::active_list), facts, roomy), UsageError);
  EXPECT_THROW(make_plan(with(Method::automatic, Backend::threads), facts, roomy), UsageError);
}

TEST(Plan, TheOrderIsTheOneAskedFor) {
  SolveOptions options;
  EXPECT_EQ(make_plan(options, mesh_of(small, DomainKind::image), roomy).order, 1);
  options.order = 2;
  EXPECT_EQ(make_plan(options, mesh_of(small, DomainKind::image), roomy).order, 2);
}

TEST(Plan, TheKindOfADomainIsThatOfItsShape) {
  const TriangleMesh triangles;
  const TetMesh tets;
  const ImageGrid grid;
  const Metric metric = Metric::isotropic(1);
  EXPECT_EQ(Domain(triangles, metric).kind(), DomainKind::triangles);
  EXPECT_EQ(Domain(tets, metric).kind(), DomainKind::tetrahedra);
  EXPECT_EQ(Domain(grid, metric).kind(), DomainKind::image);
  DeviceMesh mesh;
  mesh.elements.columns = 3;
  EXPECT_EQ(Domain(mesh, metric).kind(), DomainKind::triangles);
  mesh.elements.columns = 4;
  EXPECT_EQ(Domain(mesh, metric).kind(), DomainKind::tetrahedra);
  const MeshPart<3>* patch = nullptr;
  const MeshPart<4>* part = nullptr;
  Domain parts(triangles, metric);
  parts.shape = patch;
  EXPECT_EQ(parts.kind(), DomainKind::triangles);
  parts.shape = part;
  EXPECT_EQ(parts.kind(), DomainKind::tetrahedra);
  parts.shape = BoxedGrid{};
  EXPECT_EQ(parts.kind(), DomainKind::image);
}

TEST(Plan, ASolverOfTheCpuTakesNoMetricOfADevice) {
  const TetMesh cube = generate_cube({.nx = 3, .ny = 3, .nz = 3});
  const Metric metric = Metric::isotropic(1);
  Solver solver(Domain(cube, metric));
  EXPECT_THROW(solver.set_metric(DeviceSpeed{}), UsageError);
  Sources sources;
  sources.vertices.push_back({VertexId(0), 0});
  EXPECT_EQ(solver.solve(sources).unreached, 0U);  // with the metric before
}

/// Everything that can be asked of the table.
template <class Visit>
void for_all_wanted(const Visit& visit) {
  for (const DomainKind domain : {DomainKind::triangles, DomainKind::tetrahedra, DomainKind::image})
    for (const Hardware hardware : {Hardware::cpu, Hardware::gpu, Hardware::ranks})
      for (int method = 0; method <= static_cast<int>(Method::relabel_async); ++method)
        for (int scheme = 0; scheme <= static_cast<int>(GridScheme::lax_friedrichs); ++scheme)
          for (const SourceInit init : {SourceInit::plain, SourceInit::ball, SourceInit::factored})
            for (const int order : {0, 1, 2, 3})
              for (int flags = 0; flags < 8; ++flags) {
                Wanted wanted{domain, hardware, static_cast<Method>(method), static_cast<GridScheme>(scheme),
                              init,   order};
                wanted.split_obtuse = (flags & 1) != 0 && domain != DomainKind::image;
                wanted.device_arrays = (flags & 2) != 0;
                wanted.weights = (flags & 4) != 0;
                visit(wanted);
              }
}

TEST(Capabilities, EachQuestionHasARowOrAnErrorInOneLine) {
  std::size_t rows = 0, errors = 0;
  for_all_wanted([&](const Wanted& wanted) {
    const Capability* row = find_capability(wanted);
    try {
      EXPECT_EQ(&require_capability(wanted), row);
      ++rows;
    } catch (const UsageError& error) {
      EXPECT_EQ(row, nullptr);
      ++errors;
      const std::string text = error.what();
      EXPECT_THAT(text, AllOf(HasSubstr("; "), Not(HasSubstr("\n")), Not(HasSubstr("--"))));
      const bool image = wanted.domain == DomainKind::image;
      const bool bad_order = image ? wanted.order < 1 || wanted.order > 2 : wanted.order != 1;
      if (bad_order) {
        EXPECT_THAT(text, HasSubstr("order"));
      } else if (!image && wanted.scheme != GridScheme::automatic) {
        EXPECT_THAT(text, HasSubstr("scheme"));
      }
    }
  });
  EXPECT_GT(rows, 100U);
  EXPECT_GT(errors, 1000U);
}

TEST(Capabilities, TheDocsHaveTheTable) {
  std::ifstream file(ISOCHRON_SOURCE_DIR "/docs/reference/capabilities.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(page, HasSubstr(capability_table())) << "put this into the page:\n" << capability_table();
}

/// The advice of an error must lead on: whoever leaves method, back end and all else out gets an answer.
TEST(Capabilities, ThreadsAreForTheCpuAndRanks) {
  for (const Capability& row : capabilities()) {
    const bool gpu = row.hardware == Hardware::gpu;
    EXPECT_FALSE(gpu && row.several_threads) << name_of(row.method);
    EXPECT_TRUE(row.several_threads || row.method != Method::banded);
  }
}

std::string refusal_of(const Wanted& wanted) {
  try {
    require_capability(wanted);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Capabilities, RefusalsSayWhatDoesNotGoTogether) {
  const auto expect = [](Wanted wanted, const char* text) { EXPECT_THAT(refusal_of(wanted), HasSubstr(text)); };
  const auto tets = DomainKind::tetrahedra, image = DomainKind::image;
  const auto cpu = Hardware::cpu, gpu = Hardware::gpu, ranks = Hardware::ranks;
  const auto open = GridScheme::automatic, godunov = GridScheme::godunov;
  const auto plain = SourceInit::plain, factored = SourceInit::factored;
  expect({tets, cpu, Method::automatic, open, plain, 2}, "order 2 is for images");
  expect({tets, cpu, Method::automatic, godunov}, "scheme godunov is for images");
  expect({tets, gpu, Method::fmm}, "method fmm does not run on the GPU (push, patch-fim, active-list and");
  expect({tets, cpu, Method::push}, "method push runs on the GPU only");
  expect({tets, gpu, Method::automatic, open, factored}, "factored sources are solved on the CPU");
  expect({tets, cpu, Method::fim, open, factored}, "solved by method banded, not fim");
  expect({tets, gpu, Method::push, open, plain, 1, true}, "method push makes no virtual tetrahedra");
  expect({tets, ranks, Method::fim}, "ranks solve by method banded");
  expect({tets, ranks, Method::automatic, open, factored}, "factored sources are not solved over ranks");
  expect({tets, ranks, Method::automatic, open, plain, 1, false, false, true},
         "upwind weights are not kept over ranks");
  expect({image, ranks, Method::automatic, godunov}, "ranks solve images by scheme adaptive, not godunov");
  expect({image, cpu, Method::automatic, open, plain, 3}, "order 3 is not there");
  expect({image, cpu, Method::automatic, open, plain, 0}, "order 0 is not there");
  expect({image, cpu, Method::automatic, godunov, plain, 2}, "scheme godunov is of first order");
  expect({image, cpu, Method::automatic, godunov, factored}, "scheme godunov does not factor sources");
  expect({image, cpu, Method::fmm}, "(banded solves adaptive, fim and fsm godunov, fsm lax-friedrichs)");
  expect({image, cpu, Method::automatic, open, plain, 1, false, false, true},
         "upwind weights are given on meshes only");
  expect({image, cpu, Method::push}, "method push runs on the GPU only");
  expect({image, gpu, Method::automatic, open, factored}, "without factored sources");
  expect({image, gpu, Method::patch_fim}, "method patch-fim does not solve scheme adaptive on the GPU (push does)");
  Wanted arrays{tets, cpu};
  arrays.device_arrays = true;
  expect(arrays, "not solved with back end serial, threads or mpi");
  arrays.hardware = gpu;
  arrays.weights = true;
  expect(arrays, "upwind weights are found on the CPU");
  arrays.weights = false;
  arrays.split_obtuse = true;
  expect(arrays, "no virtual tetrahedra on the GPU for arrays");
  arrays.source_init = factored;
  expect(arrays, "factored sources are solved on the CPU, not with arrays");
  arrays.method = Method::active_list;
  expect(arrays, "not solved with method active-list (push does it)");
}

TEST(Capabilities, EachDomainHasADefaultOnAllHardware) {
  for (const DomainKind domain : {DomainKind::triangles, DomainKind::tetrahedra, DomainKind::image})
    for (const Hardware hardware : {Hardware::cpu, Hardware::gpu, Hardware::ranks})
      EXPECT_NE(find_capability({domain, hardware}), nullptr);
}

TEST(Capabilities, EachMethodIsInTheTable) {
  for (int method = 1; method <= static_cast<int>(Method::relabel_async); ++method) {
    const auto& all = capabilities();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Capability& row) {
      return static_cast<int>(row.method) == method;
    })) << method;
  }
}

/// What the table has on the CPU is solved, and what it has not is refused, whatever the options.
TEST(Capabilities, SolversDoWhatTheTableSays) {
  const TriangleMesh square = generate_square({.n = 4});
  const TetMesh cube = generate_cube({.nx = 3, .ny = 3, .nz = 3});
  const ImageGrid grid{{4, 4, 4}};
  const Metric metric = Metric::isotropic(1);
  Sources sources;
  sources.vertices.push_back({VertexId(0), 0});
  for_all_wanted([&](const Wanted& wanted) {
    if (wanted.hardware != Hardware::cpu || wanted.device_arrays) return;
    SolveOptions options;
    options.backend = Backend::serial;
    options.method = wanted.method;
    options.scheme = wanted.scheme;
    options.source_init = wanted.source_init;
    options.order = wanted.order;
    options.obtuse = wanted.split_obtuse ? ObtuseSplit::split : ObtuseSplit::none;
    options.unordered = Unordered::hand_over;
    options.weights = wanted.weights ? Keep::yes : Keep::no;
    options.verify = Keep::yes;
    const Domain domain = wanted.domain == DomainKind::triangles    ? Domain(square, metric)
                          : wanted.domain == DomainKind::tetrahedra ? Domain(cube, metric)
                                                                    : Domain(grid, metric);
    const Capability* row = find_capability(wanted);
    if (row == nullptr) {
      EXPECT_THROW(Solver(domain, options), UsageError);
      return;
    }
    const Arrival arrival = Solver(domain, options).solve(sources);
    EXPECT_EQ(arrival.method, row->method);
    EXPECT_EQ(arrival.unreached, 0U);
    EXPECT_TRUE(arrival.converged);
    EXPECT_EQ(arrival.upwind.empty(), !wanted.weights);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron
