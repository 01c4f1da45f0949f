// Text in memory: words and numbers of it, and where something was wrong.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/types.h"

namespace isochron {

/// ASCII letters made small, or large.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

/// A name as one word: %20 for a blank and so on, as VTK's legacy files have it.
std::string percent_encoded(std::string_view name);
std::string percent_decoded(std::string_view text);
/// One character as such a code.
std::string percent_code(char c);
/// The text without white space at its ends.
std::string_view trimmed(std::string_view text);
/// Blanks, tabs and the ends of lines and pages.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// Takes the next word off the front of a text, where words stand between white space; empty: there are no more.
inline std::string_view next_word(std::string_view& text) {
  const char* const end = text.data() + text.size();
  const char* first = text.data();
  while (first != end && is_blank(*first)) ++first;
  const char* last = first;
  while (last != end && !is_blank(*last)) ++last;
  text = {last, static_cast<std::size_t>(end - last)};
  return {first, static_cast<std::size_t>(last - first)};
}
/// The words of a text.
std::vector<std::string_view> words_of(std::string_view text);
/// A part of a file's text made fit for a one-line message.
std::string in_quotes(std::string_view text);

/// The text behind a sign '+' in front, which some programs write.
inline std::string_view without_plus(std::string_view word) { return word.substr(word.starts_with('+') ? 1 : 0); }
/// As `std::from_chars`, but without looking for an overflow at each digit of a whole number.
template <class Number>
ISOCHRON_ALWAYS_INLINE std::from_chars_result number_from(const char* first, const char* last, Number& value) {
  if constexpr (std::is_integral_v<Number>) {
    const bool minus = std::is_signed_v<Number> && first != last && *first == '-';
    const char* const begin = first + (minus ? 1 : 0);
    const char* end = begin;
    std::uint64_t number = 0;
    for (; end != last && *end >= '0' && *end <= '9'; ++end) number = 10 * number + static_cast<unsigned>(*end - '0');
    constexpr std::ptrdiff_t safe_digits = 18;
    if (end != begin && end - begin <= safe_digits) {
      const auto whole = minus ? -static_cast<std::int64_t>(number) : static_cast<std::int64_t>(number);
      if (std::in_range<Number>(whole)) {
        value = static_cast<Number>(whole);
        return {end, std::errc()};
      }
    }
  }
  return std::from_chars(first, last, value);
}
/// The whole text as a number without such a sign.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = number_from(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The whole text, with or without '+', as a number; none where it is none, or too large for double.
std::optional<double> parse_real(std::string_view text);

/// Takes the next word off the front of a text where it is a plain number; else none, and nothing is taken. This is the
/// short way of numbers by the million: what is refused (a sign '+', a number out of range, …) may still be one.
template <class Number>
std::optional<Number> next_plain_number(std::string_view& text) {
  const char* const end = text.data() + text.size();
  const char* first = text.data();
  while (first != end && is_blank(*first)) ++first;
  Number value{};
  const auto [behind, error] = number_from(first, end, value);
  if (error != std::errc() || (behind != end && !is_blank(*behind))) return std::nullopt;
  text = {behind, static_cast<std::size_t>(end - behind)};
  return value;
}

/// A number in another type; none where that changes it: out of range, no whole number, no number at all. Fractions may
/// be rounded.
template <class To, class From>
std::optional<To> converted(From value) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if (!std::in_range<To>(value)) return std::nullopt;
  } else if constexpr (std::is_integral_v<To>) {
    const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);  // one more than the largest
    const double least = std::is_signed_v<To> ? -limit : 0;
    if (!(value >= least && value < limit) || value != std::floor(value)) return std::nullopt;
  } else if constexpr (sizeof(To) < sizeof(From)) {
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<To>::max()) return std::nullopt;
  }
  return static_cast<To>(value);
}

/// Throws InputError about a file, "problem (why); what to do".
template <class... Args>
[[noreturn]] void bad_file(const std::filesystem::path& path, fmt::format_string<Args...> problem, Args&&... args) {
  throw InputError(fmt::format(problem, std::forward<Args>(args)...), path.string());
}
/// The same for a file that may be damaged; `problem` stands without a remedy.
template <class... Args>
[[noreturn]] void damaged_file(const std::filesystem::path& path, fmt::format_string<Args...> problem, Args&&... args) {
  bad_file(path, "{}; the file may be cut short or damaged, get or write it again",
           fmt::format(problem, std::forward<Args>(args)...));
}

/// Calls `work`, which reads the file; an allocation that fails is an InputError about it.
template <class Work>
auto within_memory(const std::filesystem::path& path, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    bad_file(
        path,
        "there is not enough memory to read it (it is very large, a limit is low, or it is damaged); allow more, use "
        "a larger machine, or get or write it again");
  }
}

/// Calls `work`, which knows of no files; an InputError in it is about this one.
template <class Work>
auto with_file(const std::filesystem::path& path, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(error.detail(), path.string());
  }
}

/// Rows of a text that one thread reads: their number, and that of the rows before them.
struct TextRows {
  std::string_view text;
  std::size_t first = 0;
  std::size_t count = 0;
};

/// A cursor over a text. Words are separated by blanks. Every failure throws InputError "line N: problem; what to do"
/// about the file. The `what` arguments name the thing expected, for the message. The text must outlive the scanner.
class TextScanner {
 public:
  struct Syntax {
    bool hash_comments = false;     ///< '#' starts a comment that ends with the line
    std::string_view separators{};  ///< characters that count as blanks, besides white space
    bool byte_order_mark = true;    ///< one in front is passed over
  };

  TextScanner(std::filesystem::path path, std::string_view text, Syntax syntax);

  /// True when only blanks and comments are left.
  bool at_end() {
    skip_blanks();
    return pos_ == end_;
  }
  /// True when another word stands in the current line. Never goes past the line's end.
  bool more_on_line();
  /// Goes to the start of the next line.
  void skip_line();
  /// The same where more words stand in the current line.
  void skip_rest() {
    if (more_on_line()) skip_line();
  }
  /// Goes just behind the next occurrence of `marker` (false and no move when there is none).
  bool skip_past(std::string_view marker);

  std::string_view word(std::string_view what);
  /// The next word without taking it; empty at the end.
  std::string_view peek();
  /// The rest of the current line, trimmed; the cursor moves to the next line.
  std::string_view rest_of_line();

  double real(std::string_view what);
  /// A number of some type. What does not fit is refused.
  template <class T>
  T number(std::string_view what) {
    if constexpr (std::is_integral_v<T>) return integer<T>(what);
    const double value = real(what);
    if (const auto fitting = converted<T>(value)) return *fitting;
    bad_number(what, "in the range of its type");
  }
  /// A finite real.
  double coordinate(std::string_view what = "a coordinate");
  template <std::integral Int>
  Int integer(std::string_view what) {
    start_word(what);
    Int value{};
    const char* first = *pos_ == '+' ? pos_ + 1 : pos_;
    const auto [stop, error] = number_from(first, end_, value);
    if (error != std::errc{} || !ends_word(stop)) bad_number(what, "a whole number in range");
    pos_ = stop;
    return value;
  }
  /// A whole number that may be written as "4.0".
  template <std::integral Int>
  Int whole_number(std::string_view what) {
    const double value = real(what);
    if (const auto whole = converted<Int>(value)) return *whole;
    bad_number(what, "a whole number in range");
  }
  /// A number of things of which each takes at least `bytes_each` bytes of what is left; a larger one is refused, so
  /// that a damaged count never makes anyone allocate.
  std::size_t count(std::string_view what, std::size_t bytes_each);
  /// Refuses `number` like `count` does.
  void check_count(std::string_view what, std::uint64_t number, std::size_t bytes_each) const;
  /// A vertex id that counts from `base`, of `vertices` vertices.
  VertexId vertex(std::size_t base, std::size_t vertices) {
    const auto id = integer<std::uint64_t>("a vertex id");
    if (id < base || id - base >= vertices) bad_vertex(id, base, vertices);
    return VertexId(id - base);
  }

  /// Raw bytes, for the binary parts of mixed files.
  template <class T>
  T raw(std::string_view what) {
    if (remaining() < sizeof(T)) truncated(what);
    word_ = pos_;
    T value;
    std::memcpy(&value, pos_, sizeof(T));
    pos_ += sizeof(T);
    return value;
  }
  /// From now on messages give the byte and not the line.
  void report_bytes() { report_bytes_ = true; }

  /// Whether a block has as many rows as are asked for, or perhaps fewer.
  enum class Announced { yes, no };
  /// The next rows, each a line of its own, in chunks for several threads (text_rows.h). None where lines are not rows,
  /// where there are fewer than announced, or where one thread is enough.
  [[nodiscard]] std::vector<TextRows> cut_rows(std::size_t rows, Announced announced = Announced::yes) const;
  /// The same for rows of so many raw bytes.
  [[nodiscard]] std::vector<TextRows> cut_blocks(std::size_t rows, std::size_t row_bytes) const;
  /// A cursor over a part of the text, for another thread; it has the same lines.
  [[nodiscard]] TextScanner part(std::string_view text) const;
  /// Goes to the end of such a part, which another cursor has read.
  void go_behind(const TextScanner& part);
  /// So many rows, or fewer where what is left cannot hold them, each taking at least `bytes_each` bytes: places for
  /// rows that can be there.
  [[nodiscard]] std::size_t possible_rows(std::size_t rows, std::size_t bytes_each) const {
    return std::min(rows, remaining() / bytes_each + 1);
  }

  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - pos_); }
  /// Throws InputError at the last word read; `problem` is "problem (why); what to do".
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    fail_at_word(fmt::format(problem, std::forward<Args>(args)...));
  }
  [[noreturn]] void truncated(std::string_view what);
  /// Throws InputError where something follows the `count` things that the file announces.
  void require_end(std::string_view what, std::size_t count);

 private:
  enum Class : unsigned char { ordinary, blank, newline, comment };

  [[nodiscard]] Class kind(const char* p) const { return classes_[static_cast<unsigned char>(*p)]; }
  void skip_blanks() {
    for (; pos_ != end_ && kind(pos_) != ordinary; ++pos_) {
      if (kind(pos_) == comment) {
        skip_to_newline();
        if (pos_ == end_) return;
      }
    }
  }
  void skip_to_newline();
  /// The lines of a text that are neither blank nor comments; and the text of so many of them.
  [[nodiscard]] std::size_t rows_in(std::string_view text) const;
  [[nodiscard]] std::string_view first_rows(std::string_view text, std::size_t rows) const;
  void start_word(std::string_view what) {
    skip_blanks();
    if (pos_ == end_) truncated(what);
    word_ = pos_;
  }
  [[nodiscard]] bool ends_word(const char* p) const { return p == end_ || kind(p) != ordinary; }
  [[nodiscard]] std::string_view current_word() const;
  [[noreturn]] void fail_at_word(std::string_view problem) const;
  [[noreturn]] void bad_number(std::string_view what, std::string_view expected) const;
  [[noreturn]] void bad_vertex(std::uint64_t id, std::size_t base, std::size_t vertices) const;
  double unusual_real(std::string_view what);

  std::filesystem::path path_;
  const char* begin_;
  const char* pos_;
  const char* end_;
  const char* word_;  // where the last word started, for messages
  std::array<Class, 256> classes_{};
  bool report_bytes_ = false;
};

}  // namespace isochron
