// One HTML page of the papers' tables and figures, by the machines that ran them. It needs no network.
#pragma once

#include <span>
#include <string>

#include "bench/page/results.h"

namespace isochron::bench {

/// Every table and figure of the registry that belongs to a paper, run or not. Columns are the paper's numbers, and of
/// each run ours in the paper's method and ours. Runs have different labels.
std::string papers_page(std::span<const MachineRun> runs);

}  // namespace isochron::bench
