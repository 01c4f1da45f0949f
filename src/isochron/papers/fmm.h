// Fast marching with an indexed binary heap (Kimmel and Sethian; the papers' serial reference).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/papers/neighbors.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {

/// Times of accepted vertices only: the rest has not arrived as far as an update is concerned.
template <class T>
struct AcceptedTimes {
  T* data;
  const std::uint8_t* accepted;
  [[nodiscard]] T load(std::uint32_t v) const {
    return accepted[v] != 0 ? data[v] : std::numeric_limits<T>::infinity();
  }
};

/// A binary min-heap of vertices by time that knows where each vertex stands, so that a time can be lowered in place.
template <class T>
class VertexHeap {
 public:
  explicit VertexHeap(const BigVector<T>& time) : time_(time), place_(time.size(), outside) {}

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

  /// Adds v, or moves it up after its time was lowered.
  void add_or_raise(std::uint32_t v) {
    if (place_[v] == outside) {
      place_[v] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(v);
    }
    std::size_t i = place_[v];
    for (; i > 0 && time_[v] < time_[heap_[(i - 1) / 2]]; i = (i - 1) / 2) put(heap_[(i - 1) / 2], i);
    put(v, i);
  }

  std::uint32_t take_earliest() {
    const std::uint32_t top = heap_.front();
    const std::uint32_t last = heap_.back();
    heap_.pop_back();
    place_[top] = outside;
    if (heap_.empty()) return top;
    std::size_t i = 0;
    while (true) {
      std::size_t child = 2 * i + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && time_[heap_[child + 1]] < time_[heap_[child]]) ++child;
      if (!(time_[heap_[child]] < time_[last])) break;
      put(heap_[child], i);
      i = child;
    }
    put(last, i);
    return top;
  }

 private:
  static constexpr std::uint32_t outside = 0xffffffffU;
  void put(std::uint32_t v, std::size_t i) {
    heap_[i] = v;
    place_[v] = static_cast<std::uint32_t>(i);
  }
  const BigVector<T>& time_;
  std::vector<std::uint32_t> heap_, place_;
};

/// Marches once through the mesh. Exact only where every corner is acute in the metric; the caller has checked that, or
/// labels the result, or hands it over to a correcting schedule.
template <class T, int Corners>
void fmm(const SimplexProblem<T, Corners>& problem, SolveState<T>& state) {
  std::vector<std::uint8_t> accepted(problem.vertex_count, 0);
  const Relaxer<T, Corners, AcceptedTimes<T>> relax(problem, AcceptedTimes<T>{state.time.data(), accepted.data()});
  NeighborVisitor<T, Corners> neighbors(problem);
  VertexHeap<T> heap(state.time);
  Counters& counters = state.counters;
  for (const std::uint32_t v : state.seeds) heap.add_or_raise(v);
  double heap_sum = 0;
  std::uint64_t removed = 0;
  while (!heap.empty()) {
    heap_sum += static_cast<double>(heap.size());
    const std::uint32_t x = heap.take_earliest();
    accepted[x] = 1;
    ++removed;
    ++counters.heap_operations;
    neighbors.around(x, [&](std::uint32_t n) {
      if (accepted[n] != 0) return;
      ++counters.vertex_updates;
      const T time = relax.pull(n, counters.local_solves);
      if (!(time < state.time[n])) return;
      state.time[n] = time;
      ++counters.heap_operations;
      heap.add_or_raise(n);
    });
    if ((removed & 0xfffU) == 0)
      state.progress.update(static_cast<double>(removed) / static_cast<double>(problem.vertex_count));
  }
  counters.rounds += 1;
  counters.mean_heap_size = removed > 0 ? heap_sum / static_cast<double>(removed) : 0;
}

}  // namespace isochron
