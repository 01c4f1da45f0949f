#include "python/src/errors.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/pybind11.h>

namespace isochron::python {
namespace {

namespace py = pybind11;

std::string argument_of(Option option) {
  switch (option) {
    case Option::mask_array: return "mask";
    case Option::max_particles: return "most_particles";
    case Option::region_array: return "regions";
    case Option::speed_array: return "speed";
    case Option::split_obtuse: return "split_obtuse";
    case Option::tetrahedra: return "program";
    case Option::velocity: return "velocity";
    default: return std::string(option_name(option));
  }
}

bool is_number(const std::string& text) {
  double number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ptr == text.data() + text.size();
}

/// The class in isochron.errors.
const char* class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::device: return "DeviceError";
    case ErrorKind::usage: return "UsageError";
    case ErrorKind::input: return "InputError";
    case ErrorKind::no_answer: return "NoAnswerError";
    case ErrorKind::cancelled: return "Cancelled";
    case ErrorKind::runtime: break;
  }
  return "RuntimeFailure";
}

/// `Error.index`: an id, or a tuple with a number for each axis.
py::object index_object(const Place& place, const PythonWording& wording) {
  const std::vector<double> numbers = wording.index(place);
  if (numbers.size() == 1) return py::int_(static_cast<std::int64_t>(numbers[0]));
  py::tuple result(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (place.kind == Place::Kind::voxel) result[i] = py::int_(static_cast<std::int64_t>(numbers[i]));
    else result[i] = py::float_(numbers[i]);
  }
  return result;
}

void raise(const Error& error, const CallerWords& words) {
  const PythonWording wording(words);
  const py::object type = py::module_::import("isochron.errors").attr(class_of(error.kind()));
  const py::object raised = type(to_text(error, wording));
  if (!error.file().empty()) raised.attr("file") = error.file();
  if (const auto subject = error.subject()) raised.attr("subject") = wording.subject(*subject);
  if (const auto place = error.index()) raised.attr("index") = index_object(*place, wording);
  PyErr_SetObject(type.ptr(), raised.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const WordedError& error) {
    raise(error, error.words());
  } catch (const Error& error) {
    raise(error, {});
  }
}

}  // namespace

std::string PythonWording::setting(const Setting& setting) const {
  if (setting.option == Option::replace) return "force=True";
  const std::string name = argument_of(setting.option);
  if (setting.value.empty()) return name;
  std::vector<std::string> values;  // those that may be chosen from
  std::istringstream alternatives(setting.value);
  for (std::string value; std::getline(alternatives, value, '|');)
    values.push_back(is_number(value) ? value : '"' + value + '"');
  return fmt::format("{}={}", name, fmt::join(values, " or "));
}

std::vector<double> PythonWording::index(const Place& place) const {
  if (place.kind == Place::Kind::vertex || place.kind == Place::Kind::element) return {place.index[0]};
  std::vector<double> numbers(place.index.begin(), place.index.begin() + words_.dimensions);
  if (words_.last_axis_fastest) std::reverse(numbers.begin(), numbers.end());
  return numbers;
}

std::string PythonWording::place(const Place& place) const {
  const std::vector<double> numbers = index(place);
  if (numbers.size() == 1) return Wording::place(place);
  if (place.kind == Place::Kind::voxel) return fmt::format("voxel ({})", fmt::join(numbers, ", "));
  return fmt::format("({:.6g})", fmt::join(numbers, ", "));
}

void register_errors() { py::register_exception_translator(translate); }

}  // namespace isochron::python
