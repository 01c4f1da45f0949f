#include "apps/isochron/label_choice.h"

#include <algorithm>
#include <map>

#include <fnmatch.h>

#include "isochron/core/delimited_text.h"
#include "isochron/io/tables.h"

namespace isochron::cli {
namespace {

/// What is no tissue that fibres end in, as FreeSurfer and others call it.
constexpr const char* usual_left_out =
    "*unknown*,*background*,*ventricle*,*-vent*,*csf*,*choroid*,*hypointens*,*vessel*";

/// Patterns in small letters; each is noted when something fits it.
class LeftOut {
 public:
  explicit LeftOut(const std::string& list) {
    if (list == "none") return;
    for (const std::string_view part : split_text(list, ","))
      if (const std::string_view word = trimmed(part); !word.empty()) patterns_.emplace(lower_case(word), false);
  }
  bool has(std::int64_t label, const std::string& name) {
    bool found = false;
    for (auto& [pattern, used] : patterns_) {
      if (pattern != std::to_string(label) && ::fnmatch(pattern.c_str(), lower_case(name).c_str(), 0) != 0) continue;
      used = found = true;
    }
    return found;
  }
  [[nodiscard]] std::vector<std::string> unused() const {
    std::vector<std::string> result;
    for (const auto& [pattern, used] : patterns_)
      if (!used) result.push_back(pattern);
    return result;
  }

 private:
  std::map<std::string, bool> patterns_;
};

/// A row for each label, as a table has it.
std::vector<LabelName> numbered(const std::vector<LabelledRegion>& regions) {
  std::vector<LabelName> result;
  result.reserve(regions.size());
  for (const LabelledRegion& region : regions) result.push_back({region.label, std::to_string(region.label)});
  return result;
}

}  // namespace

void declare_labels(Command& command, LabelRequest& request) {
  command.option("--label-table", "FILE", "Names the labels, chooses and orders them: rows id name …, or id,name",
                 into(request.table));
  command.option("--leave-out", "LIST",
                 "Labels or names (* stands for any letters) that are no regions (with a table: fluid and unknown), or "
                 "none",
                 into(request.left_out));
}

ChosenLabels choose_labels(std::vector<LabelledRegion> all, const LabelRequest& request, const std::string& what,
                           Console& console) {
  const std::vector<LabelName> table = request.table.empty() ? numbered(all) : read_label_table(request.table);
  LeftOut left_out(request.left_out.value_or(request.table.empty() ? "none" : usual_left_out));
  std::map<std::int64_t, LabelledRegion*> unlisted;
  for (LabelledRegion& region : all) unlisted[region.label] = &region;
  ChosenLabels chosen;
  for (const LabelName& row : table) {
    const auto found = unlisted.find(row.label);
    if (found == unlisted.end()) continue;
    if (left_out.has(row.label, row.name)) {
      ++chosen.left_out;
    } else {
      chosen.regions.push_back(std::move(*found->second));
      chosen.names.push_back(row.name);
    }
    unlisted.erase(found);
  }
  if (!unlisted.empty())
    console.warn("{}: {} not in {}, and left out", what, counted(unlisted.size(), "label is", "labels are"),
                 request.table.string());
  if (request.left_out)
    for (const std::string& word : left_out.unused())
      console.warn("--leave-out: no label of {} is called '{}'", what, word);
  if (chosen.regions.empty())
    throw input_error("{}: no label is left (labels: {}, not in the table: {}, left out: {}); choose others", what,
                      all.size(), unlisted.size(), chosen.left_out);
  return chosen;
}

}  // namespace isochron::cli
