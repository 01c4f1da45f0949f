// Strips of the faces around a vertex (paper 003 section 3.2.1): a face shares all its vertices but one with the face
// before it, so that one number more names it. Triangles make triangle strips; the edges around a vertex of a surface
// make polylines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/types.h"

namespace isochron {

/// A word of a strip is the number of a vertex and one of two flags, or `end`.
struct StripWord {
  static constexpr std::uint16_t start = 0x8000;  ///< a new strip begins; without a cost in repeated vertices
  static constexpr std::uint16_t turn = 0x4000;   ///< the next triangle keeps the oldest vertex, not the middle one
  static constexpr std::uint16_t end = start | turn;
  static constexpr std::uint16_t vertex = 0x3fff;

  /// Numbers that a word can hold.
  static constexpr std::uint32_t vertices = vertex + 1;
};

/// The last vertices of a strip, each with its time. A strip of n faces has n + Corners − 2 words.
template <int Corners, class T>
struct StripWindow {
  std::uint32_t vertex[Corners - 1]{};
  T time[Corners - 1]{};
  int held = 0;

  /// Takes a word in, not `end`. True when the vertices held are a face.
  ISOCHRON_HD bool take(std::uint16_t word, const T* times) {
    constexpr int last = Corners - 2;
    if ((word & StripWord::start) != 0) held = 0;
    if (Corners == 4 && (word & StripWord::turn) == 0) {
      vertex[0] = vertex[1];
      time[0] = time[1];
    }
    vertex[last - 1] = vertex[last];
    time[last - 1] = time[last];
    vertex[last] = word & StripWord::vertex;
    time[last] = times[vertex[last]];
    held = held < Corners - 1 ? held + 1 : held;
    return held == Corners - 1;
  }
};

/// Makes strips of the faces around one vertex after another.
template <int Corners>
class StripMaker {
 public:
  using Face = std::array<std::uint32_t, Corners - 1>;

  struct Strips {
    std::vector<std::uint16_t> words;
    std::vector<std::uint32_t> order;  ///< of the faces as the words name them
  };

  /// All faces, each once. A strip goes on to the neighbour with the fewest free neighbours of its own, and a new one
  /// starts at the face with the fewest. It does not cross what more than two faces share. The result depends on the
  /// order of the faces alone, and stays until the next call. Linear in the number of faces where they lie in a
  /// surface. The vertices of a face differ and are below `StripWord::vertices`.
  const Strips& make(std::span<const Face> faces);

 private:
  static constexpr int sides = Corners - 1;  ///< of a face: side k is opposite its vertex k
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void list_faces();
  [[nodiscard]] std::uint32_t face_across(std::uint32_t face, int side) const;
  [[nodiscard]] std::uint32_t next_start();
  void walk(std::uint32_t face);
  void use(std::uint32_t face);
  [[nodiscard]] int best_side(std::uint32_t face, std::uint32_t allowed) const;

  std::span<const Face> faces_;
  Strips result_;
  std::vector<std::uint32_t> begin_, count_, list_, touched_;  ///< the faces at each vertex
  std::vector<std::array<std::uint32_t, sides>> neighbour_;
  std::vector<std::uint8_t> free_, used_;                      ///< by face: how many neighbours are not used
  std::array<std::vector<std::uint32_t>, sides + 1> by_free_;  ///< faces by that; out of date where it changed
};

}  // namespace isochron
