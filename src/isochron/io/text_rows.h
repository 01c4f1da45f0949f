// The rows of a text or binary block, read by several threads at once.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "isochron/io/bytes.h"
#include "isochron/io/text.h"

namespace isochron {

/// How many bytes one thread reads at a time. Tests make it small, to cut small files too; 0: the usual number.
std::size_t row_chunk_bytes();
void set_row_chunk_bytes(std::size_t bytes);

/// Calls `read(chunk)`, which says whether that went well, on several threads. Returns the first chunk that failed, or
/// their number; all before it were read.
std::size_t read_chunks(std::size_t chunks, const std::function<bool(std::size_t)>& read);

/// The next rows of a file that a window holds, in chunks for several threads; none where one is enough. The texts live
/// until the next call of the reader.
std::vector<TextRows> cut_window(ByteReader& reader, std::size_t rows, std::size_t row_bytes);

/// For rows that leave nothing but what they put into its place.
struct NoPart {};

/// Reads the next `rows` rows: calls `read(in, row, part)` for each. Where each row is a line of its own, or
/// `row_bytes` bytes of a binary block (0: text), several threads do so at once. Each part collects what the rows of a
/// stretch leave; the result has them in order. `read` must refer to no other row: a row may be read again, into a
/// fresh part. Where it throws, the error of the first row that cannot be read is the one that is seen. Where fewer
/// rows have `places` (`possible_rows`), they cannot all be there, and one thread reads up to the error.
template <class Part, class Read>
std::vector<Part> read_rows(TextScanner& in, std::size_t rows, std::size_t row_bytes, const Read& read,
                            std::size_t places) {
  std::vector<TextRows> chunks;
  if (places >= rows) chunks = row_bytes > 0 ? in.cut_blocks(rows, row_bytes) : in.cut_rows(rows);
  std::vector<Part> parts(chunks.size());
  std::optional<TextScanner> last;  // of the last chunk
  const std::size_t good = read_chunks(chunks.size(), [&](std::size_t c) {
    TextScanner own = in.part(chunks[c].text);
    Part part{};  // not in its place yet: neighbours would share cache lines
    if constexpr (requires { part.reserve(chunks[c].count); }) part.reserve(chunks[c].count);
    try {
      for (std::size_t i = 0; i < chunks[c].count; ++i) read(own, chunks[c].first + i, part);
    } catch (const InputError&) {
      return false;
    }
    parts[c] = std::move(part);
    const bool whole = row_bytes > 0 ? own.remaining() == 0 : own.at_end();
    if (c + 1 == chunks.size()) last = std::move(own);
    return whole;
  });
  parts.resize(good);
  std::size_t row = good > 0 ? chunks[good - 1].first + chunks[good - 1].count : 0;
  if (good > 0) in.go_behind(good == chunks.size() ? *last : in.part(chunks[good - 1].text));
  constexpr std::size_t rows_of_part = std::size_t{1} << 16;  // short lists do not move far when they grow
  while (row < rows) {
    Part& part = parts.emplace_back();
    for (const std::size_t end = std::min(rows, row + rows_of_part); row < end; ++row) read(in, row, part);
  }
  return parts;
}

/// The same where all rows have places.
template <class Part, class Read>
std::vector<Part> read_rows(TextScanner& in, std::size_t rows, std::size_t row_bytes, const Read& read) {
  return read_rows<Part>(in, rows, row_bytes, read, rows);
}

/// The same for rows that leave no part: `read(in, row)`.
template <class Read>
void read_rows(TextScanner& in, std::size_t rows, std::size_t row_bytes, const Read& read, std::size_t places) {
  read_rows<NoPart>(
      in, rows, row_bytes, [&](TextScanner& own, std::size_t row, NoPart&) { read(own, row); }, places);
}
template <class Read>
void read_rows(TextScanner& in, std::size_t rows, std::size_t row_bytes, const Read& read) {
  read_rows(in, rows, row_bytes, read, rows);
}

/// Where the cursor of a file is behind rows that are lines.
enum class RowsEnd { line, word };

/// Reads the first of so many rows of a file from a window of it: `read(rows, part)` reads a chunk and says whether
/// that went well; several threads call it at once. Rows are lines, or `row_bytes` bytes each. Takes what was read off
/// the file and returns how many rows that are; those behind must be read one by one.
template <class Part, class Read>
std::size_t read_window(ByteReader& reader, std::size_t rows, std::size_t row_bytes, RowsEnd end,
                        std::vector<Part>& parts, const Read& read) {
  const std::vector<TextRows> chunks = cut_window(reader, rows, row_bytes);
  const std::size_t before = parts.size();
  parts.resize(before + chunks.size());
  const std::size_t good = read_chunks(chunks.size(), [&](std::size_t c) {
    Part part{};
    try {
      if (!read(chunks[c], part)) return false;
    } catch (const InputError&) {
      return false;
    }
    parts[before + c] = std::move(part);
    return true;
  });
  parts.resize(before + good);
  if (good == 0) return 0;
  TextRows last = chunks[good - 1];
  while (end == RowsEnd::word && row_bytes == 0 && !last.text.empty() && is_blank(last.text.back()))
    last.text.remove_suffix(1);
  reader.skip(static_cast<std::size_t>(last.text.data() + last.text.size() - reader.peek(1).data()));
  return last.first + last.count;
}

}  // namespace isochron
