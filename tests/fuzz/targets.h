// What is fuzzed: every reader of files, and the parsers of text that a user or a stranger gives.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace isochron::fuzz {

using Bytes = std::span<const std::uint8_t>;
using Texts = std::vector<std::string>;

struct Target {
  std::string name;
  std::function<void(std::string_view)> work;  ///< may throw an Error about the input; anything else is a finding
  std::function<Texts()> seeds;                ///< good inputs
  Texts words;                                 ///< of the format, for its dictionary
};

/// Something happened that no input may cause.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Finding(what);
}

const std::vector<Target>& targets();

/// Lets a target work on an input. An Error that is one line is how bad input ends. Throws Finding for other errors,
/// and where memory is counted (with the address sanitizer) when it takes more than four times the data and a constant.
void run(const Target& target, std::string_view input);

// The parts of `targets`.
std::vector<Target> mesh_targets();
std::vector<Target> image_targets();
std::vector<Target> table_targets();
std::vector<Target> text_targets();

}  // namespace isochron::fuzz
