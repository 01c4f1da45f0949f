// Straightens a chain of crossings through a fixed sequence of elements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "isochron/trace/shorten.h"

namespace isochron {

/// Moves the inner points of a chain along the faces (edges of triangles) between its elements, so that its travel time
/// becomes less. That is convex as long as the elements stay the same. Runs of points move together, as a hat over
/// 1, 2, 4, … of them: single points alone would take very long to straighten a long bend.
template <int Corners>
class Straightener {
 public:
  Straightener(const TimedMesh<Corners>& on, std::vector<MeshPoint<Corners>>& chain) : on_(on), chain_(chain) {}

  /// One sweep over all widths; the share of the travel time that it gained.
  double sweep() {
    if (!find_pieces()) return 0;
    const double before = cost();
    std::size_t width = 1;
    while (4 * width < chain_.size()) width *= 2;
    for (; width > 0; width /= 2)
      for (std::size_t centre = 1; centre + 1 < chain_.size(); centre += width)
        for (int family = 0; family < families; ++family) move(centre, width, family);
    for (std::size_t i = 1; i + 1 < chain_.size(); ++i)
      chain_[i] = mesh_point<Corners>(on_.mesh, elements_[i - 1], weights_[i]);
    return before > 0 ? 1 - cost() / before : 0;
  }

 private:
  /// Sideways on a surface; along each axis in space.
  static constexpr int families = Corners == 3 ? 1 : 3;
  /// Below this sine of the angle between the path and a face it is taken to graze it: sideways would be far along it.
  static constexpr double grazing = 0.1;

  /// How a point moves for a unit sideways.
  struct Shift {
    std::array<double, Corners> weights{};
    Vec3d x{};
  };

  /// The sum of the roots of quadratics in s: travel times of pieces whose ends move evenly.
  struct MovingPiece {
    double constant, linear, square;
    [[nodiscard]] double at(double s) const {
      return std::sqrt(std::max(0.0, constant + s * (2 * linear + s * square)));
    }
  };

  bool find_pieces() {
    elements_.clear();
    tensors_.clear();
    positions_.clear();
    weights_.assign(chain_.size(), {});
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      positions_.push_back(position(on_.mesh, chain_[i]));
      if (i == 0) continue;
      const auto piece = piece_between(on_, chain_[i - 1], chain_[i]);
      if (!piece) return false;
      elements_.push_back(piece->element);
      tensors_.push_back(on_.metric.tensor(piece->element));
      weights_[i] = weights_in(on_.mesh, piece->element, chain_[i]);
    }
    return true;
  }

  [[nodiscard]] double cost() const {
    double sum = 0;
    for (std::size_t i = 1; i < positions_.size(); ++i)
      sum += std::sqrt(squared_length(tensors_[i - 1], positions_[i] - positions_[i - 1]));
    return sum;
  }

  /// Corners of the element before point i that the one behind it has too: the simplex that the point can move in.
  struct Shared {
    int count = 0;
    std::array<int, Corners> corners{};
  };
  [[nodiscard]] Shared shared_at(std::size_t i) const {
    const auto &before = on_.mesh.element(elements_[i - 1]), &behind = on_.mesh.element(elements_[i]);
    Shared shared;
    for (int c = 0; c < Corners; ++c)
      if (std::find(behind.begin(), behind.end(), before[c]) != behind.end()) shared.corners[shared.count++] = c;
    return shared;
  }

  /// Within an edge on which point i can move. On a surface sideways by one; in space as far as the edge follows the
  /// family's axis.
  [[nodiscard]] static Vec3d along_edge(Vec3d d, Vec3d t, int family) {
    if constexpr (Corners == 3) {
      return d / std::max(norm(d - dot(t, d) * t), grazing * norm(d));
    } else {
      return (d[family] / dot(d, d)) * d;
    }
  }

  /// Within a face with this normal: the family's axis, brought back to the face along the path.
  [[nodiscard]] static Vec3d along_face(Vec3d normal, Vec3d t, int family) {
    Vec3d axis;
    axis[family] = 1;
    const Vec3d back = std::abs(dot(t, normal)) > grazing * norm(normal) ? t : normal;
    return axis - (dot(axis, normal) / dot(back, normal)) * back;
  }

  /// What a unit sideways means for point i; zero where it cannot move. On a surface the sign follows that of the point
  /// before.
  [[nodiscard]] Shift shift_at(std::size_t i, int family, Vec3d before) const {
    Shift shift;
    const auto [count, corner] = shared_at(i);
    const Vec3d way = positions_[i + 1] - positions_[i - 1];
    if (count < 2 || count == Corners || !(norm(way) > 0)) return shift;
    const auto x = corner_points(on_.mesh, elements_[i - 1]);
    std::array<Vec3d, 2> edge{x[corner[1]] - x[corner[0]], count > 2 ? x[corner[2]] - x[corner[0]] : Vec3d{}};
    const Vec3d t = way / norm(way);
    Vec3d side = count == 2 ? along_edge(edge[0], t, family) : along_face(cross(edge[0], edge[1]), t, family);
    if (Corners == 3 && dot(side, before) < 0) side = -side;
    std::array<std::array<double, 3>, 3> gram{};
    gram[0][0] = dot(edge[0], edge[0]);
    gram[1][0] = dot(edge[0], edge[1]);
    gram[1][1] = dot(edge[1], edge[1]);
    const auto solved = solve_gram(gram, {dot(side, edge[0]), dot(side, edge[1]), 0}, count - 1);
    if (!solved) return shift;
    for (int a = 1; a < count; ++a) {
      shift.weights[corner[a]] = (*solved)[a - 1];
      shift.weights[corner[0]] -= (*solved)[a - 1];
    }
    for (int c = 0; c < Corners; ++c) shift.x += shift.weights[c] * x[c];
    return shift;
  }

  /// Moves the points less than `width` away from the centre sideways by the best amount, the outer ones by less.
  void move(std::size_t centre, std::size_t width, int family) {
    const std::size_t first = centre > width ? centre - width + 1 : 1;
    const std::size_t last = std::min(centre + width - 1, chain_.size() - 2);
    shifts_.clear();
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    Vec3d side;
    for (std::size_t i = first; i <= last; ++i) {
      Shift shift = shift_at(i, family, side);
      if (dot(shift.x, shift.x) > 0) side = shift.x;
      const double away = std::abs(static_cast<double>(i) - static_cast<double>(centre));
      const double share = 1 - away / static_cast<double>(width);
      shift.x = share * shift.x;
      for (int c = 0; c < Corners; ++c) {
        const double rate = shift.weights[c] *= share;
        if (rate > 0) low = std::max(low, -weights_[i][c] / rate);
        if (rate < 0) high = std::min(high, -weights_[i][c] / rate);
      }
      shifts_.push_back(shift);
    }
    if (!(low < high) || !std::isfinite(high - low)) return;
    pieces_.clear();
    for (std::size_t i = first; i <= last + 1; ++i) {
      const Vec3d apart = positions_[i] - positions_[i - 1];
      const Vec3d moving =
          (i <= last ? shifts_[i - first].x : Vec3d{}) - (i > first ? shifts_[i - first - 1].x : Vec3d{});
      const SymTensor3d& m = tensors_[i - 1];
      pieces_.push_back({squared_length(m, apart), product(m, apart, moving), squared_length(m, moving)});
    }
    apply(first, least(low, high));
  }

  [[nodiscard]] double sum(double s) const {
    double total = 0;
    for (const MovingPiece& piece : pieces_) total += piece.at(s);
    return total;
  }

  /// Where in [low, high] the sum of the pieces is least: Newton's steps for the root of its slope, halving where they
  /// leave the bracket.
  [[nodiscard]] double least(double low, double high) const {
    const auto slope = [&](double s, double* curvature) {
      double result = 0;
      for (const MovingPiece& piece : pieces_) {
        const double value = piece.at(s);
        if (!(value > 0)) continue;
        result += (piece.linear + s * piece.square) / value;
        *curvature +=
            std::max(0.0, piece.constant * piece.square - piece.linear * piece.linear) / (value * value * value);
      }
      return result;
    };
    double ignored = 0;
    if (slope(low, &ignored) >= 0) return low;
    if (slope(high, &ignored) <= 0) return high;
    double s = std::clamp(0.0, low, high);
    for (int k = 0; k < 20; ++k) {
      double curvature = 0;
      const double rise = slope(s, &curvature);
      (rise < 0 ? low : high) = s;
      const double next = s - rise / curvature, before = s;
      s = next > low && next < high ? next : 0.5 * (low + high);
      if (std::abs(s - before) <= 1e-9 * (high - low)) break;
    }
    return s;
  }

  void apply(std::size_t first, double s) {
    if (!(sum(s) < sum(0))) return;
    for (std::size_t k = 0; k < shifts_.size(); ++k) {
      auto& weights = weights_[first + k];
      for (int c = 0; c < Corners; ++c) weights[c] = std::max(0.0, weights[c] + s * shifts_[k].weights[c]);
      positions_[first + k] += s * shifts_[k].x;
    }
  }

  const TimedMesh<Corners>& on_;
  std::vector<MeshPoint<Corners>>& chain_;
  std::vector<ElementId> elements_;                   // of the piece from point i to the next
  std::vector<SymTensor3d> tensors_;                  // theirs
  std::vector<Vec3d> positions_;                      // of the points
  std::vector<std::array<double, Corners>> weights_;  // of point i in element i − 1
  std::vector<Shift> shifts_;
  std::vector<MovingPiece> pieces_;
};

}  // namespace isochron
