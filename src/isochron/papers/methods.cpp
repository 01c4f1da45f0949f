#include "isochron/papers/methods.h"

#include <array>

namespace isochron {
namespace {

/// One maker for all kinds of meshes and scalars.
constexpr MakeMeshSchedules for_all(auto make) { return {make, make, make, make}; }

template <Method method>
constexpr MakeMeshSchedules on_cpu() {
  return for_all([](const auto& problem, const auto& mesh, const Metric&, const SolveOptions& options) {
    return make_cpu_schedule(method, problem, mesh, options);
  });
}

constexpr MakeMeshSchedules in_patches =
    for_all([](const auto& problem, const auto& mesh, const Metric& metric, const SolveOptions& options) {
      return cuda::make_patch_fim(problem, mesh, metric, options);
    });
constexpr MakeMeshSchedules in_subdomains =
    for_all([](const auto& problem, const auto& mesh, const Metric&, const SolveOptions& options) {
      return cuda::make_domain_decomposition(problem, mesh, options);
    });

constexpr Capability on_mesh(Method method, Hardware hardware, bool several_threads = false) {
  return {method, any_mesh, hardware, GridScheme::automatic, unfactored, 1, any_mesh, several_threads, false, true};
}

constexpr PaperMethod on_images(Method method, Hardware hardware, GridScheme scheme) {
  const Capability row{method, {DomainKind::image}, hardware, scheme, unfactored, 1, {}, false, false, false};
  return {row, {}, ForPushes::no, make_axis_scheme_engine};
}

constexpr std::array<PaperMethod, 11> methods{{
    {on_mesh(Method::fim, Hardware::cpu, true), on_cpu<Method::fim>()},
    {on_mesh(Method::fmm, Hardware::cpu), on_cpu<Method::fmm>(), ForPushes::yes},  // bands may correct it
    {on_mesh(Method::fsm, Hardware::cpu), on_cpu<Method::fsm>()},
    {on_mesh(Method::relabel_sync, Hardware::cpu), on_cpu<Method::relabel_sync>()},
    {on_mesh(Method::relabel_async, Hardware::cpu), on_cpu<Method::relabel_async>()},
    {on_mesh(Method::patch_fim, Hardware::gpu), in_patches},
    {on_mesh(Method::domain_decomposition, Hardware::gpu), in_subdomains},
    on_images(Method::fim, Hardware::cpu, GridScheme::godunov),
    on_images(Method::fsm, Hardware::cpu, GridScheme::godunov),
    on_images(Method::fsm, Hardware::cpu, GridScheme::lax_friedrichs),
    on_images(Method::patch_fim, Hardware::gpu, GridScheme::godunov),
}};

}  // namespace

std::span<const PaperMethod> paper_methods() { return methods; }

}  // namespace isochron
