#include "fuzz/targets.h"

#include <algorithm>

#include "fuzz/memory.h"
#include "isochron/error.h"
#include "isochron/io/bytes.h"
#include "isochron/io/text_rows.h"

namespace isochron::fuzz {
namespace {

constexpr std::size_t max_unpacked = std::size_t{1} << 18;
/// What readers, writers and the comparison take whatever the size; readers alone are held to less (ReaderMemory).
constexpr std::size_t constant_memory = std::size_t{4} << 20;

void check_message(const std::string& message) {
  const bool one_line =
      std::none_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
  require(!message.empty() && one_line, "the message is not one line: " + message);
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> result;
    for (const auto& some : {mesh_targets(), image_targets(), table_targets(), text_targets()})
      result.insert(result.end(), some.begin(), some.end());
    return result;
  }();
  return all;
}

void run(const Target& target, std::string_view input) {
  // Half of the inputs are cut into chunks of rows, as files of megabytes are.
  set_row_chunk_bytes(input.size() % 2 == 0 ? 48 : 0);
  const UnpackLimit limit(max_unpacked);
  MemoryCount memory;
  try {
    target.work(input);
  } catch (const Error& error) {
    check_message(error.what());
    require(error.kind() == ErrorKind::input || error.kind() == ErrorKind::usage,
            std::string("an error of another kind: ") + error.what());
  }
  const std::size_t data = input.size() + max_unpacked - UnpackLimit::left();
  require(memory.peak() <= 4 * data + constant_memory,
          "took " + std::to_string(memory.peak()) + " bytes for " + std::to_string(data));
}

}  // namespace isochron::fuzz
