// What can be solved how, and what a solve will do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "isochron/domain.h"
#include "isochron/error.h"
#include "isochron/options.h"

namespace isochron {

// ---- What can be solved how: the one table that says which method runs on which domain, back end and scheme, and what
// it can do there. Errors, the help of the command and the table in the docs are made from it.

/// Back ends that a row of the table can be about. `cpu` is one thread or several.
enum class Hardware : std::uint8_t { cpu, gpu, ranks };

/// A set of values of a small enum.
template <class Value>
class SetOf {
 public:
  constexpr SetOf(std::initializer_list<Value> values) {
    for (const Value value : values) bits_ |= 1U << static_cast<unsigned>(value);
  }
  [[nodiscard]] constexpr bool has(Value value) const { return (bits_ >> static_cast<unsigned>(value) & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

inline constexpr SetOf any_mesh{DomainKind::triangles, DomainKind::tetrahedra};
inline constexpr SetOf unfactored{SourceInit::plain, SourceInit::ball};

/// One row: a method on some domains and one kind of hardware.
struct Capability {
  Method method;
  SetOf<DomainKind> domains;
  Hardware hardware;
  GridScheme scheme;          ///< on images; `automatic` on meshes
  SetOf<SourceInit> sources;  ///< treatments of sources
  int max_order;              ///< of accuracy
  SetOf<DomainKind> splits;   ///< domains whose obtuse corners it can split
  bool several_threads;       ///< uses more than one thread, where the hardware is the CPU
  bool device_arrays;         ///< takes arrays in device memory and leaves results there
  bool weights;               ///< upwind weights can be found
};

/// All rows, those of the papers' methods included. Where the method is left open, the first row that can do all that
/// is asked for is taken.
std::span<const Capability> capabilities();

/// What a solve asks for, as far as the table is concerned.
struct Wanted {
  DomainKind domain;
  Hardware hardware;
  Method method = Method::automatic;
  GridScheme scheme = GridScheme::automatic;
  SourceInit source_init = SourceInit::plain;
  int order = 1;
  bool split_obtuse = false;
  bool device_arrays = false;
  bool weights = false;
};

/// The scheme of images that `automatic` stands for; on meshes `automatic` stays.
GridScheme resolved_scheme(DomainKind domain, GridScheme scheme);

/// The row that does all that is wanted, or null.
const Capability* find_capability(const Wanted& wanted);

/// The same; throws UsageError that says what does not go together when there is none.
const Capability& require_capability(const Wanted& wanted);

/// True for methods that exist on the GPU only; the others exist on the CPU and over ranks.
bool runs_on_gpu(Method method);

/// The table in Markdown, as the docs have it.
std::string capability_table();

// ---- What a solve will do, decided once before any work: everything below reads the plan.

/// From where on a back end gains more than it costs to start. bench/NOTES.md has what they were measured with.
struct BackendThresholds {
  std::size_t threads_elements = 150000;
  std::size_t cuda_elements = 1000000;
  std::size_t cuda_voxels_of_many = 25000;                ///< of images, where many solves are expected
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
