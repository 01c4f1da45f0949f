// What a solve will do, decided once before any work: everything below reads the plan.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "isochron/core/message.h"
#include "isochron/solve/capabilities.h"
#include "isochron/solve/domain.h"
#include "isochron/solve/options.h"

namespace isochron {

/// From where on a back end gains more than it costs to start. bench/NOTES.md has what they were measured with.
struct BackendThresholds {
  std::size_t threads_elements = 150000;
  std::size_t cuda_elements = 1000000;
  std::size_t cuda_spare_bytes = std::size_t{256} << 20;  ///< of device memory, left to the driver and to others
};
inline constexpr BackendThresholds backend_thresholds{};

/// What a plan needs to know of a domain.
struct DomainFacts {
  DomainKind kind = DomainKind::triangles;
  std::size_t elements = 0;    ///< or voxels that a front may pass
  bool device_arrays = false;  ///< whether any array is in device memory
  /// Device memory that a solve in a precision would take, about. Asked only where a device may be used.
  std::function<std::size_t(Precision)> device_bytes;
};

/// What a plan needs to know of the machine.
struct Machine {
  int cores = 1;
  /// Free memory of the device; none when there is no usable one. Asked only where a device may be used: looking for
  /// one starts the driver, which takes longer than solving a small mesh does.
  std::function<std::optional<std::size_t>()> free_device_bytes;
};
Machine this_machine();

struct Plan {
  Method method = Method::banded;
  Backend backend = Backend::serial;          ///< never `automatic`
  Precision precision = Precision::double_;   ///< never `automatic`; a mesh that it cannot hold is solved in double
  GridScheme scheme = GridScheme::automatic;  ///< of images, never `automatic` there
  SourceInit source_init = SourceInit::ball;
  int order = 1;
  bool split_obtuse = false;     ///< obtuse corners get virtual elements
  bool keep_on_device = false;   ///< times are left in device memory
  bool may_fall_back = false;    ///< nobody asked for the device: the CPU may take over when it fails
  bool several_threads = false;  ///< the method uses more than one thread
  int threads = 1;               ///< of one solve
  int batch_threads = 1;         ///< of several solves side by side
  std::optional<double> asked_tolerance;
  std::string note;  ///< for `Arrival::notes`: why the device was not used; else empty

  [[nodiscard]] bool on_device() const { return backend == Backend::cuda; }
  /// Of the local edge travel time; the default depends on the precision.
  [[nodiscard]] double tolerance(Precision of) const {
    return asked_tolerance.value_or(of == Precision::single_ ? 1e-5 : 1e-6);
  }
};

/// Throws UsageError for options that do not go together or do not fit the domain.
Plan make_plan(const SolveOptions& options, const DomainFacts& domain, const Machine& machine);

/// The plan that is left when the device that `automatic` chose fails: the CPU, with a note that says why.
Plan plan_without_device(const SolveOptions& options, const DomainFacts& domain, const Machine& machine,
                         const Message& why);

/// Threads that the options ask for: all cores where they leave it open.
int wanted_threads(const SolveOptions& options, const Machine& machine);
int wanted_threads(const SolveOptions& options);

}  // namespace isochron
