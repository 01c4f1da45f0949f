#include "apps/viewer/server/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "isochron/core/join_text.h"

namespace isochron::viewer {
namespace {

constexpr int max_depth = 16;

/// How many letters must be put in, taken out or exchanged (V. Levenshtein, 1966).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({exchanged, before + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The one of the candidates that was probably meant; empty when none is like the name.
std::string closest_to(const std::string& name, const std::vector<std::string>& candidates) {
  const std::size_t near_enough = name.size() < 4 ? 1 : 2;
  std::size_t least = near_enough + 1;
  std::string closest;
  for (const std::string& candidate : candidates) {
    if (name.size() > candidate.size() + near_enough) continue;
    const std::size_t apart = distance(name, candidate);
    if (apart >= least || apart >= candidate.size()) continue;  // something must be the same
    least = apart;
    closest = candidate;
  }
  return closest;
}

/// What to write instead of a name that is not known.
std::string advice(const std::string& name, const std::vector<std::string>& known) {
  if (const std::string closest = closest_to(name, known); !closest.empty())
    return fmt::format("did you mean '{}'?", closest);
  return known.empty() ? "it has none" : fmt::format("use {}", join_text(known, ", "));
}

bool is_control(unsigned char c) { return c < 0x20; }

/// Names in messages: the user's own, on one line, and cut where they are no names any more.
std::string shown(const std::string& name) {
  std::string cut = name.size() <= 40 ? name : name.substr(0, 40) + "…";
  std::replace_if(cut.begin(), cut.end(), is_control, '?');
  return cut;
}

double number_in(const std::string& text) {
  double number = std::nan("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : std::nan("");
}

/// What a value is that should be a number: "text ('1')", "a list".
std::string described(const Json& value) {
  if (value.is_string()) return fmt::format("text ('{}')", shown(value.get<std::string>()));
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_null()) return "null";
  return value.is_array() ? "a list" : "an object";
}

/// The field of a request that an option is; empty when requests do not have it.
std::string_view field_of(Option option) {
  switch (option) {
    case Option::source: return "sources";
    case Option::speed: return "speed";
    case Option::speed_array: return "speed_array";
    case Option::fibers: return "fibers";
    case Option::velocity: return "velocity";
    case Option::region_array: return "regions";
    default: return {};
  }
}

}  // namespace

std::string FieldWording::setting(const Setting& setting) const {
  // The page has no field for it; the command has.
  if (setting.option == Option::max_particles) return "--most-particles of isochron surface";
  const std::string_view field = field_of(setting.option);
  if (field.empty()) return Wording::setting(setting);
  return fmt::format("'{}'{}{}", field, setting.value.empty() ? "" : " ", setting.value);
}

Fields::Fields(const Json& object, std::string what, Values values)
    : object_(&object), what_(std::move(what)), values_(values) {
  if (!object.is_object()) throw RequestError(fmt::format("{} is not a JSON object; give one", what_));
}

std::string Fields::of(const std::string& name) const {
  return what_ == "the request" ? fmt::format("'{}'", shown(name)) : fmt::format("'{}' of {}", shown(name), what_);
}

const Json* Fields::find(const std::string& name) {
  if (!known(name)) known_.push_back(name);
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool Fields::known(const std::string& name) const {
  return std::find(known_.begin(), known_.end(), name) != known_.end();
}

void Fields::refuse_unknown(const std::string& name, const std::vector<std::string>& candidates) const {
  throw RequestError(fmt::format("{} has no field '{}'; {}", what_, shown(name), advice(name, candidates)));
}

void Fields::check_spelling(const std::string& name) const {
  for (const std::string& given : names())
    if (!known(given) && !closest_to(given, {name}).empty()) refuse_unknown(given, {name});
}

const Json& Fields::require(const std::string& name) {
  const Json* value = find(name);
  if (value != nullptr) return *value;
  check_spelling(name);
  throw RequestError(fmt::format("{} is missing; give it", of(name)));
}

void Fields::exclude(std::initializer_list<const char*> names) {
  std::vector<std::string> given;
  for (const char* name : names)
    if (has(name)) given.push_back(fmt::format("'{}'", name));
  if (given.size() > 1)
    throw RequestError(fmt::format("{} exclude each other; give one of them", join_text(given, " and ")));
}

void Fields::choose(std::initializer_list<const char*> names) {
  exclude(names);
  if (std::any_of(names.begin(), names.end(), [this](const char* name) { return has(name); })) return;
  std::vector<std::string> wanted;
  for (const char* name : names) {
    check_spelling(name);
    wanted.push_back(of(name));
  }
  throw RequestError(fmt::format("{} is missing; give one of them", join_text(wanted, " or ")));
}

double Fields::number(const std::string& name) {
  const Json& value = require(name);
  const bool from_text = values_ == Values::texts && value.is_string();
  if (!value.is_number() && !from_text)
    throw RequestError(fmt::format("{} is {}; give a number", of(name), described(value)));
  const double number = from_text ? number_in(value.get_ref<const std::string&>()) : value.get<double>();
  if (!std::isfinite(number))
    throw RequestError(fmt::format("{} is {}; give a finite number", of(name), shown(text_of(value))));
  return number;
}

double Fields::positive(const std::string& name) {
  const double value = number(name);
  if (!(value > 0)) throw RequestError(fmt::format("{} is {:g}; give a positive number", of(name), value));
  return value;
}

double Fields::within(const std::string& name, Range range) {
  const double value = number(name);
  if (value >= range.low && value <= range.high) return value;
  const std::string wanted = std::isfinite(range.high)
                                 ? fmt::format("a number from {:g} to {:g}", range.low, range.high)
                                 : fmt::format("{:g} or more", range.low);
  throw RequestError(fmt::format("{} is {:g}; give {}", of(name), value, wanted));
}

std::uint32_t Fields::whole(const std::string& name, Limits limits) {
  const double value = number(name);
  if (value != std::floor(value) || !(value >= limits.min && value <= limits.max))
    throw RequestError(
        fmt::format("{} is {:g}; give a whole number from {} to {}", of(name), value, limits.min, limits.max));
  return static_cast<std::uint32_t>(value);
}

std::vector<double> Fields::numbers(const std::string& name, std::size_t max_count) {
  const Json& list = require(name);
  if (!list.is_array())
    throw RequestError(fmt::format("{} is not a list of numbers; give one of up to {}", of(name), max_count));
  if (list.empty() || list.size() > max_count)
    throw RequestError(fmt::format("{} has {} numbers in it; give 1 to {}", of(name), list.size(), max_count));
  std::vector<double> result;
  for (const Json& value : list) {
    if (!value.is_number())
      throw RequestError(fmt::format("{} has {} in it; give finite numbers", of(name), described(value)));
    result.push_back(value.get<double>());
  }
  return result;
}

std::vector<double> Fields::number_or_numbers(const std::string& name, std::size_t max_count) {
  return require(name).is_array() ? numbers(name, max_count) : std::vector<double>{number(name)};
}

Vec3d Fields::point(const std::string& name) {
  const Json& list = require(name);
  if (!list.is_array() || list.size() != 3)
    throw RequestError(fmt::format("{} is not a list of 3 numbers; give x, y and z", of(name)));
  const std::vector<double> values = numbers(name, 3);
  return {values[0], values[1], values[2]};
}

std::string Fields::text(const std::string& name) {
  const Json& value = require(name);
  if (!value.is_string()) throw RequestError(fmt::format("{} is not a text; give one", of(name)));
  std::string given = value.get<std::string>();
  if (std::any_of(given.begin(), given.end(), is_control))
    throw RequestError(fmt::format("{} has control characters; give a plain one", of(name)));
  return given;
}

std::string Fields::word(const std::string& name, std::initializer_list<const char*> words) {
  std::string given = text(name, *words.begin());
  if (std::find(words.begin(), words.end(), given) == words.end())
    throw RequestError(fmt::format("{} is '{}'; give {}", of(name), shown(given), join_text(words, " or ")));
  return given;
}

std::string Fields::label(const std::string& name, std::size_t max_length) {
  std::string given = text(name, "");
  if (given.size() > max_length)
    throw RequestError(fmt::format("{} is too long; give at most {} bytes", of(name), max_length));
  return given;
}

Fields Fields::object(const std::string& name) { return Fields(require(name), of(name)); }

std::vector<Fields> Fields::objects(const std::string& name, std::size_t max_count) {
  std::vector<Fields> result;
  const Json* list = find(name);
  if (list == nullptr) return result;
  if (!list->is_array() || list->size() > max_count)
    throw RequestError(fmt::format("{} is not a list of at most {} objects; give one", of(name), max_count));
  for (const Json& item : *list) result.emplace_back(item, fmt::format("{}[{}]", name, result.size()));
  return result;
}

std::optional<std::int64_t> Fields::sequence() {
  if (!has("seq")) return std::nullopt;
  constexpr double max_sequence = 9007199254740991;  // 2⁵³ − 1
  const double value = number("seq");
  if (value != std::floor(value) || !(std::abs(value) <= max_sequence))
    throw RequestError(fmt::format("{} is {:g}; count in whole numbers up to {:.0f}", of("seq"), value, max_sequence));
  return static_cast<std::int64_t>(value);
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : object_->items()) result.push_back(name);
  return result;
}

void Fields::done() const {
  for (const std::string& name : names())
    if (!known(name)) refuse_unknown(name, known_);
}

Json parse_object(const std::string& text) {
  std::vector<std::set<std::string>>
      open;  // names of the objects that are being read, those around before those inside
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth > max_depth)
      throw RequestError(fmt::format("the body is nested too deeply (over {} levels); send less", max_depth));
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(value.get<std::string>()).second)
      throw RequestError(fmt::format("'{}' is there twice; leave one of them out", shown(value.get<std::string>())));
    return true;
  };
  try {
    Json object = Json::parse(text, watch);
    if (!object.is_object()) throw RequestError("the body is not a JSON object; send one");
    return object;
  } catch (const Json::out_of_range&) {
    throw RequestError("a number in the body is too large to compute with; send smaller ones");
  } catch (const Json::exception&) {
    throw RequestError("the body is not JSON; send an object");
  }
}

}  // namespace isochron::viewer
