#include "apps/isochron/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace isochron::cli {
namespace {

/// Bytes of the character of UTF-8 that the text begins with; 0 when it is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto between = [&](std::size_t i, unsigned low, unsigned high) { return low <= byte(i) && byte(i) <= high; };
  if (byte(0) < 0x80) return 1;
  if (between(0, 0xc2, 0xdf)) return between(1, 0x80, 0xbf) ? 2 : 0;
  const unsigned low = byte(0) == 0xe0 ? 0xa0 : byte(0) == 0xf0 ? 0x90 : 0x80;   // shorter ways to write the same
  const unsigned high = byte(0) == 0xed ? 0x9f : byte(0) == 0xf4 ? 0x8f : 0xbf;  // halves of pairs, and too large
  if (!between(1, low, high) || !between(2, 0x80, 0xbf)) return 0;
  if (between(0, 0xe0, 0xef)) return 3;
  return between(0, 0xf0, 0xf4) && between(3, 0x80, 0xbf) ? 4 : 0;
}

void write_string(std::string& out, std::string_view text) {
  constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::size_t escape = special.find(text.front());
    if (escape != std::string_view::npos) out += {'\\', letters[escape]};
    else if (static_cast<unsigned char>(text.front()) < 0x20) out += fmt::format("\\u{:04x}", text.front());
    else if (length == 0) out += "\xef\xbf\xbd";  // stands for what cannot be read
    else out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

}  // namespace

Json::Json(double value) {
  if (!std::isfinite(value)) return;
  text_ = fmt::format("{}", value);
  if (text_.find_first_of(".e") == std::string::npos) text_ += ".0";
}

Json::Json(std::initializer_list<Json> items) : kind_(Kind::array) {
  if (!std::all_of(items.begin(), items.end(), [](const Json& item) { return item.is_member(); })) {
    items_ = items;
    return;
  }
  kind_ = Kind::object;
  for (const Json& item : items) (*this)[item.items_[0].text_] = item.items_[1];
}

Json Json::array(std::initializer_list<Json> items) {
  Json result;
  result.kind_ = Kind::array;
  result.items_ = items;
  return result;
}

Json Json::object() {
  Json result;
  result.kind_ = Kind::object;
  return result;
}

Json& Json::operator[](std::string_view key) {
  kind_ = Kind::object;
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found != keys_.end()) return items_[static_cast<std::size_t>(found - keys_.begin())];
  keys_.emplace_back(key);
  return items_.emplace_back();
}

void Json::update(const Json& other) {
  for (std::size_t i = 0; i < other.keys_.size(); ++i) (*this)[other.keys_[i]] = other.items_[i];
}

std::string Json::dump() const {
  std::string out;
  write(out, 0);
  return out;
}

void Json::write(std::string& out, std::size_t indent) const {
  if (kind_ == Kind::token) {
    out += text_;
  } else if (kind_ == Kind::string) {
    write_string(out, text_);
  } else {
    const bool is_object = kind_ == Kind::object;
    out += is_object ? '{' : '[';
    for (std::size_t i = 0; i < items_.size(); ++i) {
      out += (i == 0 ? "\n" : ",\n") + std::string(indent + 2, ' ');
      if (is_object) {
        write_string(out, keys_[i]);
        out += ": ";
      }
      items_[i].write(out, indent + 2);
    }
    if (!items_.empty()) out += "\n" + std::string(indent, ' ');
    out += is_object ? '}' : ']';
  }
}

}  // namespace isochron::cli
