#include "isochron/error.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

namespace isochron {
namespace {

constexpr std::array<std::pair<Option, std::string_view>, 27> option_names{
    {{Option::source, "sources"},
     {Option::method, "method"},
     {Option::backend, "backend"},
     {Option::precision, "precision"},
     {Option::threads, "threads"},
     {Option::scheme, "scheme"},
     {Option::order, "order"},
     {Option::tolerance, "tolerance"},
     {Option::source_init, "source_init"},
     {Option::split_obtuse, "obtuse"},
     {Option::unordered, "unordered"},
     {Option::storage, "storage"},
     {Option::layout, "layout"},
     {Option::partitioner, "partitioner"},
     {Option::mask, "mask"},
     {Option::mask_array, "mask_array"},
     {Option::speed, "speed"},
     {Option::speed_array, "speed_array"},
     {Option::fibers, "fibers"},
     {Option::sheets, "sheets"},
     {Option::velocity, "velocities"},
     {Option::region_array, "region_array"},
     {Option::allow_zero_fibers, "allow_zero_fibers"},
     {Option::tensor_order, "tensor_order"},
     {Option::max_particles, "max_particles"},
     {Option::tetrahedra, "tetrahedra"},
     {Option::replace, "replace"}}};

/// Appends the bytes of a value.
template <class T>
void put(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put(std::string& bytes, const std::string& text) {
  put(bytes, text.size());
  bytes += text;
}

/// Takes a value from the front of the bytes.
template <class T>
T take(std::string_view& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}
std::string take_text(std::string_view& bytes) {
  const auto size = take<std::size_t>(bytes);
  std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

void put_part(std::string& bytes, const Setting& setting) {
  put(bytes, setting.option);
  put(bytes, setting.value);
}
template <class Part>
void put_part(std::string& bytes, const Part& part) {
  put(bytes, part);
}

struct Render {
  const Wording& wording;
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const Setting& setting) const { return wording.setting(setting); }
  std::string operator()(const Place& place) const { return wording.place(place); }
  std::string operator()(Subject subject) const { return wording.subject(subject); }
  std::string operator()(Task task) const { return wording.task(task); }
  std::string operator()(Advice /*advice*/) const { return "; "; }
};

}  // namespace

std::string_view option_name(Option option) {
  for (const auto& [known, name] : option_names)
    if (known == option) return name;
  return "?";
}

std::string Wording::setting(const Setting& setting) const {
  std::string text(option_name(setting.option));
  return setting.value.empty() ? text : text + " " + setting.value;
}
std::string Wording::place(const Place& place) const {
  const auto [i, j, k] = place.index;
  switch (place.kind) {
    case Place::Kind::vertex: return fmt::format("vertex {}", i);
    case Place::Kind::element: return fmt::format("element {}", i);
    case Place::Kind::voxel: return fmt::format("voxel {},{},{}", i, j, k);
    case Place::Kind::index: break;
  }
  return fmt::format("{:.6g},{:.6g},{:.6g}", i, j, k);
}
std::string Wording::subject(Subject /*subject*/) const { return "the metric"; }

std::string Wording::task(Task task) const {
  return task == Task::inspect_file ? "check the file" : "fit tensors to diffusion images first";
}

Message Message::problem() const {
  Message result;
  const auto is_advice = [](const Part& part) { return std::holds_alternative<Advice>(part); };
  result.parts_.assign(parts_.begin(), std::find_if(parts_.begin(), parts_.end(), is_advice));
  return result;
}

std::string to_text(const Message& message, const Wording& wording) {
  std::string text;
  for (const Message::Part& part : message.parts()) text += std::visit(Render{wording}, part);
  return text;
}

std::string pack(const Message& message) {
  std::string bytes;
  for (const Message::Part& part : message.parts()) {
    put(bytes, static_cast<std::uint8_t>(part.index()));
    std::visit([&](const auto& value) { put_part(bytes, value); }, part);
  }
  return bytes;
}

Message unpack_message(std::string_view bytes) {
  Message message;
  while (!bytes.empty()) {
    switch (take<std::uint8_t>(bytes)) {
      case 0: message += take_text(bytes); break;
      case 1: {
        const auto option = take<Option>(bytes);
        message += Setting{option, take_text(bytes)};
        break;
      }
      case 2: message += take<Place>(bytes); break;
      case 3: message += take<Subject>(bytes); break;
      case 4: message += take<Task>(bytes); break;
      default: message += take<Advice>(bytes);
    }
  }
  return message;
}

}  // namespace isochron
