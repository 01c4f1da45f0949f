#include "isochron/diffusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/image.h"

namespace isochron {
namespace {

constexpr std::size_t unknowns = 7;  // ln S₀ and six components
constexpr std::size_t pairs = unknowns * (unknowns + 1) / 2;
using Unknowns = std::array<double, unknowns>;
using Normal = std::array<double, pairs>;  // lower triangle of a symmetric matrix, row by row

constexpr std::size_t at(std::size_t row, std::size_t column) { return row * (row + 1) / 2 + column; }

/// Solves normal · x = right by Cholesky. False when a pivot falls below `smallest` of its diagonal.
bool solve(Normal normal, const Unknowns& right, double smallest, Unknowns& x) {
  for (std::size_t i = 0; i < unknowns; ++i) {
    const double diagonal = normal[at(i, i)];
    for (std::size_t j = 0; j <= i; ++j) {
      double value = normal[at(i, j)];
      for (std::size_t k = 0; k < j; ++k) value -= normal[at(i, k)] * normal[at(j, k)];
      if (j < i) {
        normal[at(i, j)] = value / normal[at(j, j)];
      } else {
        if (!(value > smallest * diagonal)) return false;
        normal[at(i, i)] = std::sqrt(value);
      }
    }
  }
  x = right;
  for (std::size_t i = 0; i < unknowns; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= normal[at(i, k)] * x[k];
    x[i] /= normal[at(i, i)];
  }
  for (std::size_t i = unknowns; i-- > 0;) {
    for (std::size_t k = i + 1; k < unknowns; ++k) x[i] -= normal[at(k, i)] * x[k];
    x[i] /= normal[at(i, i)];
  }
  return true;
}

/// The linear model of all used volumes, with b in units of the largest.
struct Design {
  std::vector<std::size_t> volume;
  std::vector<Unknowns> row;
  std::vector<Normal> product;  // each row with itself
  double largest_b = 0;

  explicit Design(const WorldGradients& gradients) {
    for (std::size_t i = 0; i < gradients.b.size(); ++i)
      if (gradients.used[i] != 0) largest_b = std::max(largest_b, gradients.b[i]);
    for (std::size_t i = 0; i < gradients.b.size(); ++i) {
      if (gradients.used[i] == 0) continue;
      const double b = largest_b > 0 ? gradients.b[i] / largest_b : 0;
      const Vec3d& g = gradients.direction[i];
      volume.push_back(i);
      row.push_back({1, -b * g.x * g.x, -2 * b * g.x * g.y, -2 * b * g.x * g.z, -b * g.y * g.y, -2 * b * g.y * g.z,
                     -b * g.z * g.z});
      Normal& p = product.emplace_back();
      for (std::size_t r = 0; r < unknowns; ++r)
        for (std::size_t c = 0; c <= r; ++c) p[at(r, c)] = row.back()[r] * row.back()[c];
    }
  }

  [[nodiscard]] bool solve_weighted(std::span<const double> weight, std::span<const double> log_signal, double smallest,
                                    Unknowns& x) const {
    Normal normal{};
    Unknowns right{};
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double w = weight[i];
      if (w == 0) continue;
      for (std::size_t k = 0; k < pairs; ++k) normal[k] += w * product[i][k];
      for (std::size_t k = 0; k < unknowns; ++k) right[k] += w * log_signal[i] * row[i][k];
    }
    return solve(normal, right, smallest, x);
  }

  [[nodiscard]] double log_prediction(std::size_t i, const Unknowns& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < unknowns; ++k) sum += row[i][k] * x[k];
    return sum;
  }
};

void check(const Design& design) {
  constexpr double clearly_singular = 1e-5;  // one b = 0 among hundreds of volumes is still a few thousandths
  const std::vector<double> ones(design.row.size(), 1.0), zeros(design.row.size(), 0.0);
  Unknowns ignored{};
  if (!design.solve_weighted(ones, zeros, clearly_singular, ignored))
    throw InputError(
        fmt::format("the gradients do not determine a tensor (volumes that can be used: {}); it takes six different "
                    "directions, and b = 0 or a second b-value: check the b-values and b-vectors",
                    design.row.size()));
}

/// Fits one voxel after the other.
class VoxelFitter {
 public:
  VoxelFitter(const Design& design, TensorFitMethod method)
      : design_(design), method_(method), log_signal_(design.row.size()), weight_(design.row.size()) {}

  template <class T>
  SymTensor3d fit(const T* signal) {
    ++counts.voxels;
    double largest = 0;
    for (const std::size_t volume : design_.volume) {
      const auto s = static_cast<double>(signal[volume]);
      if (std::isfinite(s)) largest = std::max(largest, s);
    }
    if (largest == 0) return ++counts.empty, SymTensor3d{};
    std::size_t missing = 0;
    for (std::size_t i = 0; i < weight_.size(); ++i) {
      const double share = static_cast<double>(signal[design_.volume[i]]) / largest;
      const bool good = share > 0 && std::isfinite(share);
      missing += good ? 0 : 1;
      log_signal_[i] = good ? std::log(share) : 0;
      weight_[i] = good ? (method_ == TensorFitMethod::wls ? share * share : 1) : 0;
    }
    Unknowns x{};
    if (!solve(x)) return ++counts.failed, SymTensor3d{};
    ++counts.fitted;
    if (missing > 0) ++counts.missing_signals;
    const double unit = 1 / design_.largest_b;
    const SymTensor3d t = unit * SymTensor3d{x[1], x[2], x[3], x[4], x[5], x[6]};
    if (!positive_definite(t)) ++counts.not_positive_definite;
    return t;
  }

  TensorFitCounts counts{};

 private:
  bool solve(Unknowns& x) {
    constexpr double singular = 1e-10;
    constexpr int reweightings = 2;
    if (!design_.solve_weighted(weight_, log_signal_, singular, x)) return false;
    if (method_ == TensorFitMethod::ols) return true;
    for (int round = 0; round < reweightings; ++round) {
      reweight(x);
      Unknowns better{};
      if (!design_.solve_weighted(weight_, log_signal_, singular, better)) break;  // keep what there is
      x = better;
    }
    return true;
  }

  // The variance of a signal's logarithm goes with one over the true signal squared; the prediction is closer to the
  // truth than the measurement.
  void reweight(const Unknowns& x) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < weight_.size(); ++i)
      if (weight_[i] > 0) largest = std::max(largest, design_.log_prediction(i, x));
    for (std::size_t i = 0; i < weight_.size(); ++i)
      if (weight_[i] > 0) weight_[i] = std::exp(2 * (design_.log_prediction(i, x) - largest));
  }

  const Design& design_;
  TensorFitMethod method_;
  std::vector<double> log_signal_;
  std::vector<double> weight_;
};

void add(TensorFitCounts& all, const TensorFitCounts& part) {
  all.voxels += part.voxels;
  all.fitted += part.fitted;
  all.empty += part.empty;
  all.failed += part.failed;
  all.missing_signals += part.missing_signals;
  all.not_positive_definite += part.not_positive_definite;
}

}  // namespace

std::size_t WorldGradients::left_out() const {
  return static_cast<std::size_t>(std::count(used.begin(), used.end(), std::uint8_t{0}));
}

WorldGradients world_gradients(const GradientTable& table, const ImageGrid& grid) {
  constexpr double tolerated = 0.01;
  const FrameAxes frame = frame_axes(grid, TensorFrame::fsl);
  WorldGradients result{table.b, std::vector<Vec3d>(table.b.size()), std::vector<std::uint8_t>(table.b.size(), 1)};
  std::vector<double> squares(table.b.size(), 1.0);
  for (std::size_t i = 0; i < table.b.size(); ++i) {
    const double length = norm(table.direction[i]);
    if (length > 0 && std::isfinite(length)) {
      squares[i] = length * length;
      result.direction[i] = rotate_to_world(table.direction[i] / length, frame);
      if (table.b[i] > 0 && std::abs(std::log(squares[i])) > tolerated) result.scaled = true;
    } else if (table.b[i] > 0) {
      result.used[i] = 0;
    }
  }
  if (result.scaled)
    for (std::size_t i = 0; i < squares.size(); ++i) result.b[i] *= squares[i];
  return result;
}

TensorFit fit_tensors(const DataArray& signal, const WorldGradients& gradients, std::span<const std::uint8_t> mask,
                      const TensorFitOptions& options) {
  const auto volumes = static_cast<std::size_t>(signal.components);
  if (volumes != gradients.b.size())
    throw InputError(
        fmt::format("the gradients do not fit the image (volumes: {}, b-values: {}); give the files of "
                    "this image",
                    volumes, gradients.b.size()));
  const std::size_t voxels = signal.tuple_count();
  if (!mask.empty() && mask.size() != voxels)
    throw InputError(fmt::format("the mask does not fit the image (values: {}, voxels: {}); give one of the same image",
                                 mask.size(), voxels));
  const Design design(gradients);
  check(design);
  TensorFit result;
  result.tensor.resize(voxels);
  std::mutex adding;
  const auto fit_range = [&](const auto* values, std::size_t first, std::size_t last) {
    parallel_chunks(options.threads, last - first, [&](std::size_t begin, std::size_t end) {
      VoxelFitter fitter(design, options.method);
      for (std::size_t i = first + begin; i < first + end; ++i)
        if (mask.empty() || mask[i] != 0) result.tensor[i] = fitter.fit(values + i * volumes);
      const std::lock_guard lock(adding);
      add(result.counts, fitter.counts);
    });
  };
  // In steps, to report the progress between them; interleaving would balance masks better but reads across pages.
  constexpr std::size_t steps = 100;
  const std::size_t step = std::max<std::size_t>(65536, voxels / steps + 1);
  std::visit(
      [&](const auto& values) {
        for (std::size_t first = 0; first < voxels; first += step) {
          options.progress.update(static_cast<double>(first) / static_cast<double>(voxels));
          fit_range(values.data(), first, std::min(voxels, first + step));
        }
      },
      signal.values);
  return result;
}

}  // namespace isochron
