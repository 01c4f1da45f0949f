// The unknowns of an inversion as a vector of numbers, and the problem that they stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "isochron/invert.h"
#include "isochron/invert/receivers.h"
#include "isochron/invert/roughness.h"
#include "isochron/linearization.h"

namespace isochron {

/// One number that is not of the field of speeds or factors.
struct SingleUnknown {
  enum class Kind : std::uint8_t { velocity, onset, position };
  Kind kind = Kind::velocity;
  std::uint32_t shot = 0;   ///< of onsets and positions
  std::uint32_t index = 0;  ///< of the region, or of the source in its shot
  int component = 0;        ///< of the velocities or the position
};

/// First the field: the logarithm of each element's speed or factor, where that is unknown. Then single unknowns:
/// logarithms of velocities, and shot after shot the onsets and positions of its sources.
class InversionModel {
 public:
  InversionModel(const Domain& domain, const Measurements& measured, const InversionOptions& options);

  [[nodiscard]] std::size_t size() const { return field_size_ + singles_.size(); }
  [[nodiscard]] std::size_t field_size() const { return field_size_; }
  [[nodiscard]] const std::vector<SingleUnknown>& singles() const { return singles_; }
  /// Unknowns that are not fixed: elements that do not conduct are. A position on a surface is two.
  [[nodiscard]] std::size_t free_count() const;
  [[nodiscard]] const std::vector<double>& start() const { return start_; }
  /// A whole number that differs where the start, the unknowns or what was measured does.
  [[nodiscard]] double number_of(const Measurements& measured) const;
  [[nodiscard]] const std::vector<double>& lower() const { return lower_; }
  [[nodiscard]] const std::vector<double>& upper() const { return upper_; }

  /// Brings values between their bounds, and sources into the domain.
  void bring_inside(std::vector<double>& values) const;
  [[nodiscard]] Metric metric(std::span<const double> values) const;
  [[nodiscard]] Sources sources(std::span<const double> values, std::size_t shot) const;
  /// Of each element, where `Unknown::tensor_scale` is unknown.
  [[nodiscard]] std::vector<double> scale(std::span<const double> values) const;

  /// The change of the input with a change of the field; `metric` is that of the values.
  [[nodiscard]] std::vector<SymTensor3d> field_direction(const Metric& metric, std::span<const double> change) const;
  /// Its transpose.
  [[nodiscard]] std::vector<double> field_gradient(const Metric& metric, std::span<const SymTensor3d> gradient) const;
  /// The change of a shot's input with a single unknown.
  [[nodiscard]] InputValues direction(const Metric& metric, const SingleUnknown& single) const;

  [[nodiscard]] const ReceiverRows& receivers() const { return receivers_; }
  /// Of the field.
  [[nodiscard]] ElementGraph graph() const { return graph_(); }

 private:
  void take_field(const InversionOptions& options, bool factors);
  void take_velocities(const InversionOptions& options);
  void take_sources(bool onsets, bool positions);
  void add(const SingleUnknown& single, double value, double lower, double upper);
  /// Whether an element is of the field.
  [[nodiscard]] bool in_field(std::size_t e) const { return lower_[e] < upper_[e]; }
  /// Bounds of a logarithm. Throws InputError unless the value is between them.
  void add_velocity_bounds(const InversionOptions& options, double velocity, const char* what, double& lower,
                           double& upper) const;

  std::shared_ptr<const Metric> base_;
  std::size_t element_count_ = 0;
  int dimensions_ = 3;                  ///< of what is solved on
  std::span<const std::uint8_t> mask_;  ///< of an image; empty: everywhere
  bool factors_ = false;
  std::size_t field_size_ = 0;
  std::vector<SingleUnknown> singles_;
  std::vector<double> start_, lower_, upper_;
  std::vector<Sources> sources_;  ///< of each shot, as given
  ReceiverRows receivers_;
  std::function<ElementGraph()> graph_;
  std::function<Vec3d(Vec3d)> nearest_inside_;  ///< a place that a source may be moved from
  std::function<Vec3d(GlobalVertexId)> position_of_;
};

}  // namespace isochron
