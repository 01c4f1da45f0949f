#include "apps/viewer/server/fields.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "isochron/core/error.h"

namespace isochron::viewer {
namespace {

const Json& require(const Json& object, const std::string& name) {
  const Json* value = find_field(object, name);
  if (value == nullptr) throw InputError(fmt::format("'{}' is missing; give it", name));
  return *value;
}

}  // namespace

const Json* find_field(const Json& object, const std::string& name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

double as_number(const Json& value, const std::string& what) {
  double number = std::nan("");
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) number = std::nan("");
  }
  if (!std::isfinite(number)) throw InputError(fmt::format("{} is not a finite number; give one", what));
  return number;
}

double number_field(const Json& object, const std::string& name) {
  return as_number(require(object, name), fmt::format("'{}'", name));
}

double number_field(const Json& object, const std::string& name, double otherwise) {
  return find_field(object, name) == nullptr ? otherwise : number_field(object, name);
}

std::string text_field(const Json& object, const std::string& name) {
  const Json& value = require(object, name);
  if (!value.is_string()) throw InputError(fmt::format("'{}' is not a text; give one", name));
  return value.get<std::string>();
}

std::string text_field(const Json& object, const std::string& name, const std::string& otherwise) {
  return find_field(object, name) == nullptr ? otherwise : text_field(object, name);
}

std::string short_text_field(const Json& object, const std::string& name, std::size_t longest) {
  std::string text = text_field(object, name, "");
  if (text.size() > longest)
    throw InputError(fmt::format("'{}' is too long; give at most {} characters", name, longest));
  return text;
}

std::string client_field(const Json& object) {
  std::string client = short_text_field(object, "client", 64);
  for (const char c : client)
    if (static_cast<unsigned char>(c) < 0x20) throw InputError("'client' has control characters; give a plain id");
  return client;
}

std::vector<double> number_list(const Json& value, const std::string& what, std::size_t most) {
  if (!value.is_array() || value.empty() || value.size() > most)
    throw InputError(fmt::format("{} is not a list of up to {} numbers; give one", what, most));
  std::vector<double> numbers;
  for (const Json& number : value) numbers.push_back(as_number(number, what));
  return numbers;
}

Vec3d point_field(const Json& object, const std::string& name) {
  const std::string what = fmt::format("'{}'", name);
  const std::vector<double> numbers = number_list(require(object, name), what, 3);
  if (numbers.size() != 3) throw InputError(fmt::format("{} is not a list of 3 numbers; give x, y and z", what));
  return {numbers[0], numbers[1], numbers[2]};
}

std::uint32_t id_field(const Json& object, const std::string& name) {
  const double number = number_field(object, name);
  if (!(number >= 0) || number != std::floor(number) || number > 4294967294.0)
    throw InputError(fmt::format("'{}' is not a whole number from 0 on; give an id", name));
  return static_cast<std::uint32_t>(number);
}

}  // namespace isochron::viewer
