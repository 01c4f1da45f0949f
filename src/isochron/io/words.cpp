#include "isochron/io/words.h"

#include <algorithm>
#include <numeric>

#include "isochron/core/parallel.h"
#include "isochron/io/text_rows.h"

namespace isochron {
namespace {

/// The words that begin in a part of a text. Short sums of bytes are what compilers make vectors of.
std::size_t words_beginning(std::string_view text, std::size_t begin, std::size_t end) {
  const auto blank = [&](std::size_t i) {
    return static_cast<unsigned>(text[i] == ' ') |
           static_cast<unsigned>(static_cast<unsigned char>(text[i] - '\t') < 5);
  };
  std::size_t words = begin == 0 && !text.empty() ? 1 - blank(0) : 0;
  for (std::size_t i = std::max<std::size_t>(begin, 1); i < end;) {
    unsigned char some = 0;
    for (const std::size_t stop = std::min<std::size_t>(end, i + 255); i < stop; ++i)
      some = static_cast<unsigned char>(some + (blank(i - 1) & ~blank(i) & 1U));
    words += some;
  }
  return words;
}

/// Where a word begins: the one with so many before it that begin here or later.
std::size_t place_of_word(std::string_view text, std::size_t begin, std::size_t before) {
  for (std::size_t i = begin; i < text.size(); ++i) {
    const bool starts = !is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]));
    if (starts && before-- == 0) return i;
  }
  return text.size();
}

/// Some text of a file in chunks, and the number of words that begin before each.
class Window {
 public:
  Window(std::string_view text, bool whole) : text_(text) {
    const std::size_t chunk = row_chunk_bytes(), chunks = (text.size() + chunk - 1) / chunk;
    std::vector<std::size_t> words(chunks);
    for (std::size_t c = 0; c <= chunks; ++c) places_.push_back(std::min(c * chunk, text.size()));
    parallel_tasks(usual_threads(), chunks,
                   [&](std::size_t c) { words[c] = words_beginning(text, places_[c], places_[c + 1]); });
    before_.assign(1, 0);
    std::partial_sum(words.begin(), words.end(), std::back_inserter(before_));
    words_ = before_.back();
    if (!whole && words_ > 0 && !is_blank(text.back())) --words_;  // it may go on
  }
  /// The whole words.
  [[nodiscard]] std::size_t words() const { return words_; }

  /// Gives the first words, in groups, away; `first` are before them. Returns the bytes in front of the word behind.
  std::size_t take(std::size_t words, std::size_t group, std::size_t first, const TakeWords& take) const {
    const std::size_t groups = words / group;
    parallel_tasks(usual_threads(), before_.size() - 1, [&](std::size_t c) {
      const std::size_t begin = std::min(groups, (before_[c] + group - 1) / group);
      const std::size_t end = std::min(groups, (before_[c + 1] + group - 1) / group);
      if (begin == end) return;
      const std::size_t place = place_of_word(text_, places_[c], begin * group - before_[c]);
      take(first + begin * group, (end - begin) * group, text_.substr(place));
    });
    const auto chunk = std::upper_bound(before_.begin(), before_.end(), groups * group) - before_.begin() - 1;
    return place_of_word(text_, places_[static_cast<std::size_t>(chunk)],
                         groups * group - before_[static_cast<std::size_t>(chunk)]);
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> places_, before_;
  std::size_t words_ = 0;
};

}  // namespace

void read_words(ByteReader& reader, std::size_t words, std::size_t group, const TakeWords& take) {
  std::size_t bytes = 4 * row_chunk_bytes() * static_cast<std::size_t>(usual_threads());
  for (std::size_t done = 0; done < words;) {
    const std::string_view text = reader.peek(bytes);
    const bool whole = text.size() < bytes;
    const Window window(text, whole);
    const std::size_t now = std::min(window.words(), words - done) / group * group;
    if (now > 0) {
      reader.skip(window.take(now, group, done, take));
      done += now;
    } else if (whole) {
      return take(done, group, text);
    } else {
      if (bytes > longest_word) reader.fail("a word does not end");
      bytes *= 2;
    }
  }
}

}  // namespace isochron
