#include "fuzz/files.h"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace isochron::fuzz {
namespace {

constexpr char mark_end = 6;

struct Folder {
  fs::path path;
  Folder() {
    const fs::path memory = "/dev/shm";
    std::error_code error;
    path = fs::is_directory(memory, error) ? memory : fs::temp_directory_path();
    path /= "isochron_fuzz_" + std::to_string(::getpid());
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

template <class... Numbers>
std::string header(Numbers... numbers) {
  return bytes_of(std::vector<std::uint32_t>{static_cast<std::uint32_t>(numbers)...});
}

std::string packed(Pack how, const std::string& content) {
  if (how == Pack::zlib_base64) return test::base64(test::zipped(content));
  if (how == Pack::sized_base64) return test::base64(header(content.size()) + content);
  const std::string data = test::zipped(content);
  return test::base64(header(1, content.size(), 0, data.size())) + test::base64(data);
}

}  // namespace

const fs::path& scratch() {
  static const Folder folder;
  return folder.path;
}

fs::path put(const fs::path& name, std::string_view content) {
  fs::path path = scratch() / name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  require(!file.fail(), "cannot write " + path.string());
  return path;
}

std::vector<std::string_view> split(std::string_view input, std::size_t parts) {
  std::vector<std::string_view> result;
  while (result.size() + 1 < parts) {
    std::size_t size = 0;
    for (std::size_t k = 0; k < 2 && !input.empty(); ++k, input.remove_prefix(1))
      size |= static_cast<std::size_t>(static_cast<unsigned char>(input[0])) << (8 * k);
    result.push_back(input.substr(0, size));
    input.remove_prefix(std::min(size, input.size()));
  }
  result.push_back(input);
  return result;
}

std::string joined(const Texts& files) {
  std::string result;
  for (std::size_t i = 0; i + 1 < files.size(); ++i) {
    require(files[i].size() < 0x10000, "a seed is too large");
    for (unsigned k = 0; k < 2; ++k) result += static_cast<char>(files[i].size() >> (8 * k) & 0xff);
    result += files[i];
  }
  return result + files.back();
}

void put_all(const Texts& names, std::string_view input) {
  const std::vector<std::string_view> parts = split(input, names.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) fs::remove(scratch() / names[i]);
    else put(names[i], parts[i]);
  }
}

std::string marked(Pack how, const std::string& content) {
  const std::string start = static_cast<char>(how) + content;
  return how == Pack::gzip ? start : start + mark_end;
}

std::string gzipped(std::string_view content) { return test::zipped(std::string(content), test::Packed::gzip); }

std::string with_packed_parts(std::string_view input) {
  std::string result;
  while (!input.empty()) {
    const char first = input[0];
    input.remove_prefix(1);
    if (first < static_cast<char>(Pack::vtk_blocks) || first > static_cast<char>(Pack::gzip)) {
      result += first;
      continue;
    }
    if (first == static_cast<char>(Pack::gzip)) return result + gzipped(input);
    const std::size_t size = std::min(input.find(mark_end), input.size());
    result += packed(static_cast<Pack>(first), std::string(input.substr(0, size)));
    input.remove_prefix(std::min(size + 1, input.size()));
  }
  return result;
}

}  // namespace isochron::fuzz
