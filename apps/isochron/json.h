// Values of JSON that are only written. Nothing in them allocates when it is destroyed, so that a command whose memory
// ends while it makes its summary says so.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace isochron::cli {

/// A value, a list, or an object whose keys stay in the order they are added.
class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : text_(value ? "true" : "false") {}
  template <std::signed_integral Number>
  Json(Number value) : text_(std::to_string(static_cast<std::int64_t>(value))) {}
  template <std::unsigned_integral Number>
  Json(Number value) : text_(std::to_string(static_cast<std::uint64_t>(value))) {}
  /// Null when it is not finite: JSON has no infinity.
  Json(double value);
  Json(std::string_view text) : kind_(Kind::string), text_(text) {}
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  template <std::ranges::input_range List>
  requires(!std::convertible_to<List, std::string_view> && !std::same_as<List, Json>) Json(const List& list)
      : kind_(Kind::array) {
    for (const auto& item : list) items_.emplace_back(item);
  }
  /// An object when all items are a key and a value, else a list.
  Json(std::initializer_list<Json> items);

  static Json array(std::initializer_list<Json> items = {});
  static Json object();

  [[nodiscard]] bool is_array() const { return kind_ == Kind::array; }
  /// The member of this name; null when it is new. Makes an object of null.
  Json& operator[](std::string_view key);
  Json& operator[](std::size_t item) { return items_[item]; }
  Json& back() { return items_.back(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// Adds to a list.
  void push_back(Json item) { items_.push_back(std::move(item)); }
  /// Takes over the members of another object.
  void update(const Json& other);

  /// As text, a member or an item a line.
  [[nodiscard]] std::string dump() const;

 private:
  enum class Kind { token, string, array, object };

  [[nodiscard]] bool is_member() const {
    return is_array() && items_.size() == 2 && items_.front().kind_ == Kind::string;
  }
  void write(std::string& out, std::size_t indent) const;

  Kind kind_ = Kind::token;
  std::string text_ = "null";  ///< of a token as it is written, of a string without quotes
  std::vector<std::string> keys_;
  std::vector<Json> items_;
};

}  // namespace isochron::cli
