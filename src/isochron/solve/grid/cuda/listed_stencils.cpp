#include "isochron/solve/grid/cuda/listed_stencils.h"

#include <algorithm>

#include "isochron/core/parallel.h"

namespace isochron::cuda {
namespace {

/// From cells of the box to places in the list.
class Places {
 public:
  explicit Places(const GridCells& cells)
      : place_(cells.box.cell_count, static_cast<std::uint32_t>(cells.list.size())) {
    for (std::size_t k = 0; k < cells.list.size(); ++k) place_[cells.list[k]] = static_cast<std::uint32_t>(k);
  }
  /// The number of cells where the cell is not allowed.
  [[nodiscard]] std::uint32_t of(std::uint32_t cell) const { return place_[cell]; }

 private:
  BigVector<std::uint32_t> place_;
};

template <class Problem>
constexpr bool has_axis_edges = Problem::terms != Problem::dim;

/// Numbers the cells that have edges and says where each cell's dependents begin.
template <class Problem, class Listed>
void lay_out(const Problem& problem, int threads, Listed& result) {
  const auto& list = problem.cells->list;
  parallel_for(threads, list.size(), [&](std::size_t k) {
    std::uint32_t count = 0;
    problem.for_dependents(list[k], [&](std::uint32_t) { ++count; });
    result.records[k].dependents = (count + dependents_piece - 1) / dependents_piece;
  });
  std::uint32_t begin = 0, edges = 0;
  for (std::size_t k = 0; k < list.size(); ++k) {
    auto& record = result.records[k];
    const std::uint32_t pieces = record.dependents;
    record.dependents = begin;
    begin += pieces;
    record.edges = problem.stencil(list[k]).has_edges() ? edges++ : record.no_edges;
  }
  result.records[list.size()].dependents = begin;
  result.edges.resize(edges);
  result.dependents.resize(std::size_t{begin} * dependents_piece);
}

template <class Problem>
void fill_edges(const Problem& problem, const Places& places, std::uint32_t cell, ListedEdges<Problem::dim>& edges) {
  if constexpr (has_axis_edges<Problem>) {
    const auto time = problem.axis_times(cell);
    for (int axis = 0; axis < Problem::dim; ++axis) edges.time[axis] = static_cast<float>(time[axis]);
    int side = 0;
    problem.for_axis_neighbours(cell, [&](std::uint32_t y, int) { edges.near[side++] = places.of(y); });
  }
}

/// The cells behind those that are there.
template <int Neighbours, class Stencil>
void fill_far(const Places& places, const std::uint32_t (&near)[Neighbours], std::uint32_t none, std::uint32_t x,
              const Stencil& s, std::uint32_t* far) {
  for (int i = 0; i < Neighbours / 2; ++i) {
    const bool back = near[2 * i] != none && s.second_back(i), ahead = near[2 * i + 1] != none && s.second_ahead(i);
    far[2 * i] = back ? places.of(static_cast<std::uint32_t>(x - 2 * s.step[i])) : none;
    far[2 * i + 1] = ahead ? places.of(static_cast<std::uint32_t>(x + 2 * s.step[i])) : none;
  }
}

}  // namespace

template <class Problem>
ListedStencils<Problem::dim, Problem::terms> list_stencils(const Problem& problem, int order, int threads) {
  constexpr int terms = Problem::terms;
  const auto& list = problem.cells->list;
  const auto none = static_cast<std::uint32_t>(list.size());
  const Places places(*problem.cells);
  ListedStencils<Problem::dim, terms> result;
  result.records.resize(list.size() + 1);
  result.records.back() = {};
  lay_out(problem, threads, result);
  if (order == 2) result.far.resize(result.records.size() * 2 * terms, none);
  parallel_for(threads, list.size(), [&](std::size_t k) {
    const std::uint32_t x = list[k];
    const auto s = problem.stencil(x);
    auto& record = result.records[k];
    for (int i = 0; i < terms; ++i) {
      record.weight[i] = static_cast<float>(s.weight[i]);
      record.near[2 * i] = s.back(i) ? places.of(static_cast<std::uint32_t>(x - s.step[i])) : none;
      record.near[2 * i + 1] = s.ahead(i) ? places.of(static_cast<std::uint32_t>(x + s.step[i])) : none;
    }
    if (order == 2) fill_far(places, record.near, none, x, s, result.far.data() + k * 2 * terms);
    if (record.edges != record.no_edges) fill_edges(problem, places, x, result.edges[record.edges]);
    std::size_t at = std::size_t{record.dependents} * dependents_piece;
    problem.for_dependents(x, [&](std::uint32_t y) { result.dependents[at++] = places.of(y); });
    const std::size_t end = std::size_t{result.records[k + 1].dependents} * dependents_piece;
    std::fill(result.dependents.begin() + static_cast<std::ptrdiff_t>(at),
              result.dependents.begin() + static_cast<std::ptrdiff_t>(end), none);
  });
  return result;
}

#define ISOCHRON_INSTANTIATE(problem)                                                                       \
  template ListedStencils<2, problem<float, 2>::terms> list_stencils(const problem<float, 2>&, int, int);   \
  template ListedStencils<3, problem<float, 3>::terms> list_stencils(const problem<float, 3>&, int, int);   \
  template ListedStencils<2, problem<double, 2>::terms> list_stencils(const problem<double, 2>&, int, int); \
  template ListedStencils<3, problem<double, 3>::terms> list_stencils(const problem<double, 3>&, int, int);
ISOCHRON_INSTANTIATE(AxisProblem)
ISOCHRON_INSTANTIATE(OffsetProblem)
#undef ISOCHRON_INSTANTIATE

}  // namespace isochron::cuda
