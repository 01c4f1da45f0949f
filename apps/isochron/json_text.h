// How the reports print JSON. Only *_report.cpp include this: it is slow to compile.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/isochron/console.h"

namespace isochron::cli {

/// Keys stay in the order they are added.
using Json = nlohmann::ordered_json;

/// A number, or null when it is not finite (JSON has no infinity).
inline Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Files as a list of names.
inline std::vector<std::string> file_names(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

/// The object as text that ends its line. Bytes of names that are not UTF-8 are replaced.
inline std::string json_line(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// One object on stdout.
inline void print_json(const Json& object, const Console& console) { console.print(json_line(object)); }

}  // namespace isochron::cli
