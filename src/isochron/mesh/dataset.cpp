#include "isochron/dataset.h"

#include <algorithm>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/error.h"

namespace isochron {

std::size_t DataArray::value_count() const {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

double DataArray::at(std::size_t tuple, int component) const {
  const std::size_t i = tuple * static_cast<std::size_t>(components) + static_cast<std::size_t>(component);
  return std::visit([i](const auto& v) { return static_cast<double>(v[i]); }, values);
}

const DataArray* DataArrays::find(std::string_view name) const {
  const auto it = std::find_if(arrays_.begin(), arrays_.end(), [&](const DataArray& a) { return a.name == name; });
  return it == arrays_.end() ? nullptr : &*it;
}

const DataArray& DataArrays::require(std::string_view name, std::string_view where) const {
  if (const DataArray* array = find(name)) return *array;
  const auto have = names();
  if (have.empty())
    throw InputError(fmt::format("no array '{}' on the {} (there are no arrays); ", name, where) + Task::inspect_file);
  throw InputError(fmt::format("no array '{}' on the {}; choose one of: {}", name, where, join_text(have, ", ")));
}

void DataArrays::set(DataArray array) {
  const auto it =
      std::find_if(arrays_.begin(), arrays_.end(), [&](const DataArray& a) { return a.name == array.name; });
  if (it == arrays_.end()) arrays_.push_back(std::move(array));
  else *it = std::move(array);
}

std::vector<std::string> DataArrays::names() const {
  std::vector<std::string> result;
  for (const DataArray& a : arrays_) result.push_back(a.name);
  return result;
}

}  // namespace isochron
