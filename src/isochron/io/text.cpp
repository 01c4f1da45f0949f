#include "isochron/io/text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace isochron {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

std::string percent_code(char c) { return fmt::format("%{:02X}", static_cast<unsigned char>(c)); }

std::string percent_encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool plain = c > ' ' && c <= '~' && c != '"' && c != '%' && c != '#';
    text += plain ? std::string(1, c) : percent_code(c);
  }
  return text;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      name += static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2]));
      i += 2;
    } else {
      name += text[i];
    }
  }
  return name;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (auto word = next_word(text); !word.empty(); word = next_word(text)) words.push_back(word);
  return words;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 32;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > longest ? "...'" : "'");
}

std::optional<double> parse_real(std::string_view text) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  const bool too_large = error == std::errc::result_out_of_range && std::isinf(value);  // else too small: nearly zero
  return too_large ? std::nullopt : std::optional(value);
}

TextScanner::TextScanner(std::filesystem::path path, std::string_view text, Syntax syntax)
    : path_(std::move(path)), begin_(text.data()), pos_(begin_), end_(begin_ + text.size()), word_(begin_) {
  if (syntax.byte_order_mark && text.starts_with("\xef\xbb\xbf"))
    pos_ += 3;  // a byte order mark that some editors leave
  for (std::size_t c = 0; c <= ' '; ++c) classes_[c] = blank;
  for (const char c : syntax.separators) classes_[static_cast<unsigned char>(c)] = blank;
  classes_['\n'] = newline;
  if (syntax.hash_comments) classes_['#'] = comment;
}

void TextScanner::skip_to_newline() {
  const void* found = std::memchr(pos_, '\n', remaining());
  pos_ = found == nullptr ? end_ : static_cast<const char*>(found);
}

bool TextScanner::more_on_line() {
  while (pos_ != end_ && kind(pos_) == blank) ++pos_;
  if (pos_ != end_ && kind(pos_) == comment) skip_to_newline();
  return pos_ != end_ && kind(pos_) == ordinary;
}

void TextScanner::skip_line() {
  skip_to_newline();
  if (pos_ != end_) ++pos_;
}

bool TextScanner::skip_past(std::string_view marker) {
  const std::string_view left(pos_, remaining());
  const std::size_t found = left.find(marker);
  if (found == std::string_view::npos) return false;
  pos_ += found + marker.size();
  return true;
}

std::string_view TextScanner::current_word() const {
  const char* stop = word_;
  while (!ends_word(stop)) ++stop;
  return {word_, static_cast<std::size_t>(stop - word_)};
}

std::string_view TextScanner::word(std::string_view what) {
  start_word(what);
  const std::string_view result = current_word();
  pos_ += result.size();
  return result;
}

std::string_view TextScanner::peek() {
  skip_blanks();
  word_ = pos_;
  return current_word();
}

std::string_view TextScanner::rest_of_line() {
  while (pos_ != end_ && kind(pos_) == blank) ++pos_;
  word_ = pos_;
  skip_line();
  const char* stop = pos_;
  while (stop != word_ && static_cast<unsigned char>(stop[-1]) <= ' ') --stop;
  return {word_, static_cast<std::size_t>(stop - word_)};
}

double TextScanner::real(std::string_view what) {
  start_word(what);
  double value = 0;
  const auto [stop, error] = std::from_chars(pos_, end_, value);
  if (error != std::errc{} || !ends_word(stop)) return unusual_real(what);
  pos_ = stop;
  return value;
}

// "+1.5", Fortran's "1.5D+03", and numbers too small for a double, which become zero.
double TextScanner::unusual_real(std::string_view what) {
  std::string text(current_word());
  std::replace(text.begin(), text.end(), 'D', 'e');
  std::replace(text.begin(), text.end(), 'd', 'e');
  const std::optional<double> value = parse_real(text);
  if (!value) bad_number(what, "a number in range");
  pos_ = word_ + text.size();
  return *value;
}

double TextScanner::coordinate(std::string_view what) {
  const double value = real(what);
  if (!std::isfinite(value)) fail("{} is {} (it must be finite); repair or export the file again", what, value);
  return value;
}

std::size_t TextScanner::count(std::string_view what, std::size_t bytes_each) {
  const auto number = integer<std::uint64_t>(what);
  check_count(what, number, bytes_each);
  return static_cast<std::size_t>(number);
}

void TextScanner::check_count(std::string_view what, std::uint64_t number, std::size_t bytes_each) const {
  if (number > remaining() / bytes_each + 1 || number >= VertexId::invalid_value)
    fail("{} {} cannot be right (only {} bytes follow); the file is truncated or damaged: export it again", what,
         number, remaining());
}

void TextScanner::fail_at_word(std::string_view problem) const {
  const auto place = report_bytes_ ? word_ - begin_ : 1 + std::count(begin_, word_, '\n');
  bad_file(path_, "{} {}: {}", report_bytes_ ? "byte" : "line", place, problem);
}

void TextScanner::truncated(std::string_view what) {
  word_ = end_;
  fail("the file ends early ({} was expected); it is truncated: copy or export it again", what);
}

void TextScanner::require_end(std::string_view what, std::size_t count) {
  if (at_end()) return;
  start_word(what);
  fail("more follows than the {} that are announced ({}); correct the number, or export the file again", what, count);
}

void TextScanner::bad_number(std::string_view what, std::string_view expected) const {
  fail("{} is not {} ({} was expected); repair or export the file again", in_quotes(current_word()), expected, what);
}

void TextScanner::bad_vertex(std::uint64_t id, std::size_t base, std::size_t vertices) const {
  if (vertices == 0) fail("vertex id {} (there are no vertices before it); export the file again", id);
  fail("vertex id {} is out of range (the file has vertices {} to {}); repair or export it again", id, base,
       base + vertices - 1);
}

}  // namespace isochron
