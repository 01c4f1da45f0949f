#include "isochron/capabilities.h"

#include <utility>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/solve/common/virtual_elements.h"

namespace isochron {
namespace {

struct Choice {
  Backend backend;
  std::optional<Message> why = {};  ///< the device is not used
};

Backend on_cpu(std::size_t elements) {
  return elements < backend_thresholds.threads_elements ? Backend::serial : Backend::threads;
}

Hardware hardware_of(Backend backend) {
  return backend == Backend::cuda ? Hardware::gpu : backend == Backend::mpi ? Hardware::ranks : Hardware::cpu;
}

bool keeps_on_device(const SolveOptions& options, const DomainFacts& domain) {
  return options.results == ResultMemory::device ||
         (options.results == ResultMemory::automatic && domain.device_arrays);
}

Wanted wanted_of(const SolveOptions& options, const DomainFacts& domain, Hardware hardware) {
  Wanted wanted{domain.kind, hardware};
  wanted.method = options.method;
  wanted.scheme = options.scheme;
  wanted.source_init = options.source_init;
  wanted.order = options.order;
  wanted.split_obtuse = domain.kind != DomainKind::image && wants_split(options.obtuse, domain.kind);
  wanted.device_arrays = domain.device_arrays || keeps_on_device(options, domain);
  wanted.weights = options.weights == Keep::yes;
  return wanted;
}

std::size_t elements_worth_a_gpu(const SolveOptions& options, DomainKind kind) {
  return kind == DomainKind::image && options.expected_solves == ExpectedSolves::many
             ? backend_thresholds.cuda_voxels_of_many
             : backend_thresholds.cuda_elements;
}

/// What `automatic` stands for: the GPU when there is one with enough memory, the domain is worth it and the method on
/// it is our own, else the CPU.
Choice choose_automatic(const SolveOptions& options, const DomainFacts& domain, const Machine& machine) {
  Choice cpu{on_cpu(domain.elements)};
  if (options.method != Method::automatic || domain.elements < elements_worth_a_gpu(options, domain.kind)) return cpu;
  const Capability* row = find_capability(wanted_of(options, domain, Hardware::gpu));
  if (row == nullptr || (domain.kind == DomainKind::image && row->method != Method::push)) return cpu;
  const std::optional<std::size_t> free = machine.free_device_bytes();
  if (!free) return cpu;
  const std::size_t needed = domain.device_bytes(options.precision) + backend_thresholds.cuda_spare_bytes;
  if (needed <= *free) return {Backend::cuda};
  return {cpu.backend, cuda::memory_shortage(needed, *free, "this mesh")};
}

Choice choose_backend(const SolveOptions& options, const DomainFacts& domain, const Machine& machine) {
  if (options.backend != Backend::automatic) return {options.backend};
  if (runs_on_gpu(options.method) || domain.device_arrays || options.results == ResultMemory::device)
    return {Backend::cuda};
  return choose_automatic(options, domain, machine);
}

void check_tolerance(const std::optional<double>& tolerance) {
  if (tolerance && !(*tolerance > 0 && *tolerance < 1))
    throw UsageError(
        fmt::format("tolerance {} is not between 0 and 1; it is a share of the local edge travel time", *tolerance));
}

Plan plan_on(const Choice& choice, const SolveOptions& options, const DomainFacts& domain, const Machine& machine) {
  const Hardware hardware = hardware_of(choice.backend);
  const Capability& row = require_capability(wanted_of(options, domain, hardware));
  check_tolerance(options.tolerance);
  Plan plan;
  plan.method = row.method;
  plan.backend = choice.backend;
  const bool single = options.precision == Precision::single_ ||
                      (options.precision == Precision::automatic && hardware == Hardware::gpu);
  // Factoring subtracts times that are nearly equal.
  plan.precision = single && options.source_init != SourceInit::factored ? Precision::single_ : Precision::double_;
  plan.scheme = resolved_scheme(domain.kind, options.scheme);
  plan.source_init = options.source_init;
  plan.order = options.order;
  plan.split_obtuse = wants_split(options.obtuse, domain.kind);
  plan.keep_on_device = keeps_on_device(options, domain);
  plan.may_fall_back = hardware == Hardware::gpu && options.backend == Backend::automatic &&
                       options.method == Method::automatic && !domain.device_arrays && !plan.keep_on_device;
  plan.several_threads = row.several_threads;
  plan.threads = choice.backend == Backend::serial ? 1 : wanted_threads(options, machine);
  plan.batch_threads = options.backend == Backend::serial ? 1 : wanted_threads(options, machine);
  plan.asked_tolerance = options.tolerance;
  // The advice of the message is followed here.
  if (choice.why) plan.note = "solved on the CPU: " + to_text(choice.why->problem());
  return plan;
}

}  // namespace

Machine this_machine() {
  return {hardware_threads(), []() -> std::optional<std::size_t> {
            cuda::NoDevice why;
            if (!cuda::find_device(why)) return std::nullopt;
            return cuda::free_bytes();
          }};
}

int wanted_threads(const SolveOptions& options, const Machine& machine) {
  return options.threads > 0 ? options.threads : machine.cores;
}
int wanted_threads(const SolveOptions& options) { return options.threads > 0 ? options.threads : hardware_threads(); }

Plan make_plan(const SolveOptions& options, const DomainFacts& domain, const Machine& machine) {
  if (options.backend == Backend::mpi)
    throw UsageError("this solver is for one process (" + Message(Setting{Option::backend, "mpi"}) +
                     "); give it a communicator");
  return plan_on(choose_backend(options, domain, machine), options, domain, machine);
}

Plan plan_without_device(const SolveOptions& options, const DomainFacts& domain, const Machine& machine,
                         const Message& why) {
  return plan_on({on_cpu(domain.elements), why}, options, domain, machine);
}

DomainKind Domain::kind() const {
  if (const auto* mesh = std::get_if<DeviceMesh>(&shape))
    return mesh->elements.columns == 3 ? DomainKind::triangles : DomainKind::tetrahedra;
  if (in_parts())
    return static_cast<DomainKind>(shape.index() - Shape(static_cast<const MeshPart<3>*>(nullptr)).index());
  return static_cast<DomainKind>(shape.index());
}

}  // namespace isochron
