// `isochron solve --each-source`: what becomes of many solves.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "apps/isochron/solve_report.h"
#include "isochron/core/timer.h"
#include "isochron/io/file.h"
#include "isochron/solver.h"

namespace isochron::cli {

/// Refuses what does not go with --each-source, and what needs it.
void check_each_source(const SolveRequest& request);

/// Takes the result of every source, in order. Tables are written as the results come; only arrays of a mesh are kept.
class EachSource {
 public:
  /// Throws UsageError when there is only one source, and RuntimeError when a table, one of `files`, cannot be written.
  EachSource(const SolveRequest& request, const Sources& sources, std::size_t vertices, OutputFiles& files);
  ~EachSource();
  EachSource(const EachSource&) = delete;
  EachSource& operator=(const EachSource&) = delete;

  /// Solves from each.
  void run(Solver& solver) {
    const Timer timer;
    solver.solve_many(sets_, [&](std::size_t i, Arrival&& arrival) { take(i, std::move(arrival)); });
    seconds_ = timer.seconds();
  }

  /// All solves as one, after the last: the first of all times at each vertex, the last of all as `max_time`, the work
  /// of one on average, converged when all are, the worst residual. Moves it out.
  [[nodiscard]] Arrival take_all();
  [[nodiscard]] const std::vector<SourceSummary>& summaries() const { return summaries_; }

  /// Moves the times into the data set, when it is to be written.
  void add_arrays(DataArrays& data);
  /// Finishes the tables.
  void finish();

 private:
  struct TimesFile;
  struct MatrixFile;

  void take(std::size_t i, Arrival&& arrival);
  void add_up(const Arrival& arrival);

  const SolveRequest& request_;
  InterruptGuard guard_;  ///< there are files to remove
  std::vector<Sources> sets_;
  Arrival all_;
  double seconds_ = 0;  ///< of all solves, by the clock
  std::vector<SourceSummary> summaries_;
  std::vector<DataArray> arrays_;
  std::unique_ptr<TimesFile> times_;
  std::unique_ptr<MatrixFile> matrix_;
};

}  // namespace isochron::cli
