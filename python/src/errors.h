// Errors of the library as Python raises them, in the words of the caller.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron::python {

/// What the caller of a function calls the things that messages name.
struct CallerWords {
  std::string metric = "the metric";  ///< the argument that the metric was given by
  int dimensions = 3;                 ///< of arrays on the grid
  bool last_axis_fastest = false;     ///< how they lie in memory; the library's first index always runs fastest
};

/// Arguments as they are written in a call, and indices as arrays on the grid have them.
class PythonWording : public Wording {
 public:
  explicit PythonWording(CallerWords words) : words_(std::move(words)) {}

  [[nodiscard]] std::string setting(const Setting& setting) const override;
  [[nodiscard]] std::string place(const Place& place) const override;
  [[nodiscard]] std::string subject(Subject /*subject*/) const override { return words_.metric; }
  /// The id of a vertex or element, or the index of a voxel.
  [[nodiscard]] std::vector<double> index(const Place& place) const;

 private:
  CallerWords words_;
};

/// An error of work that knew the words of its caller.
class WordedError : public Error {
 public:
  WordedError(const Error& error, CallerWords words) : Error(error), words_(std::move(words)) {}
  [[nodiscard]] const CallerWords& words() const { return words_; }

 private:
  CallerWords words_;
};

/// The value of that name. Throws UsageError with all names when there is none; `what` is the argument.
template <class Value>
Value one_of(const std::string& name, const char* what, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string names;
  for (const auto& [candidate, value] : known) {
    if (name == candidate) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", candidate);
  }
  throw UsageError(fmt::format("unknown {} '{}'; choose one of: {}", what, name, names));
}

/// Makes the module raise the library's errors as those of isochron.errors.
void register_errors();

}  // namespace isochron::python
