// What can be solved how: the one table that says which method runs on which domain, back end and scheme, and what it
// can do there. Errors, the help of the command and the table in the docs are made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "isochron/solve/domain.h"
#include "isochron/solve/options.h"

namespace isochron {

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

}  // namespace isochron
