// The five papers: what they are called, which of their figures are drawn anew, and where our data is not theirs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace isochron::bench {

/// A figure that shows results or data of a paper.
struct PaperFigure {
  std::string_view number;  ///< "3.2"
  std::string_view shows;   ///< in the paper
  std::string_view bench;   ///< that draws it; empty: none does
  std::string_view why_not = {};
};

/// Data of a paper that we do not have, and what stands in for it.
struct DataDifference {
  std::vector<std::string_view> benches;
  std::string_view text;
};

struct Paper {
  std::string_view number;  ///< "000"
  std::string_view title;
  std::vector<PaperFigure> figures;
  std::vector<DataDifference> differences;
  /// What rows or columns of the paper's method are called where ours have no mark; empty: ours have one.
  std::string_view published = {};
};

const std::vector<Paper>& papers();

/// What is said under one table or figure.
std::vector<std::string_view> differences_of(const Paper& paper, std::string_view bench);

/// Whether a line of a table holds our own method rather than the paper's, by what its table, row and column are
/// called.
bool is_ours(const Paper& paper, std::string_view bench, std::string_view row, std::string_view column);

/// Seconds that a bench takes on two cores, for the share of the work that is done; a guess for one that is not known.
double expected_seconds(std::string_view bench, bool quick);

}  // namespace isochron::bench
