// Where the solvers of a scene report to, which keep one place for all their solves.
#pragma once

#include <functional>
#include <utility>

namespace isochron::viewer {

/// While one lives the solvers report to it.
class Reporting {
 public:
  using Report = std::function<void(double)>;
  Reporting(Report& place, Report report) : place_(place) { place_ = std::move(report); }
  ~Reporting() { place_ = nullptr; }
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;

 private:
  Report& place_;
};

}  // namespace isochron::viewer
