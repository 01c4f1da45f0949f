// Ids that several ranks have: which rank has which, and how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isochron/communicator.h"

namespace isochron {

struct IdPlace {
  std::uint64_t number = 0;  ///< of the id among all different ones, ascending
  std::uint64_t rank = 0;    ///< the lowest that has it
};

struct IdPlaces {
  std::vector<std::vector<IdPlace>> of;   ///< for each id of each list
  std::optional<std::uint64_t> repeated;  ///< an id that is there more than once, if any is; the same on all ranks
};

/// All ranks together, each with some lists of ids. No rank sees all of them: each looks after a range.
IdPlaces place_ids(Communicator& communicator, std::span<const std::vector<std::uint64_t>> lists);

}  // namespace isochron
