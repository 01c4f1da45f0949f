// Reads a JSON object of a request: hands out its values by name and type, and refuses fields that are not asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/server/wire.h"
#include "isochron/error.h"
#include "isochron/types.h"

namespace isochron::viewer {

/// A question that is not put as it should be, whatever the data: it is answered with 400.
class RequestError : public Error {
 public:
  explicit RequestError(const std::string& message) : Error(ErrorKind::usage, message) {}
};

/// Messages of the library in the words of requests: what is a field of one has the field's name.
class FieldWording : public Wording {
 public:
  [[nodiscard]] std::string setting(const Setting& setting) const override;
};

/// How many of something may be asked for.
struct Limits {
  std::uint32_t min = 0;
  std::uint32_t max = 4294967294;
};

/// Between which numbers one may be.
struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
};

/// The fields of an object. A field that is null counts as not given. All functions throw RequestError: with a name,
/// when the field is of another type, or is missing and has no default.
class Fields {
 public:
  /// In a query of an address all values are texts; numbers are read from them.
  enum class Values { typed, texts };

  /// `what` names the object in messages. The object must outlive its fields.
  explicit Fields(const Json& object, std::string what = "the request", Values values = Values::typed);

  /// The value as it is, or null.
  const Json* find(const std::string& name);
  bool has(const std::string& name) { return find(name) != nullptr; }
  /// To be called where a field is needed that is not given: throws when one is there that looks like it, but has
  /// another name.
  void check_spelling(const std::string& name) const;
  /// Throws when more than one of them is given.
  void exclude(std::initializer_list<const char*> names);
  /// Throws when not exactly one of them is given.
  void choose(std::initializer_list<const char*> names);

  /// Numbers are finite.
  double number(const std::string& name);
  double number(const std::string& name, double otherwise) { return has(name) ? number(name) : otherwise; }
  /// A number above 0.
  double positive(const std::string& name);
  /// A number from one to another, both included.
  double within(const std::string& name, Range range);
  double within(const std::string& name, double otherwise, Range range) {
    return has(name) ? within(name, range) : otherwise;
  }
  std::uint32_t whole(const std::string& name, Limits limits = {});
  std::uint32_t whole(const std::string& name, std::uint32_t otherwise, Limits limits) {
    return has(name) ? whole(name, limits) : otherwise;
  }
  /// From 1 to `max_count` numbers.
  std::vector<double> numbers(const std::string& name, std::size_t max_count);
  /// The same, where one number may stand alone.
  std::vector<double> number_or_numbers(const std::string& name, std::size_t max_count);
  Vec3d point(const std::string& name);
  /// Without control characters.
  std::string text(const std::string& name);
  std::string text(const std::string& name, const std::string& otherwise) { return has(name) ? text(name) : otherwise; }
  /// One of a few words, the first when it is not given.
  std::string word(const std::string& name, std::initializer_list<const char*> words);
  /// A name that the user chose: empty when it is not given, at most so many bytes.
  std::string label(const std::string& name, std::size_t max_length);
  Fields object(const std::string& name);
  /// A list of at most so many objects; empty when it is not given.
  std::vector<Fields> objects(const std::string& name, std::size_t max_count);

  /// The client's id.
  std::string client() { return label("client", 64); }
  /// Which of the client's questions this is: what a double counts exactly.
  std::optional<std::int64_t> sequence();

  /// The names that are given.
  [[nodiscard]] std::vector<std::string> names() const;
  /// To be called when everything was asked for: throws when there is a field of another name.
  void done() const;

 private:
  [[nodiscard]] std::string of(const std::string& name) const;
  const Json& require(const std::string& name);
  [[nodiscard]] bool known(const std::string& name) const;
  [[noreturn]] void refuse_unknown(const std::string& name, const std::vector<std::string>& candidates) const;

  const Json* object_;
  std::string what_;
  Values values_;
  std::vector<std::string> known_;
};

/// The object that a text says. Throws RequestError: no JSON, no object, nested deeper than any question needs (where
/// recursion would end the program), or a name that is there twice.
Json parse_object(const std::string& text);

}  // namespace isochron::viewer
