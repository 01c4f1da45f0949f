#include "isochron/io/text_rows.h"

#include <algorithm>
#include <atomic>

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

constexpr std::size_t usual_chunk_bytes = std::size_t{1} << 18;
constexpr std::size_t usual_row_bytes = 24;
std::atomic<std::size_t> chunk_bytes{0};

/// Whether so many bytes are worth reading in chunks.
bool worth_cutting(std::size_t bytes, std::size_t rows) {
  if (chunk_bytes != 0) return rows > 1;
  return bytes >= 4 * usual_chunk_bytes && rows >= 4096;
}

}  // namespace

std::size_t row_chunk_bytes() { return chunk_bytes == 0 ? usual_chunk_bytes : chunk_bytes.load(); }
void set_row_chunk_bytes(std::size_t bytes) { chunk_bytes = bytes; }

std::size_t read_chunks(std::size_t chunks, const std::function<bool(std::size_t)>& read) {
  std::atomic<std::size_t> failed{chunks};
  parallel_tasks(usual_threads(), chunks, [&](std::size_t c) {
    std::size_t first = failed;
    if (c > first || read(c)) return;
    while (c < first && !failed.compare_exchange_weak(first, c)) {
    }
  });
  return failed;
}

std::vector<TextRows> cut_window(ByteReader& reader, std::size_t rows, std::size_t row_bytes) {
  const std::size_t bytes = 8 * row_chunk_bytes() * static_cast<std::size_t>(usual_threads());
  std::string_view text = reader.peek(bytes);
  if (row_bytes == 0 && text.size() >= bytes) text = text.substr(0, text.rfind('\n') + 1);
  const TextScanner in(reader.path(), text, {.byte_order_mark = false});
  if (row_bytes == 0) return in.cut_rows(rows, TextScanner::Announced::no);
  return in.cut_blocks(std::min(rows, text.size() / row_bytes), row_bytes);
}

std::size_t TextScanner::rows_in(std::string_view text) const {
  std::size_t rows = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    while (p != end && kind(p) == blank) ++p;
    if (p == end) break;
    if (kind(p) == ordinary) ++rows;
    const void* line_end = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    p = line_end == nullptr ? end : static_cast<const char*>(line_end) + 1;
  }
  return rows;
}

std::string_view TextScanner::first_rows(std::string_view text, std::size_t rows) const {
  std::size_t taken = 0;
  while (rows > 0) {  // the text has as many
    const std::size_t line_end = text.find('\n', taken);
    const std::size_t behind = line_end == std::string_view::npos ? text.size() : line_end + 1;
    rows -= rows_in(text.substr(taken, behind - taken));
    taken = behind;
  }
  return text.substr(0, taken);
}

std::vector<TextRows> TextScanner::cut_rows(std::size_t rows, Announced announced) const {
  const bool one_thread = usual_threads() == 1 && chunk_bytes == 0;
  if (!worth_cutting(remaining(), rows) || (one_thread && announced == Announced::yes)) return {};
  TextScanner start = *this;
  if (pos_ != begin_ && pos_[-1] != '\n') {
    if (start.more_on_line()) return {};
    start.skip_line();
  }
  const std::size_t chunk = row_chunk_bytes();
  std::vector<TextRows> result;
  std::string_view left(start.pos_, start.remaining());
  for (std::size_t found = 0; found < rows;) {
    if (left.empty()) return announced == Announced::yes ? std::vector<TextRows>() : result;
    // As many chunks as the rows may fill, since others may follow that are counted in vain.
    const std::size_t max_chunks = 8 * static_cast<std::size_t>(usual_threads());
    const std::size_t wanted = std::clamp<std::size_t>((rows - found) * usual_row_bytes / chunk + 1, 1, max_chunks);
    const std::size_t before = result.size();
    while (!left.empty() && result.size() < before + wanted) {
      const std::size_t line_end = left.size() <= chunk ? std::string_view::npos : left.find('\n', chunk - 1);
      const std::string_view text = left.substr(0, line_end == std::string_view::npos ? line_end : line_end + 1);
      result.push_back({text, 0, 0});
      left.remove_prefix(text.size());
    }
    parallel_tasks(usual_threads(), result.size() - before,
                   [&](std::size_t i) { result[before + i].count = rows_in(result[before + i].text); });
    for (std::size_t c = before; c < result.size(); ++c) {
      result[c].first = found;
      if (found + result[c].count >= rows) {
        result[c].text = first_rows(result[c].text, rows - found);
        result[c].count = rows - found;
        result.resize(c + 1);
      }
      found += result[c].count;
    }
  }
  return result;
}

std::vector<TextRows> TextScanner::cut_blocks(std::size_t rows, std::size_t row_bytes) const {
  std::vector<TextRows> result;
  if (rows > remaining() / row_bytes || !worth_cutting(rows * row_bytes, rows)) return result;
  const std::size_t each = std::max<std::size_t>(1, row_chunk_bytes() / row_bytes);
  for (std::size_t first = 0; first < rows; first += each) {
    const std::size_t count = std::min(each, rows - first);
    result.push_back({{pos_ + first * row_bytes, count * row_bytes}, first, count});
  }
  return result;
}

TextScanner TextScanner::part(std::string_view text) const {
  TextScanner result = *this;
  result.pos_ = result.word_ = text.data();
  result.end_ = text.data() + text.size();
  return result;
}

void TextScanner::go_behind(const TextScanner& part) {
  pos_ = part.end_;
  word_ = part.word_;
}

}  // namespace isochron
