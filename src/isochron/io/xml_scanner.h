// Walks through the elements of a simple XML text.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace isochron {

/// What comes next in an XML text.
struct XmlEvent {
  enum class Kind { open, close, end };
  Kind kind = Kind::end;
  std::string_view name;        ///< of the element
  std::string_view attributes;  ///< the text behind the name
  bool empty = false;           ///< an element that closes itself; no `close` follows

  /// The value of an attribute as it stands there.
  [[nodiscard]] std::optional<std::string_view> attribute(std::string_view wanted) const;
};

/// A cursor over a text that must outlive it. Comments, declarations and entities are passed over or left as they are.
/// Throws InputError that begins with the path.
class XmlScanner {
 public:
  XmlScanner(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  /// The next tag; text between tags is passed over.
  XmlEvent next();
  /// The text from here to the next tag, without white space around it and without CDATA brackets.
  std::string_view text();

  [[noreturn]] void fail(std::string_view problem) const;

 private:
  std::string_view up_to(std::string_view marker);  ///< Takes the text before the marker and the marker.
  std::string_view rest_of_tag();  ///< Takes the text up to the end of a tag, and that; values may have '>' in them.

  const std::filesystem::path& path_;
  std::string_view text_;
};

}  // namespace isochron
