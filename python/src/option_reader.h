// Reads the options of a table (core/option_table.h) from keyword arguments.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/core/join_text.h"
#include "isochron/core/option_table.h"
#include "isochron/error.h"
#include "isochron/options.h"
#include "python/src/bindings.h"
#include "python/src/problem.h"

namespace isochron::python {

/// The value of that name. Throws UsageError with all names when there is none.
template <class Enum>
Enum chosen(const char* option, const std::string& given, Enum of) {
  if constexpr (requires { named("", of); }) {
    return named(given, of);
  } else {
    std::vector<std::string> names;
    for (const Choice<Enum>& known : choices_of(of)) {
      if (given == known.name) return known.value;
      names.emplace_back(known.name);
    }
    throw UsageError(names.size() == 2
                         ? fmt::format("unknown {} '{}'; choose {} or {}", option, given, names[0], names[1])
                         : fmt::format("unknown {} '{}'; choose one of: {}", option, given, join_text(names, ", ")));
  }
}

/// Visits tables of options and sets those that are given; None counts as not given.
class OptionReader {
 public:
  /// What is thrown for a value of another type: Python's TypeError, or InputError.
  enum class Mismatch { type_error, input_error };

  explicit OptionReader(const py::dict& options, Mismatch mismatch = Mismatch::type_error)
      : options_(options.attr("copy")()), mismatch_(mismatch) {}

  template <class T>
  void operator()(const OptionText& text, T& into) {
    if constexpr (std::is_enum_v<T>) {
      std::optional<std::string> name;
      take(text.name, name);
      if (name) into = chosen(text.name, *name, into);
    } else {
      take(text.name, into);
    }
  }
  void operator()(const OptionText& text, Backend& into) {
    std::optional<std::string> name;
    take(text.name, name);
    if (name) into = backend_named(*name);
  }
  void operator()(const OptionText& text, Keep& into) {
    bool keep = into == Keep::yes;
    take(text.name, keep);
    into = keep ? Keep::yes : Keep::no;
  }

  /// An option that nothing has asked for, or empty.
  [[nodiscard]] std::string left() const {
    return py::len(options_) == 0 ? std::string() : std::string(py::str(*py::list(options_).begin()));
  }
  /// Throws what Python throws for arguments that a function does not have.
  void check_all_taken() const {
    if (const std::string name = left(); !name.empty())
      throw py::type_error(fmt::format("unexpected keyword argument '{}'", name));
  }

 protected:
  template <class T>
  void take(const char* name, T& into) {
    if (!options_.contains(name)) return;
    const py::object value = options_[name];
    options_.attr("pop")(name);
    if (value.is_none()) return;
    try {
      into = value.cast<T>();
    } catch (const py::cast_error&) {
      const std::string shown(py::repr(value));
      if (mismatch_ == Mismatch::type_error) throw py::type_error(fmt::format("{} is {}", name, shown));
      throw InputError(
          fmt::format("{} is {} (not a value of the right kind or size); see the function's help", name, shown));
    }
  }

 private:
  py::dict options_;
  Mismatch mismatch_;
};

}  // namespace isochron::python
