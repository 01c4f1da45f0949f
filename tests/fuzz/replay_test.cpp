// Every target on its seeds, on the inputs that once went wrong, on those that fuzzing has kept, and on seeds with
// changes. No libFuzzer is needed.
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fuzz/files.h"
#include "fuzz/targets.h"
#include "isochron/core/random.h"

namespace isochron::fuzz {
namespace TEST_FILE {

constexpr int changes_of_each_target = 300;

void expect_no_finding(const Target& target, const std::string& input, const std::string& which) {
  try {
    run(target, input);
  } catch (const std::exception& why) {
    ADD_FAILURE() << target.name << ", " << which << ": " << why.what();
  }
}

const Target* find_target(const std::string& name) {
  for (const Target& target : targets())
    if (target.name == name) return &target;
  return nullptr;
}

/// Changes, cuts out, doubles and exchanges bytes, and puts in words of the format.
class Mutator {
 public:
  Mutator(const Target& target, Texts seeds, std::uint64_t seed)
      : target_(target), seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t steps = 1 + below(4); steps > 0; --steps) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  char byte() {
    constexpr std::string_view plausible = "0123456789-.e \n,:\"<>\xff";
    return below(2) == 0 ? static_cast<char>(random_.bits()) : plausible[below(plausible.size())];
  }
  void change(std::string& text) {
    if (text.empty()) text += byte();
    const std::size_t at = below(text.size()), length = 1 + below(16);
    switch (below(6)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, text.substr(at, length)); break;
      case 2: text.resize(at); break;
      case 3: text.insert(at, target_.words.empty() ? "4294967295" : target_.words[below(target_.words.size())]); break;
      case 4: {
        const std::string& other = seeds_[below(seeds_.size())];
        text.replace(at, length, other.substr(std::min(at, other.size()), length));
        break;
      }
      default: text[at] = byte();
    }
  }

  const Target& target_;
  Texts seeds_;
  Random random_;
};

/// Removes what makes a file of findings readable: line ends, and backslashes with what they stand for.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') continue;
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char code = text[++i];
    if (code == 'n') result += '\n';
    else if (code == 'x')
      result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)), i += 2;
    else result += code;
  }
  return result;
}

TEST(Fuzz, SeedsAreReadWell) {
  for (const Target& target : targets()) {
    const Texts seeds = target.seeds();
    EXPECT_FALSE(seeds.empty()) << target.name;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const std::string which = fmt::format("seed {}", i);
      EXPECT_NO_THROW(target.work(seeds[i])) << target.name << ", " << which;
      expect_no_finding(target, seeds[i], which);
    }
    expect_no_finding(target, "", "nothing");
  }
}

TEST(Fuzz, ChangedSeedsEndWell) {
  for (const Target& target : targets()) {
    Mutator mutator(target, target.seeds(), 1);
    for (int i = 0; i < changes_of_each_target; ++i)
      expect_no_finding(target, mutator.next(), fmt::format("change {}", i));
  }
}

// A file has a line that says what it was, a line with the target's name, and then the input with escapes.
TEST(Fuzz, PastFindingsEndWell) {
  std::size_t findings = 0;
  for (const auto& entry : fs::directory_iterator(ISOCHRON_SOURCE_DIR "/tests/fuzz/findings")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string what, name;
    std::getline(file, what);
    std::getline(file, name);
    const Target* target = find_target(name);
    ASSERT_NE(target, nullptr) << entry.path() << ": there is no target '" << name << "'";
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    expect_no_finding(*target, unescaped(text), entry.path().filename().string());
    ++findings;
  }
  EXPECT_GT(findings, 0U);
}

// Of each target the archive has a file: inputs, each after a line with its number of bytes (scripts/fuzz.py).
TEST(Fuzz, KeptInputsEndWell) {
  for (const Target& target : targets()) {
    std::ifstream file(fs::path(ISOCHRON_FUZZ_CORPUS) / target.name, std::ios::binary);
    std::size_t inputs = 0;
    for (std::size_t size = 0; file >> size; ++inputs) {
      std::string text(size, '\0');
      ASSERT_TRUE(file.get() == '\n' && file.read(text.data(), static_cast<std::streamsize>(size))) << target.name;
      expect_no_finding(target, text, fmt::format("kept input {}", inputs));
    }
    EXPECT_GT(inputs, 0U) << target.name << ": kept inputs are missing; scripts/fuzz.py --pack writes them";
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::fuzz
