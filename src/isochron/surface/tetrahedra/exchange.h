// What passes between the library and the helper program that holds Netgen: two files in the machine's own byte order.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "isochron/error.h"
#include "isochron/tetrahedra.h"
#include "isochron/types.h"

namespace isochron {

struct TetRequest {
  static constexpr std::uint64_t mark = 0x3151'4E4F'4853'4F49ULL;
  std::vector<Vec3d> points;
  std::vector<std::array<std::uint32_t, 3>> triangles;  ///< closed, seen counter-clockwise from outside
  std::vector<SizePoint> sizes;
  double largest = 0;  ///< edges are no longer, anywhere
  double grading = 0;  ///< how fast sizes may grow away from small ones
  std::int32_t optimisation_steps = 0;

  template <class Visit>
  void each(Visit&& visit) {
    visit(points);
    visit(triangles);
    visit(sizes);
    visit(largest);
    visit(grading);
    visit(optimisation_steps);
  }
};

struct TetAnswer {
  static constexpr std::uint64_t mark = 0x3141'4E4F'4853'4F49ULL;
  std::vector<Vec3d> points;
  std::vector<std::array<std::uint32_t, 4>> tets;

  template <class Visit>
  void each(Visit&& visit) {
    visit(points);
    visit(tets);
  }
};

namespace exchange {

template <class T>
void put(std::ostream& file, const T& value) {
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void put(std::ostream& file, const std::vector<T>& values) {
  put(file, static_cast<std::uint64_t>(values.size()));
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}
template <class T>
void get(std::istream& file, T& value) {
  file.read(reinterpret_cast<char*>(&value), sizeof value);
}
template <class T>
void get(std::istream& file, std::vector<T>& values) {
  std::uint64_t count = 0;
  get(file, count);
  if (!file || count > (1ULL << 32)) return file.setstate(std::ios::failbit);
  values.resize(count);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
}

/// Throws RuntimeError when the file cannot be written.
template <class Message>
void save(const std::filesystem::path& name, Message& message) {
  std::ofstream file(name, std::ios::binary);
  put(file, Message::mark);
  message.each([&](const auto& part) { put(file, part); });
  file.close();
  if (!file)
    throw RuntimeError(name.string() +
                       ": cannot be written (the disk may be full); free some space there or set TMPDIR");
}

/// Throws RuntimeError when the file is not there or not whole.
template <class Message>
Message load(const std::filesystem::path& name) {
  std::ifstream file(name, std::ios::binary);
  std::uint64_t mark = 0;
  get(file, mark);
  Message message;
  if (mark == Message::mark) message.each([&](auto& part) { get(file, part); });
  if (!file || mark != Message::mark)
    throw RuntimeError(name.string() + ": not a whole file (the program that writes it stopped early); run it again");
  return message;
}

}  // namespace exchange

}  // namespace isochron
