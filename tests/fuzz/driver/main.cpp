// libFuzzer's side. ISOCHRON_FUZZ_TARGET names the target; `isochron_fuzz --prepare FOLDER` writes the seeds and the
// dictionary of each target into a folder of its own there, and prints the names of the targets.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "fuzz/targets.h"

namespace isochron::fuzz {
namespace {

std::string dictionary_word(const std::string& word) {
  std::string result = "\"";
  for (const char c : word) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return result + "\"\n";
}

void prepare(const std::filesystem::path& folder) {
  for (const Target& target : targets()) {
    const auto seeds = folder / target.name / "seeds";
    std::filesystem::create_directories(seeds);
    int number = 0;
    for (const std::string& seed : target.seeds())
      std::ofstream(seeds / fmt::format("{:02}", number++), std::ios::binary) << seed;
    std::ofstream words(folder / target.name / "words.dict");
    for (const std::string& word : target.words) words << dictionary_word(word);
    fmt::print("{}\n", target.name);
  }
}

const Target& chosen() {
  const char* wanted = std::getenv("ISOCHRON_FUZZ_TARGET");
  for (const Target& target : targets())
    if (wanted != nullptr && target.name == wanted) return target;
  fmt::print(stderr, "set ISOCHRON_FUZZ_TARGET to one of:");
  for (const Target& target : targets()) fmt::print(stderr, " {}", target.name);
  fmt::print(stderr, "\n");
  std::exit(2);
}

}  // namespace
}  // namespace isochron::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 3 && std::string_view((*argv)[1]) == "--prepare") {
    isochron::fuzz::prepare((*argv)[2]);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const isochron::fuzz::Target& target = isochron::fuzz::chosen();
  try {
    isochron::fuzz::run(target, {reinterpret_cast<const char*>(data), size});
  } catch (const std::exception& why) {
    fmt::print(stderr, "FINDING: {}\n", why.what());
    std::abort();
  }
  return 0;
}
