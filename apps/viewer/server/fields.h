// Takes the fields of a posted object, and says plainly what is wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/server/wire.h"
#include "isochron/core/vec.h"

namespace isochron::viewer {

/// The field, or null when it is not there or null.
const Json* find_field(const Json& object, const std::string& name);

/// These throw InputError when the field is missing or of another type; numbers must be finite. Numbers and texts may
/// stand in a query, where all values are texts.
double number_field(const Json& object, const std::string& name);
double number_field(const Json& object, const std::string& name, double otherwise);
std::string text_field(const Json& object, const std::string& name);
std::string text_field(const Json& object, const std::string& name, const std::string& otherwise);
/// As above, of at most so many bytes.
std::string short_text_field(const Json& object, const std::string& name, std::size_t longest);
/// Who asks; empty when it is not said. At most 64 bytes without control characters.
std::string client_field(const Json& object);
Vec3d point_field(const Json& object, const std::string& name);
/// A whole number from 0 up to 2³²−2.
std::uint32_t id_field(const Json& object, const std::string& name);
/// A list of at least one and at most `most` numbers.
std::vector<double> number_list(const Json& value, const std::string& what, std::size_t most);

/// The number that a value is, or that its text says; `what` names it.
double as_number(const Json& value, const std::string& what);

}  // namespace isochron::viewer
