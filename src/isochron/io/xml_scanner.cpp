#include "isochron/io/xml_scanner.h"

#include <algorithm>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/io/text_tools.h"

namespace isochron {
namespace {

constexpr std::string_view blanks = " \t\r\n";

}  // namespace

std::optional<std::string_view> XmlEvent::attribute(std::string_view wanted) const {
  std::string_view left = attributes;
  for (;;) {
    const std::size_t equals = left.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name_found = trimmed(left.substr(0, equals));
    const std::size_t begin = left.find_first_of("\"'", equals);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = left.find(left[begin], begin + 1);
    if (end == std::string_view::npos) return std::nullopt;
    if (name_found == wanted) return left.substr(begin + 1, end - begin - 1);
    left.remove_prefix(end + 1);
  }
}

void XmlScanner::fail(std::string_view problem) const {
  throw InputError(
      fmt::format("{}: {}; the file may be cut short or damaged, get or write it again", path_.string(), problem));
}

std::string_view XmlScanner::up_to(std::string_view marker) {
  const std::size_t at = text_.find(marker);
  if (at == std::string_view::npos) fail("the XML text ends too early");
  const std::string_view before = text_.substr(0, at);
  text_.remove_prefix(at + marker.size());
  return before;
}

std::string_view XmlScanner::rest_of_tag() {
  char quote = 0;  // inside the value of an attribute
  for (std::size_t at = 0; at < text_.size(); ++at) {
    const char c = text_[at];
    if (quote == 0 && c == '>') {
      const std::string_view tag = text_.substr(0, at);
      text_.remove_prefix(at + 1);
      return tag;
    }
    if (quote == 0 && (c == '"' || c == '\'')) quote = c;
    else if (c == quote) quote = 0;
  }
  fail("the XML text ends too early");
}

XmlEvent XmlScanner::next() {
  for (;;) {
    if (text_.find('<') == std::string_view::npos) return {};
    up_to("<");
    if (text_.starts_with("!--")) {
      up_to("-->");
    } else if (text_.starts_with("![CDATA[")) {
      up_to("]]>");
    } else if (text_.starts_with('!') || text_.starts_with('?')) {
      up_to(">");
    } else {
      break;
    }
  }
  std::string_view tag = rest_of_tag();
  XmlEvent event{XmlEvent::Kind::open, {}, {}, false};
  if (tag.starts_with('/')) {
    event.kind = XmlEvent::Kind::close;
    tag.remove_prefix(1);
  } else if (tag.ends_with('/')) {
    event.empty = true;
    tag.remove_suffix(1);
  }
  tag = trimmed(tag);
  const std::size_t end = std::min(tag.find_first_of(blanks), tag.size());
  event.name = tag.substr(0, end);
  event.attributes = tag.substr(end);
  return event;
}

std::string_view XmlScanner::text() {
  constexpr std::string_view cdata = "<![CDATA[";
  const std::size_t first = std::min(text_.find_first_not_of(blanks), text_.size());
  if (text_.substr(first).starts_with(cdata)) {
    text_.remove_prefix(first + cdata.size());
    return trimmed(up_to("]]>"));
  }
  const std::size_t end = std::min(text_.find('<'), text_.size());
  const std::string_view result = trimmed(text_.substr(0, end));
  text_.remove_prefix(end);
  return result;
}

}  // namespace isochron
