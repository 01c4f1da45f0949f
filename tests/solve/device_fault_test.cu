// A kernel that faults: the error is reported, nothing else throws, and the CPU goes on. The fault stays with the
// process, so this file is a program of its own, and its test the only one in it.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "isochron/core/cuda/check.h"
#include "isochron/device.h"
#include "isochron/generate.h"
#include "isochron/solver.h"
#include "support/device_case.h"

namespace isochron {
namespace {

__global__ void write_to(std::uint32_t* place) { *place = 1; }

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

SolveOptions on(Backend backend) {
  SolveOptions options;
  options.backend = backend;
  options.verify = Keep::yes;
  return options;
}

using DeviceFault = test::DeviceCase;

TEST_F(DeviceFault, IsReportedAndTheCpuGoesOn) {
  const TetMesh mesh = generate_cube({.nx = 6, .ny = 6, .nz = 6, .extent = {5, 5, 5}});
  const Metric metric;
  Sources sources;
  sources.vertices.push_back({VertexId(0), 0});
  std::optional<Solver> device_solver(std::in_place, MeshDomain<4>{mesh, metric}, on(Backend::cuda));
  const Arrival before = device_solver->solve(sources);
  std::optional<cuda::DeviceArray<int>> array(10);

  write_to<<<1, 1>>>(reinterpret_cast<std::uint32_t*>(std::uintptr_t{4096}));
  const std::string fault = test::failure([] {
    cuda::check(cudaGetLastError(), "starting a kernel");
    cuda::check(cudaDeviceSynchronize(), "solving");
  });
  EXPECT_TRUE(has(fault, "cudaErrorIllegalAddress")) << fault;
  EXPECT_TRUE(has(fault, "backend threads")) << fault;

  // A prepared solver and a new one say that the device has failed; neither gives times.
  EXPECT_TRUE(has(test::failure([&] { device_solver->solve(sources); }), "cudaErrorIllegalAddress"));
  EXPECT_TRUE(has(test::failure([&] { solve(mesh, metric, sources, on(Backend::cuda)); }), "cudaErrorIllegalAddress"));
  cuda::NoDevice why;
  EXPECT_FALSE(cuda::find_device(why).has_value());
  EXPECT_TRUE(has(to_text(why.reason), "cudaErrorIllegalAddress")) << to_text(why.reason);
  // What owns device memory still goes without a word.
  array.reset();
  device_solver.reset();

  for (const Backend backend : {Backend::serial, Backend::threads}) {
    const Arrival after = solve(mesh, metric, sources, on(backend));
    EXPECT_TRUE(after.residual->passed());
    ASSERT_EQ(after.times.size(), before.times.size());
    for (std::size_t v = 0; v < after.times.size(); ++v) EXPECT_NEAR(after.times[v], before.times[v], 1e-3) << v;
  }
}

}  // namespace
}  // namespace isochron
