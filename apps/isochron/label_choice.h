// Which labels of a label map are regions, what they are called and in which order they stand.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/isochron/arguments.h"
#include "isochron/connect.h"

namespace isochron::cli {

struct LabelRequest {
  std::filesystem::path table;          ///< empty: all labels, called by their numbers
  std::optional<std::string> left_out;  ///< labels and names with commas between them, or "none"
};

/// --label-table and --leave-out
void declare_labels(Command& command, LabelRequest& request);

struct ChosenLabels {
  std::vector<LabelledRegion> regions;
  std::vector<std::string> names;  ///< of the regions
  std::size_t left_out = 0;        ///< by name or number
};

/// The regions that are asked for: those of the table in its order, without those left out. Warns of labels that the
/// table does not have and of names that no label has. Throws InputError when the table cannot be read or no label is
/// left. `what` names the label map.
ChosenLabels choose_labels(std::vector<LabelledRegion> all, const LabelRequest& request, const std::string& what,
                           Console& console);

}  // namespace isochron::cli
