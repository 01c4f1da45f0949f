// How each value of a solution depends on others and on the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isochron/types.h"

namespace isochron {

/// Rows of the linearised solution: du = Σ weight · du(node) + Σ contraction(by_metric, dM(element)), and what roots
/// add. A row is finished before the next one begins.
struct DependenceRows {
  std::vector<std::size_t> node_end, term_end;  ///< per row: one behind its last node, and its last term
  std::vector<std::uint32_t> node;
  std::vector<double> weight;
  std::vector<std::uint32_t> element;
  std::vector<SymTensor3d> by_metric;
  /// A row that changes with the onset of a source, as much as that does.
  struct Onset {
    std::uint32_t row;
    std::int32_t source;
  };
  /// A row that changes with the position of a source.
  struct Position {
    std::uint32_t row;
    std::int32_t source;
    Vec3d gradient;
  };
  /// A row that changes with the position of a vertex of the mesh otherwise than by lengths in elements that
  /// `by_metric` has. Where `source` is one, that holds only while its point can be moved: a vertex takes its source
  /// along.
  struct Place {
    std::uint32_t row;
    std::uint32_t vertex;
    Vec3d gradient;
    std::int32_t source = -1;
  };
  /// A row that changes with the level set's value at a vertex.
  struct Level {
    std::uint32_t row;
    std::uint32_t vertex;
    double weight;
  };
  std::vector<Onset> onsets;
  std::vector<Position> positions;
  std::vector<Level> levels;
  std::vector<Place> places;

  [[nodiscard]] std::size_t size() const { return node_end.size(); }
  /// The row that is being written.
  [[nodiscard]] std::uint32_t current() const { return static_cast<std::uint32_t>(size()); }
  void add_node(std::uint32_t from, double w) {
    if (w == 0) return;
    node.push_back(from);
    weight.push_back(w);
  }
  void add_term(std::uint32_t e, const SymTensor3d& g) {
    element.push_back(e);
    by_metric.push_back(g);
  }
  void add_onset(std::int32_t source) { onsets.push_back({current(), source}); }
  void add_position(std::int32_t source, const Vec3d& gradient) { positions.push_back({current(), source, gradient}); }
  void add_place(std::uint32_t vertex, const Vec3d& gradient, std::int32_t source = -1) {
    places.push_back({current(), vertex, gradient, source});
  }
  void add_level(std::uint32_t vertex, double w) { levels.push_back({current(), vertex, w}); }
  void end_row() {
    node_end.push_back(node.size());
    term_end.push_back(element.size());
  }

  /// Adds other rows behind these. In them, nodes below `shared` are numbers in the whole and stay; the others count
  /// from the first of those rows and are shifted with them.
  void append(const DependenceRows& others, std::uint32_t shared);
};

}  // namespace isochron
