// Which source each vertex was reached from, when the way there leads through several parts.
#pragma once

#include <cstdint>
#include <utility>

#include "isochron/communicator.h"
#include "isochron/dist/halo.h"
#include "isochron/solve/common/label_mix.h"
#include "isochron/solve/common/label_spread.h"

namespace isochron::ranks {

/// How the labels of one part are spread.
class PartLabels {
 public:
  virtual ~PartLabels() = default;
  /// From the vertices that have a label, as far as that goes without other parts.
  virtual void start() = 0;
  /// Of a vertex; negative labels while it has none.
  [[nodiscard]] virtual LabelMix mix(std::uint32_t vertex) = 0;
  /// What another part has found for a copy of its vertex; and then of the vertices that waited for it.
  virtual void give(std::uint32_t vertex, const LabelMix& mix) = 0;
  /// Vertices at the end of edges without length take the labels of their neighbours; whether some are left without.
  virtual bool adopt(Adopting which) = 0;
  /// Nothing will be given any more.
  virtual void finish() = 0;
};

/// A `LabelSpreader` or `GridLabelSpreader` as `PartLabels`.
template <class Spreader>
class PartLabelsOf final : public PartLabels {
 public:
  template <class... Args>
  explicit PartLabelsOf(Args&&... made_of) : spreader_(std::forward<Args>(made_of)...) {}
  void start() override { spreader_.start(); }
  [[nodiscard]] LabelMix mix(std::uint32_t vertex) override { return spreader_.mix(vertex); }
  void give(std::uint32_t vertex, const LabelMix& mix) override { spreader_.give(vertex, mix); }
  bool adopt(Adopting which) override { return spreader_.adopt(which); }
  void finish() override { spreader_.finish(); }

 private:
  Spreader spreader_;
};

/// All ranks together: what border vertices have is sent to their copies, until nothing is new anywhere. `labels` have
/// a place for every vertex of the part, copies too.
void spread_labels_over_ranks(Communicator& communicator, const Halo& halo, PartLabels& labels);

}  // namespace isochron::ranks
