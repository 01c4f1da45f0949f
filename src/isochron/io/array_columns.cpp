#include "isochron/io/array_columns.h"

#include <cmath>
#include <limits>

namespace isochron {

const DataArray* find_labels(const DataArrays& arrays, std::string_view preferred) {
  for (const std::string_view name :
       {preferred, std::string_view("region"), std::string_view("gmsh:physical"), std::string_view("medit:ref")}) {
    const DataArray* array = arrays.find(name);
    if (array != nullptr && array->components == 1) return array;
  }
  return nullptr;
}

std::int64_t label_at(const DataArray* labels, std::size_t tuple) {
  if (labels == nullptr) return 0;
  const double value = labels->at(tuple);
  return std::abs(value) <= std::numeric_limits<std::int32_t>::max() ? std::llround(value) : 0;
}

void set_labels(DataArrays& arrays, std::string name, std::vector<std::int32_t> labels) {
  if (std::all_of(labels.begin(), labels.end(), [](std::int32_t label) { return label == 0; })) return;
  arrays.set({std::move(name), 1, std::move(labels)});
}

void set_numbers(DataArrays& arrays, std::string name, std::vector<double> values) {
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) {
    return std::abs(v) <= std::numeric_limits<std::int32_t>::max() && v == std::trunc(v);
  });
  if (whole) arrays.set({std::move(name), 1, std::vector<std::int32_t>(values.begin(), values.end())});
  else arrays.set({std::move(name), 1, std::move(values)});
}

void count_ignored(Dataset& dataset, std::string_view kind, std::size_t cells) {
  auto& ignored = dataset.ignored_cells;
  const auto it = std::find_if(ignored.begin(), ignored.end(), [&](const auto& entry) { return entry.first == kind; });
  if (it == ignored.end()) ignored.emplace_back(kind, cells);
  else it->second += cells;
}

void print_tuple(TextSink& sink, const DataArray& array, std::size_t tuple) {
  const auto width = static_cast<std::size_t>(array.components);
  std::visit(
      [&](const auto& values) {
        const auto first = values.data() + tuple * width;
        sink.print("{}", fmt::join(first, first + width, " "));
      },
      array.values);
}

}  // namespace isochron
