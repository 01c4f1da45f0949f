#include "isochron/options.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {
namespace {

constexpr std::array<std::pair<Method, std::string_view>, 11> methods{
    {{Method::automatic, "auto"},
     {Method::banded, "banded"},
     {Method::fim, "fim"},
     {Method::fmm, "fmm"},
     {Method::fsm, "fsm"},
     {Method::push, "push"},
     {Method::patch_fim, "patch-fim"},
     {Method::active_list, "active-list"},
     {Method::domain_decomposition, "domain-decomposition"},
     {Method::relabel_sync, "relabel-sync"},
     {Method::relabel_async, "relabel-async"}}};
constexpr std::array<std::pair<SourceInit, std::string_view>, 3> source_inits{
    {{SourceInit::plain, "plain"}, {SourceInit::ball, "ball"}, {SourceInit::factored, "factored"}}};
constexpr std::array<std::pair<GridScheme, std::string_view>, 4> schemes{
    {{GridScheme::automatic, "auto"},
     {GridScheme::adaptive, "adaptive"},
     {GridScheme::godunov, "godunov"},
     {GridScheme::lax_friedrichs, "lax-friedrichs"}}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [candidate, name] : table)
    if (candidate == value) return name;
  return "?";
}

template <class Table>
auto value_in(const Table& table, std::string_view wanted, std::string_view what) {
  std::string known;
  for (const auto& [value, name] : table) {
    if (name == wanted) return value;
    known += known.empty() ? std::string(name) : fmt::format(", {}", name);
  }
  throw UsageError(fmt::format("unknown {} '{}'; choose one of: {}", what, wanted, known));
}

}  // namespace

std::string_view name_of(Method method) { return name_in(methods, method); }
std::string_view name_of(SourceInit init) { return name_in(source_inits, init); }
std::string_view name_of(GridScheme scheme) { return name_in(schemes, scheme); }
Method method_named(std::string_view name) { return value_in(methods, name, "method"); }
SourceInit source_init_named(std::string_view name) { return value_in(source_inits, name, "source initialisation"); }
GridScheme grid_scheme_named(std::string_view name) { return value_in(schemes, name, "scheme"); }

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::serial: return "serial";
    case Backend::threads: return "threads";
    case Backend::cuda: return "cuda";
    case Backend::mpi: return "mpi";
    default: return "auto";
  }
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::single_: return "single";
    case Precision::double_: return "double";
    default: return "auto";
  }
}

}  // namespace isochron
