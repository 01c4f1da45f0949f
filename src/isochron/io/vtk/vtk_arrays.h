// Running VTK's readers, and taking arrays over from them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkSmartPointer.h>

#include "isochron/core/error.h"
#include "isochron/core/vtk_messages.h"
#include "isochron/io/scalar_type.h"

namespace isochron {

using ArrayPointer = vtkSmartPointer<vtkDataArray>;

[[noreturn]] inline void vtk_damaged(const std::string& path, std::string_view problem) {
  throw InputError(fmt::format("{}: {}; the file may be cut short or damaged, get or write it again", path, problem));
}

/// Reads the file with a reader that knows its name; what VTK says goes to `warnings`. Throws InputError.
template <class Reader>
void run_vtk_reader(Reader& reader, const std::string& path, std::vector<std::string>& warnings) {
  const VtkMessages messages;
  reader.Update();
  if (!messages.errors().empty()) vtk_damaged(path, fmt::format("VTK cannot read it ({})", messages.errors().front()));
  if (reader.GetErrorCode() != 0 || reader.GetOutput() == nullptr) vtk_damaged(path, "VTK cannot read it");
  for (const std::string& warning : messages.warnings()) warnings.push_back("VTK says: " + warning);
}

inline void take_arrays(vtkDataSetAttributes* from, std::vector<ArrayPointer>& to) {
  for (int i = 0; i < from->GetNumberOfArrays(); ++i) {
    if (vtkDataArray* array = from->GetArray(i)) to.emplace_back(array);  // null for arrays of strings
  }
}

template <class T>
std::span<const T> vtk_values(vtkDataArray& array) {
  const auto count = static_cast<std::size_t>(array.GetNumberOfValues());
  if (count == 0) return {};
  return {static_cast<const T*>(array.GetVoidPointer(0)), count};
}

template <class Body>
void with_vtk_values(vtkDataArray& array, Body&& body) {
  switch (array.GetDataType()) {
    case VTK_FLOAT: return body(vtk_values<float>(array));
    case VTK_DOUBLE: return body(vtk_values<double>(array));
    case VTK_SIGNED_CHAR:
    case VTK_CHAR:  // files call it Int8
      return body(vtk_values<std::int8_t>(array));
    case VTK_UNSIGNED_CHAR: return body(vtk_values<std::uint8_t>(array));
    case VTK_SHORT: return body(vtk_values<std::int16_t>(array));
    case VTK_UNSIGNED_SHORT: return body(vtk_values<std::uint16_t>(array));
    case VTK_INT: return body(vtk_values<std::int32_t>(array));
    case VTK_UNSIGNED_INT: return body(vtk_values<std::uint32_t>(array));
    case VTK_LONG:
    case VTK_LONG_LONG:
    case VTK_ID_TYPE:
      static_assert(sizeof(long) == 8 && sizeof(vtkIdType) == 8);
      return body(vtk_values<std::int64_t>(array));
    case VTK_UNSIGNED_LONG:
    case VTK_UNSIGNED_LONG_LONG: return body(vtk_values<std::uint64_t>(array));
    default: {
      std::vector<double> copy(static_cast<std::size_t>(array.GetNumberOfValues()));
      const int components = std::max(1, array.GetNumberOfComponents());
      for (std::size_t i = 0; i < copy.size(); ++i) {
        copy[i] = array.GetComponent(static_cast<vtkIdType>(i) / components, static_cast<int>(i) % components);
      }
      return body(std::span<const double>(copy));
    }
  }
}

/// The array as a data set keeps it.
inline DataArray converted_array(vtkDataArray& array) {
  DataArray result{array.GetName() != nullptr ? array.GetName() : "", std::max(1, array.GetNumberOfComponents()), {}};
  with_vtk_values(array, [&](auto values) {
    using T = typename decltype(values)::value_type;
    std::vector<Stored<T>> converted(values.size());
    std::transform(values.begin(), values.end(), converted.begin(), [](T v) { return to_stored(v); });
    result.values = std::move(converted);
  });
  return result;
}

inline void check_tuples(vtkDataArray& array, std::size_t expected, const std::string& path) {
  const auto tuples = static_cast<std::size_t>(array.GetNumberOfTuples());
  if (tuples == expected) return;
  vtk_damaged(path, fmt::format("array '{}' does not fit (tuples: {}, items: {})",
                                array.GetName() != nullptr ? array.GetName() : "", tuples, expected));
}

}  // namespace isochron
