#include "isochron/io/printed_text.h"

#include <iterator>

#include <fmt/compile.h>

namespace isochron {

PrintedText& PrintedText::operator<<(double value) {
  fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), value);
  return *this;
}

PrintedText& PrintedText::operator<<(float value) {
  fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), value);
  return *this;
}

}  // namespace isochron
