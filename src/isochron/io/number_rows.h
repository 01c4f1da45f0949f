// Tables of numbers in text files.
#pragma once

#include <filesystem>
#include <vector>

#include "isochron/mesh/image.h"

namespace isochron {

/// The numbers of each line that has some, separated by blanks or commas; '#' starts a comment. NaN and infinity are
/// numbers here. Throws InputError for words that are none, with the line.
std::vector<std::vector<double>> read_number_rows(const std::filesystem::path& path);

/// A flat image from such a table: the first axis runs along the lines, the second from line to line. The first voxel
/// is at the origin, pixels are 1 apart, values are float32. Throws InputError unless there are two lines or more, all
/// of one length.
Image read_text_image(const std::filesystem::path& path);

}  // namespace isochron
