// A grid's stencils in device memory, in the form that fits them. For .cu files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "isochron/device.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/cuda/stencil_views.h"

namespace isochron::cuda {

template <class T, int Dim, int Terms>
class BoxOnDevice {
 public:
  using View = BoxView<T, Dim, Terms>;
  static constexpr CellNumbers numbers = CellNumbers::box;

  template <class Problem>
  BoxOnDevice(const Problem& problem, int /*order*/, int /*threads*/) {
    const GridBox& box = problem.cells->box;
    view_.count = static_cast<std::uint32_t>(box.cell_count);
    for (int axis = 0; axis < Dim; ++axis) view_.axis_step[axis] = static_cast<std::uint32_t>(box.axis_step(axis));
    for (int i = 0; i < Terms; ++i) view_.weight[i] = problem.weight[i];
    if constexpr (View::along_axes_only) {
      require_memory(box.cell_count * (1 + sizeof(float) * problem.scale_stride), "this image");
      for (int i = 0; i < Terms; ++i) view_.step[i] = view_.axis_step[i];
      scale_ = DeviceArray<float>(std::span<const float>(problem.scale));
      view_.scale_stride = static_cast<std::uint32_t>(problem.scale_stride);
    } else {
      require_memory(box.cell_count * (1 + sizeof(std::uint32_t)), "this image");
      for (int i = 0; i < Terms; ++i) view_.step[i] = static_cast<std::uint32_t>(box.step(problem.offsets[i]));
      if (!problem.cells->list.empty()) {  // a part of an image may be empty
        const auto time = problem.axis_times(problem.cells->list.front());
        std::copy(time.begin(), time.end(), view_.axis_time);
      }
      usable_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(usable_words(problem)));
    }
    allowed_ = DeviceArray<std::uint8_t>(std::span<const std::uint8_t>(problem.cells->allowed));
    view_.allowed_cells = allowed_.data();
    view_.scale = scale_.data();
    view_.usable = usable_.data();
  }

  /// One scale a cell, of a problem along the axes.
  void set_scale(DeviceArray<float>&& scale) {
    scale_ = std::move(scale);
    view_.scale = scale_.data();
  }

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] std::size_t bytes() const { return allowed_.bytes() + scale_.bytes() + usable_.bytes(); }

 private:
  template <class Problem>
  static BigVector<std::uint32_t> usable_words(const Problem& problem) {
    BigVector<std::uint32_t> words = problem.usable;
    for (const std::uint32_t x : problem.cells->list)
      if ((words[x] & View::edges_bit) != 0)
        problem.for_axis_neighbours(x, [&](std::uint32_t y, int) { words[y] |= View::near_edges_bit; });
    return words;
  }

  View view_{};
  DeviceArray<std::uint8_t> allowed_;
  DeviceArray<float> scale_;
  DeviceArray<std::uint32_t> usable_;
};

template <class T, int Dim, int Terms>
class ListOnDevice {
 public:
  using View = ListView<T, Dim, Terms>;
  static constexpr CellNumbers numbers = CellNumbers::list;

  template <class Problem>
  ListOnDevice(const Problem& problem, int order, int threads) {
    const auto listed = list_stencils(problem, order, threads);
    require_memory(listed.records.size() * sizeof(listed.records[0]) + listed.edges.size() * sizeof(ListedEdges<Dim>) +
                       (listed.dependents.size() + listed.far.size()) * sizeof(std::uint32_t),
                   "this image");
    records_ = DeviceArray<ListedRecord<Terms>>(std::span<const ListedRecord<Terms>>(listed.records));
    edges_ = DeviceArray<ListedEdges<Dim>>(std::span<const ListedEdges<Dim>>(listed.edges));
    dependents_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(listed.dependents));
    far_ = DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(listed.far));
    view_ = {static_cast<std::uint32_t>(listed.records.size()),
             static_cast<std::uint32_t>(listed.records.size() - 1),
             records_.data(),
             edges_.data(),
             dependents_.data(),
             far_.data()};
  }

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] std::size_t bytes() const {
    return records_.bytes() + edges_.bytes() + dependents_.bytes() + far_.bytes();
  }

 private:
  View view_{};
  DeviceArray<ListedRecord<Terms>> records_;
  DeviceArray<ListedEdges<Dim>> edges_;
  DeviceArray<std::uint32_t> dependents_, far_;
};

}  // namespace isochron::cuda
