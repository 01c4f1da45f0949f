// Pushes through tetrahedra: all targets of a vertex at once, in the lanes of the vector unit.
#pragma once

#include <cstdint>
#include <span>

#include "isochron/local/push_batch.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// A vertex x that pushes, and what it pushes through.
template <class T>
struct TetPush {
  /// Elements at once: their targets fit a batch.
  static constexpr std::size_t max_elements = FaceBatch<T>::capacity / 3;

  const ElementRecord<T, 4>* elements;
  std::span<const std::uint32_t> incidences;  ///< of x, at most `max_elements`
  const Leads* leads;                         ///< of these incidences
  T lead_step;
  T* times;  ///< of all vertices; others may lower them meanwhile
  T ux;
  T horizon;              ///< acute corners do not use times from here on
  std::uint32_t targets;  ///< vertices from here on are not pushed to
};

/// Earlier times for neighbours of a vertex, each neighbour once.
template <class T>
struct Offers {
  std::uint32_t target[FaceBatch<T>::capacity];
  T time[FaceBatch<T>::capacity];
  int count;
};

/// Solves for the targets that can gain, with the widest vectors that the processor has, and fills `offers` with those
/// that do. Returns the number of local solves. Processors that multiply and add in one step may round the last digit
/// differently.
std::uint64_t push_through(const TetPush<float>& push, Offers<float>& offers);
std::uint64_t push_through(const TetPush<double>& push, Offers<double>& offers);

}  // namespace isochron
