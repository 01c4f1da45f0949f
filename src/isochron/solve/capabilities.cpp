#include "isochron/capabilities.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/solve/common/methods.h"

namespace isochron {
namespace {

constexpr SetOf images{DomainKind::image};
constexpr SetOf triangles{DomainKind::triangles};
constexpr SetOf<DomainKind> nothing{};
constexpr SetOf any_source{SourceInit::plain, SourceInit::ball, SourceInit::factored};
constexpr GridScheme mesh = GridScheme::automatic;

constexpr std::array<Capability, 8> own_rows{{
    // method, domains, hardware, scheme, sources, order, splits, threads, device arrays, weights
    {Method::banded, any_mesh, Hardware::cpu, mesh, any_source, 1, any_mesh, true, false, true},
    {Method::push, any_mesh, Hardware::gpu, mesh, unfactored, 1, triangles, false, true, false},
    // Weights are found on the host, once the times are there.
    {Method::push, any_mesh, Hardware::gpu, mesh, unfactored, 1, triangles, false, false, true},
    {Method::active_list, any_mesh, Hardware::gpu, mesh, unfactored, 1, any_mesh, false, false, true},
    {Method::banded, any_mesh, Hardware::ranks, mesh, unfactored, 1, any_mesh, true, false, false},

    {Method::banded, images, Hardware::cpu, GridScheme::adaptive, any_source, 2, nothing, true, false, false},
    {Method::push, images, Hardware::gpu, GridScheme::adaptive, unfactored, 2, nothing, false, true, false},
    {Method::banded, images, Hardware::ranks, GridScheme::adaptive, unfactored, 2, nothing, true, false, false},
}};

/// Domain by domain and back end by back end; our own rows come first in each, so that automatic choices find them.
std::vector<Capability> all_rows() {
  std::vector<Capability> all(own_rows.begin(), own_rows.end());
  for (const PaperMethod& method : paper_methods()) all.push_back(method.row);
  std::stable_sort(all.begin(), all.end(), [](const Capability& a, const Capability& b) {
    const auto key = [](const Capability& row) { return std::pair(row.domains.has(DomainKind::image), row.hardware); };
    return key(a) < key(b);
  });
  return all;
}

bool does(const Capability& row, const Wanted& wanted) {
  return row.sources.has(wanted.source_init) && wanted.order >= 1 && wanted.order <= row.max_order &&
         (!wanted.split_obtuse || row.splits.has(wanted.domain)) && (!wanted.device_arrays || row.device_arrays) &&
         (!wanted.weights || row.weights);
}

bool about(const Capability& row, const Wanted& wanted) {
  return row.domains.has(wanted.domain) && row.hardware == wanted.hardware &&
         row.scheme == resolved_scheme(wanted.domain, wanted.scheme);
}

/// "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::vector<std::string> methods_of(DomainKind domain, Hardware hardware, GridScheme scheme) {
  std::set<Method> methods;
  for (const Capability& row : capabilities())
    if (row.domains.has(domain) && row.hardware == hardware && row.scheme == scheme) methods.insert(row.method);
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const Method method : methods) names.emplace_back(name_of(method));
  return names;
}

const Setting leave_method{Option::method}, leave_backend{Option::backend};

/// Arrays in device memory are solved by one method alone.
[[noreturn]] void refuse_device_arrays(const Wanted& wanted) {
  if (wanted.hardware != Hardware::gpu)
    throw UsageError("arrays in the memory of a GPU are not solved with back end serial, threads or mpi; leave it out");
  if (wanted.method != Method::automatic && wanted.method != Method::push)
    throw UsageError(
        fmt::format("arrays in the memory of a GPU are not solved with method {} (push does it); leave it out",
                    name_of(wanted.method)));
  if (wanted.source_init == SourceInit::factored)
    throw UsageError("factored sources are solved on the CPU, not with arrays in the memory of a GPU; use ball");
  if (wanted.weights)
    throw UsageError("upwind weights are found on the CPU, not with arrays in the memory of a GPU; leave them out");
  if (wanted.domain == DomainKind::image)
    throw UsageError(fmt::format("scheme {} does not take or leave arrays in the memory of a GPU; leave it out",
                                 name_of(wanted.scheme)));
  throw UsageError("there are no virtual tetrahedra on the GPU for arrays in its memory; do not split them");
}

[[noreturn]] void refuse_ranks(const Wanted& wanted) {
  const Message back_end = Setting{Option::backend, "mpi"};
  if (wanted.domain == DomainKind::image && resolved_scheme(wanted.domain, wanted.scheme) != GridScheme::adaptive)
    throw UsageError(fmt::format("ranks solve images by scheme adaptive, not {} (", name_of(wanted.scheme)) + back_end +
                     "); leave " + Setting{Option::scheme} + " out");
  if (wanted.method != Method::automatic && wanted.method != Method::banded)
    throw UsageError("ranks solve by method banded (" + back_end + "); leave " + leave_method + " out");
  if (wanted.source_init == SourceInit::factored)
    throw UsageError("factored sources are not solved over ranks; use " +
                     Message(Setting{Option::source_init, "ball"}) + ", or leave " + back_end + " out");
  throw UsageError("upwind weights are not kept over ranks; leave " + back_end + " out");
}

/// The method is there for the domain and hardware, but cannot do what is asked for.
[[noreturn]] void refuse_on_mesh(const Wanted& wanted, Method method) {
  const bool gpu = wanted.hardware == Hardware::gpu;
  if (wanted.order != 1)
    throw UsageError(fmt::format("order {} is for images; meshes are solved at order 1", wanted.order));
  if (wanted.scheme != GridScheme::automatic)
    throw UsageError(fmt::format("scheme {} is for images; leave it out", name_of(wanted.scheme)));
  const std::vector<std::string> on_gpu = methods_of(wanted.domain, Hardware::gpu, mesh);
  if (gpu && !runs_on_gpu(method))
    throw UsageError(fmt::format("method {} does not run on the GPU ({} do); leave ", name_of(method), listed(on_gpu)) +
                     leave_method + " or " + leave_backend + " out");
  if (!gpu && runs_on_gpu(method))
    throw UsageError(fmt::format("method {} runs on the GPU only; give ", name_of(method)) +
                     Setting{Option::backend, "cuda"} + ", or leave " + leave_method + " out");
  if (wanted.source_init == SourceInit::factored && gpu)
    throw UsageError("factored sources are solved on the CPU; leave " + Message(leave_backend) + " out");
  if (wanted.source_init == SourceInit::factored)
    throw UsageError(fmt::format("factored sources are solved by method banded, not {}; leave ", name_of(method)) +
                     leave_method + " out");
  throw UsageError(fmt::format("method {} makes no virtual tetrahedra on the GPU; use ", name_of(method)) +
                   Setting{Option::method, "active-list"} + ", or leave " + Setting{Option::split_obtuse} + " out");
}

/// "banded solves adaptive, fim and fsm godunov, fsm lax-friedrichs".
std::string schemes_and_methods() {
  std::string text;
  for (const GridScheme scheme : {GridScheme::adaptive, GridScheme::godunov, GridScheme::lax_friedrichs})
    text +=
        fmt::format("{}{}{} {}", text.empty() ? "" : ", ", listed(methods_of(DomainKind::image, Hardware::cpu, scheme)),
                    text.empty() ? " solves" : "", name_of(scheme));
  return text;
}

[[noreturn]] void refuse_on_image_gpu(const Wanted& wanted) {
  const GridScheme scheme = resolved_scheme(wanted.domain, wanted.scheme);
  Wanted any_method = wanted;
  any_method.method = Method::automatic;
  const Capability* other = find_capability(any_method);
  if (other == nullptr)
    throw UsageError(
        "images are solved on the GPU with scheme adaptive, or godunov at first order, without factored sources; "
        "leave " +
        Message(leave_backend) + " and " + leave_method + " out");
  throw UsageError(fmt::format("method {} does not solve scheme {} on the GPU ({} does); leave ",
                               name_of(wanted.method), name_of(scheme), name_of(other->method)) +
                   leave_method + " out");
}

[[noreturn]] void refuse_on_image(const Wanted& wanted) {
  if (wanted.order != 1 && wanted.order != 2)
    throw UsageError(fmt::format("order {} is not there; choose 1 or 2", wanted.order));
  if (wanted.weights) throw UsageError("upwind weights are given on meshes only; leave them out");
  Wanted on_gpu = wanted;
  on_gpu.hardware = Hardware::gpu;
  const bool wants_gpu = wanted.hardware == Hardware::gpu || runs_on_gpu(wanted.method);
  if (wants_gpu && find_capability(on_gpu) == nullptr) refuse_on_image_gpu(on_gpu);
  if (wants_gpu)
    throw UsageError(fmt::format("method {} runs on the GPU only; give ", name_of(wanted.method)) +
                     Setting{Option::backend, "cuda"} + ", or leave " + leave_method + " out");
  const GridScheme scheme = resolved_scheme(wanted.domain, wanted.scheme);
  const std::vector<std::string> methods = methods_of(DomainKind::image, Hardware::cpu, scheme);
  if (wanted.method != Method::automatic &&
      std::find(methods.begin(), methods.end(), name_of(wanted.method)) == methods.end())
    throw UsageError(fmt::format("method {} does not solve scheme {} ({}); leave ", name_of(wanted.method),
                                 name_of(scheme), schemes_and_methods()) +
                     leave_method + " out");
  const Setting adaptive{Option::scheme, "adaptive"};
  if (wanted.order != 1)
    throw UsageError(fmt::format("scheme {} is of first order; use ", name_of(scheme)) + adaptive + " for order 2");
  throw UsageError(fmt::format("scheme {} does not factor sources; use ", name_of(scheme)) +
                   Setting{Option::source_init, "ball"} + " or " + adaptive);
}

/// "triangles, tetrahedra".
std::string domains_in(SetOf<DomainKind> domains) {
  std::string text;
  for (const auto& [kind, name] :
       {std::pair{DomainKind::triangles, "triangles"}, std::pair{DomainKind::tetrahedra, "tetrahedra"},
        std::pair{DomainKind::image, "images"}})
    if (domains.has(kind)) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string_view back_ends_of(const Capability& row) {
  if (row.hardware == Hardware::gpu) return "cuda";
  if (row.hardware == Hardware::ranks) return "mpi";
  return row.several_threads ? "serial, threads" : "serial";
}

}  // namespace

std::span<const Capability> capabilities() {
  static const std::vector<Capability> rows = all_rows();
  return rows;
}

const PaperMethod* paper_method_on_meshes(Method method) {
  for (const PaperMethod& paper : paper_methods())
    if (paper.row.method == method && !paper.row.domains.has(DomainKind::image)) return &paper;
  return nullptr;
}

const PaperMethod* paper_method_of(GridScheme scheme) {
  for (const PaperMethod& paper : paper_methods())
    if (paper.row.domains.has(DomainKind::image) && paper.row.scheme == scheme) return &paper;
  return nullptr;
}

GridScheme resolved_scheme(DomainKind domain, GridScheme scheme) {
  return domain == DomainKind::image && scheme == GridScheme::automatic ? GridScheme::adaptive : scheme;
}

const Capability* find_capability(const Wanted& wanted) {
  for (const Capability& row : capabilities())
    if (about(row, wanted) && (wanted.method == Method::automatic || wanted.method == row.method) && does(row, wanted))
      return &row;
  return nullptr;
}

const Capability& require_capability(const Wanted& wanted) {
  if (const Capability* row = find_capability(wanted)) return *row;
  if (wanted.domain == DomainKind::image && wanted.order != 1 && wanted.order != 2) refuse_on_image(wanted);
  if (wanted.domain != DomainKind::image && (wanted.order != 1 || wanted.scheme != GridScheme::automatic))
    refuse_on_mesh(wanted, wanted.method);
  if (wanted.device_arrays) refuse_device_arrays(wanted);
  if (wanted.hardware == Hardware::ranks) refuse_ranks(wanted);
  if (wanted.domain == DomainKind::image) refuse_on_image(wanted);
  if (wanted.method != Method::automatic) refuse_on_mesh(wanted, wanted.method);
  const std::span<const Capability> rows = capabilities();
  const auto first = std::find_if(rows.begin(), rows.end(), [&](const Capability& row) { return about(row, wanted); });
  refuse_on_mesh(wanted, first == rows.end() ? Method::banded : first->method);
}

bool runs_on_gpu(Method method) {
  return std::ranges::any_of(
      capabilities(), [&](const Capability& row) { return row.method == method && row.hardware == Hardware::gpu; });
}

std::string capability_table() {
  std::string text =
      "| method | domain | back end | scheme | order | sources | splits | device arrays | weights |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (const Capability& row : capabilities()) {
    const std::string_view sources = row.sources.has(SourceInit::factored) ? "all" : "plain, ball";
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name_of(row.method), domains_in(row.domains),
                    back_ends_of(row), row.scheme == mesh ? "" : name_of(row.scheme), row.max_order == 2 ? "1, 2" : "1",
                    sources, domains_in(row.splits), row.device_arrays ? "yes" : "", row.weights ? "yes" : "");
  }
  return text;
}

}  // namespace isochron
