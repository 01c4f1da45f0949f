// Real meshes with the faults that real meshes have: every schedule must give one field, which must be a fixed point.
#include <ostream>
#include <string>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/metric_arrays.h"
#include "oracles/real_data.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

/// A mesh, what is known to be wrong with it, and whether it has fibres.
struct HardMesh {
  const char* path;
  std::size_t source;
  std::size_t components = 1;
  std::size_t reached;  ///< from the source
  std::size_t degenerate = 0;
  std::size_t non_manifold = 0;
  std::size_t unreferenced = 0;
  bool fibers = false;
};

void PrintTo(const HardMesh& mesh, std::ostream* out) { *out << mesh.path; }

struct Way {
  Method method;
  int threads;
};

/// Those that suit any mesh. Fast marching needs hand-over here, which is banded again; sweeping is too slow.
std::vector<Way> ways() {
  std::vector<Way> all{{Method::banded, 2}, {Method::fim, 1}, {Method::fim, 2}};
  if (no_device().empty()) all.push_back({Method::push, 1});
  return all;
}

/// Solves in each way, checks each answer and their agreement, and returns the first. A schedule drops gains below the
/// tolerance times an edge's time. Along a path these can add up to the tolerance times the whole time, give or take
/// how uneven the edges are (seen: 1e-7 of the largest time).
template <int Corners>
Arrival expect_agreement(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources) {
  const Arrival reference = solve(mesh, metric, sources, verified());
  expect_fixed_point(reference);
  for (const Way& way : ways()) {
    SCOPED_TRACE(std::string(name_of(way.method)) + " with threads: " + std::to_string(way.threads));
    SolveOptions options = verified(SourceInit::ball, way.method);
    options.threads = way.threads;
    if (way.threads > 1) options.backend = Backend::threads;
    if (way.method == Method::push) {
      options.backend = Backend::cuda;
      options.precision = Precision::double_;
    }
    const Arrival arrival = solve(mesh, metric, sources, options);
    expect_fixed_point(arrival);
    EXPECT_EQ(arrival.unreached, reference.unreached);
    EXPECT_LT(sorted_differences(arrival.times, reference.times).back(), 2e-6 * reference.max_time);
  }
  return reference;
}

class HardMeshes : public RealData, public ::testing::WithParamInterface<HardMesh> {
 protected:
  template <int Corners>
  static void check(Dataset& file) {
    const HardMesh& known = GetParam();
    MetricRequest request;
    if (known.fibers) {
      request.fiber_array = "fiber";
      request.velocities = Velocities{1.2, 0.4, 0.4};
    }
    const Metric metric = metric_from_dataset<Corners>(file, request);
    const SimplexMesh<Corners> mesh = take_mesh<Corners>(file);
    const MeshReport report = validate(mesh);
    EXPECT_EQ(report.components, known.components);
    EXPECT_EQ(report.degenerate, known.degenerate);
    EXPECT_EQ(report.non_manifold_facets, known.non_manifold);
    EXPECT_EQ(report.unreferenced_vertices, known.unreferenced);
    const Arrival arrival = expect_agreement(mesh, metric, from_vertex(VertexId(known.source)));
    EXPECT_EQ(arrival.reached, known.reached);
    EXPECT_EQ(arrival.unreached, mesh.vertex_count() - known.reached);
  }
};

TEST_P(HardMeshes, AreSolvedAlikeByEverySchedule) {
  Dataset file = read(GetParam().path);
  if (file.tets.cells.empty()) check<3>(file);
  else check<4>(file);
}

INSTANTIATE_TEST_SUITE_P(
    Surfaces, HardMeshes,
    ::testing::Values(HardMesh{.path = "surf/dragon_vrip.ply.gz",
                               .source = 200000,
                               .components = 151,
                               .reached = 436846,
                               .degenerate = 108},
                      HardMesh{.path = "surf/armadillo_igl.obj", .source = 100, .reached = 43243},
                      HardMesh{.path = "surf/refined_elephant.off", .source = 100, .reached = 44460},
                      HardMesh{.path = "surf/fertility_igl.off", .source = 100, .reached = 4494},
                      HardMesh{.path = "surf/bunny_zipper.ply", .source = 100, .reached = 34834, .unreferenced = 1113},
                      HardMesh{.path = "atria/biatrial_bilayer.elem",
                               .source = 0,
                               .components = 20,
                               .reached = 29423,
                               .non_manifold = 166,
                               .fibers = true},
                      HardMesh{.path = "atria/LA_endo_1.elem", .source = 0, .reached = 60100, .fibers = true}));

INSTANTIATE_TEST_SUITE_P(
    Solids, HardMeshes,
    ::testing::Values(HardMesh{.path = "heart/kit_heartT4.node", .source = 30493, .components = 2, .reached = 30973},
                      HardMesh{.path = "tet/hand.mesh", .source = 0, .reached = 7234}));

}  // namespace TEST_FILE
}  // namespace isochron::test
