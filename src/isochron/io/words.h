// The words of a text file that follow one another, read by several threads at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "isochron/io/bytes.h"

namespace isochron {

/// Takes `words` words in groups of `group`. `take(first, count, text)` gets stretches of them, which are the first
/// `count` words of a text; several threads call it at once. Where the file ends before, a stretch has fewer. If
/// several calls throw, the error of the first stretch is rethrown.
using TakeWords = std::function<void(std::size_t first, std::size_t count, std::string_view text)>;
void read_words(ByteReader& reader, std::size_t words, std::size_t group, const TakeWords& take);

}  // namespace isochron
