// Paper 001 Algorithm 9 on one part of a mesh: passes over a list of active vertices.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "isochron/solve/ranks/local_solver.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron::ranks {

/// Each pass recomputes the active vertices from all their elements; the neighbours of those that changed are active in
/// the next one. A band is a pass, so all ranks make one each between two exchanges.
template <class Relax>
class SweepLocal final : public LocalSolver<typename Relax::Scalar> {
  using T = typename Relax::Scalar;

 public:
  /// As `BandedLocal`.
  SweepLocal(const Relax& relax, SolveState<T>& state, const Halo& halo)
      : relax_(relax), state_(state), halo_(halo), active_(relax.problem().vertex_count, 0) {
    for (const std::uint32_t v : state.seeds) {
      moved_.push_back(v);
      add_neighbours(v);
    }
  }

  [[nodiscard]] std::uint32_t next_band() override { return next_.empty() && moved_.empty() ? no_band : passes_; }

  bool advance(std::uint32_t band, std::size_t, Outbox<T>& out) override {
    if (band >= passes_) pass();
    for (const std::uint32_t v : moved_)
      if (v < halo_.border_of.size() && halo_.border_of[v] != Halo::none)
        out.put(halo_.border_of[v], relax_.times().load(v));
    moved_.clear();
    return false;
  }

  void accept(std::span<const std::uint32_t> vertices, std::span<const T> times) override {
    for (std::size_t i = 0; i < vertices.size(); ++i)
      if (relax_.times().lower(vertices[i], times[i], T(0))) add_neighbours(vertices[i]);
  }

  [[nodiscard]] Counters counters() const override { return counters_; }

 private:
  void pass() {
    ++passes_;
    ++counters_.rounds;
    std::vector<std::uint32_t> list;
    list.swap(next_);
    for (const std::uint32_t v : list) active_[v] = 0;
    for (const std::uint32_t v : list) {
      ++counters_.vertex_updates;
      const T time = relax_.pull(v, counters_.local_solves);
      if (!(time < relax_.times().load(v)) || !lower_countably(relax_, state_, v, time)) continue;
      moved_.push_back(v);
      add_neighbours(v);
    }
  }

  void add(std::uint32_t w) {
    if (w >= halo_.border_of.size() || active_[w] != 0) return;
    active_[w] = 1;
    next_.push_back(w);
  }

  void add_neighbours(std::uint32_t v) {
    const auto& extra = relax_.problem().virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.face_offsets[v]; i < extra.face_offsets[v + 1]; ++i)
        add(extra.records[extra.face_list[i] >> 2].target);
    for (const std::uint32_t incidence : relax_.problem().adjacency.at(VertexId(v))) {
      const auto& record = relax_.problem().elements[incidence >> 2];
      for (std::size_t c = 0; c < record.corner.size(); ++c)
        if (record.vertex(static_cast<int>(c)) != v) add(record.vertex(static_cast<int>(c)));
    }
  }

  const Relax& relax_;
  SolveState<T>& state_;
  const Halo& halo_;
  std::vector<std::uint8_t> active_;  ///< by vertex: is in `next_`
  std::vector<std::uint32_t> next_;   ///< active in the next pass
  std::vector<std::uint32_t> moved_;  ///< own vertices whose times the neighbours do not have
  std::uint32_t passes_ = 0;
  Counters counters_;
};

}  // namespace isochron::ranks
