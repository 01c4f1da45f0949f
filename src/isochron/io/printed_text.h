// Text that is made by several threads, to be written in order.
#pragma once

#include <charconv>
#include <concepts>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace isochron {

/// Words and numbers one behind the other. Numbers are the shortest that are read as the same again.
class PrintedText {
 public:
  PrintedText& operator<<(std::string_view text) {
    buffer_.append(text.data(), text.data() + text.size());
    return *this;
  }
  PrintedText& operator<<(char c) {
    buffer_.push_back(c);
    return *this;
  }
  PrintedText& operator<<(double value);
  PrintedText& operator<<(float value);
  template <std::integral Int>
  PrintedText& operator<<(Int value) {
    constexpr std::size_t longest = 24;
    const std::size_t before = buffer_.size();
    buffer_.try_resize(before + longest);
    char* const first = buffer_.data() + before;
    const auto [end, error] = std::to_chars(first, first + longest, value);
    buffer_.try_resize(before + static_cast<std::size_t>(end - first));
    return *this;
  }
  /// Several numbers with blanks between them.
  template <class Number>
  PrintedText& operator<<(std::span<const Number> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) *this << ' ';
      *this << values[i];
    }
    return *this;
  }

  [[nodiscard]] std::string_view text() const { return {buffer_.data(), buffer_.size()}; }

 private:
  fmt::memory_buffer buffer_;
};

}  // namespace isochron
