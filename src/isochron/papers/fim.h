// The fast iterative method (paper 000 Algorithm 2.1, paper 003 section 3.1) and the relabelling references of 000
// Table 2.1: active lists of vertices that are pulled to consistency with their neighbours.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/papers/neighbors.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {

/// The papers update "neighbours of greater value" only. That is right at vertices whose corners are all acute in the
/// metric; elsewhere every neighbour is offered the update, else the answer would differ.
template <class T>
bool may_depend_on(const std::vector<std::uint8_t>& acute, std::uint32_t vertex, T time, T neighbor_time) {
  return time > neighbor_time || acute[vertex] == 0;
}

/// Runs Algorithm 2.1 on `threads` threads: each iteration the active list is cut into as many parts.
template <class Relax, int Corners>
void fim(const Relax& relax, const SimplexProblem<typename Relax::Scalar, Corners>& problem,
         SolveState<typename Relax::Scalar>& state, int threads) {
  using T = typename Relax::Scalar;
  struct alignas(128) Worker {
    std::unique_ptr<NeighborVisitor<T, Corners>> neighbors;
    std::vector<std::uint32_t> next;
    std::uint64_t solves = 0, updates = 0;
  };
  const std::vector<std::uint8_t> acute = acute_vertices(problem);
  std::vector<std::uint8_t> listed(problem.vertex_count, 0);
  std::vector<Worker> workers(static_cast<std::size_t>(threads));
  for (Worker& worker : workers) worker.neighbors = std::make_unique<NeighborVisitor<T, Corners>>(problem);
  const auto claim = [&](std::uint32_t v) {
    return std::atomic_ref<std::uint8_t>(listed[v]).exchange(1, std::memory_order_acq_rel) == 0;
  };

  std::vector<std::uint32_t> active;
  for (const std::uint32_t seed : state.seeds)
    workers[0].neighbors->around(seed, [&](std::uint32_t n) {
      if (claim(n)) active.push_back(n);
    });

  const auto process = [&](Worker& worker, std::uint32_t v) {
    const T before = relax.times().load(v);
    const T found = relax.pull(v, worker.solves);
    ++worker.updates;
    if (found < before && lower_countably(relax, state, v, found)) {
      worker.next.push_back(v);  // not converged: stays on the list
      return;
    }
    if (!(before < std::numeric_limits<T>::infinity())) {  // nothing has arrived yet; a neighbour will call again
      std::atomic_ref<std::uint8_t>(listed[v]).store(0, std::memory_order_release);
      return;
    }
    worker.neighbors->around(v, [&](std::uint32_t n) {
      if (std::atomic_ref<std::uint8_t>(listed[n]).load(std::memory_order_acquire) != 0) return;
      const T old = relax.times().load(n);
      if (!may_depend_on(acute, n, old, before)) return;
      const T time = relax.pull(n, worker.solves);
      ++worker.updates;
      if (time < old && lower_countably(relax, state, n, time) && claim(n)) worker.next.push_back(n);
    });
    // Nobody is missed: a vertex that changes in this iteration is on the next list, and offers v its value from there.
    std::atomic_ref<std::uint8_t>(listed[v]).store(0, std::memory_order_release);
  };

  while (!active.empty()) {
    ++state.counters.rounds;
    const int team = static_cast<int>(std::min<std::size_t>(threads, 1 + active.size() / 64));
    parallel_region(team, [&](int thread, int size) {
      Worker& worker = workers[thread];
      const std::size_t end = active.size() * (thread + 1) / size;
      for (std::size_t i = active.size() * thread / size; i < end; ++i) process(worker, active[i]);
    });
    active.clear();
    std::uint64_t updates = 0;
    for (Worker& worker : workers) {
      active.insert(active.end(), worker.next.begin(), worker.next.end());
      worker.next.clear();
      updates += worker.updates;
    }
    // The papers' fraction is unknown; three updates a vertex is typical, so show progress against that.
    state.progress.update(
        std::min(1.0, static_cast<double>(updates) / (6.0 * static_cast<double>(problem.vertex_count))));
    if (state.gives_up_after(updates)) break;
  }
  for (const Worker& worker : workers) {
    state.counters.local_solves += worker.solves;
    state.counters.vertex_updates += worker.updates;
  }
}

enum class Relabelling { synchronous, asynchronous };

/// Strict relabelling (paper 000 section 2.3): every active vertex is updated once and leaves the list; each that
/// changed activates its neighbours of greater value. Synchronous: all see the previous iteration's values;
/// asynchronous: the list is walked in random order, as in the paper's experiments, and each sees what the ones before
/// it did.
template <class Relax, int Corners>
void relabel(const Relax& relax, const SimplexProblem<typename Relax::Scalar, Corners>& problem,
             SolveState<typename Relax::Scalar>& state, Relabelling mode) {
  using T = typename Relax::Scalar;
  const std::vector<std::uint8_t> acute = acute_vertices(problem);
  NeighborVisitor<T, Corners> neighbors(problem);
  Random random(1);
  std::vector<std::uint8_t> listed(problem.vertex_count, 0);
  std::vector<std::uint32_t> active, next;
  std::vector<T> fresh;
  const auto activate_around = [&](std::uint32_t v, std::vector<std::uint32_t>& list) {
    neighbors.around(v, [&](std::uint32_t n) {
      if (listed[n] != 0 || !may_depend_on(acute, n, state.time[n], state.time[v])) return;
      listed[n] = 1;
      list.push_back(n);
    });
  };
  for (const std::uint32_t seed : state.seeds) activate_around(seed, active);
  std::uint64_t solves = 0;
  while (!active.empty()) {
    ++state.counters.rounds;
    state.counters.vertex_updates += active.size();
    next.clear();
    fresh.clear();
    if (mode == Relabelling::synchronous)
      for (const std::uint32_t v : active) fresh.push_back(relax.pull(v, solves));
    else
      for (std::size_t i = active.size(); i > 1; --i) std::swap(active[i - 1], active[random.below(i)]);
    for (const std::uint32_t v : active) listed[v] = 0;
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::uint32_t v = active[i];
      const T found = mode == Relabelling::synchronous ? fresh[i] : relax.pull(v, solves);
      if (found < state.time[v] && lower_countably(relax, state, v, found)) activate_around(v, next);
    }
    active.swap(next);
    // How often a vertex is relabelled is not known beforehand; thirty times is usual.
    state.progress.update(std::min(
        1.0, static_cast<double>(state.counters.vertex_updates) / (30.0 * static_cast<double>(problem.vertex_count))));
    if (state.gives_up_after(state.counters.vertex_updates)) break;
  }
  state.counters.local_solves += solves;
}

}  // namespace isochron
