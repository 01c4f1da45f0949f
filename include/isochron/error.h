// The exceptions that the library throws, and the messages in them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace isochron {

// ---- Messages that name things a front end has its own words for: an option, a place in the data, the metric.

/// What a caller can set. Each front end (command, Python, viewer) has its own name for it.
enum class Option {
  source,  ///< where the front starts, in any form
  method,
  backend,
  precision,
  threads,
  scheme,
  order,
  tolerance,
  source_init,
  split_obtuse,
  unordered,  ///< what fast marching does where its order does not hold
  storage,
  layout,
  partitioner,
  mask,
  mask_array,
  speed,
  speed_array,
  fibers,
  sheets,
  velocity,
  region_array,
  allow_zero_fibers,
  tensor_order,
  max_particles,
  tetrahedra,
  replace  ///< write over files that exist
};

/// An option, and the value that it should have (empty: the option as such).
struct Setting {
  Option option;
  std::string value = {};
};

/// One vertex, element or voxel, or an index in an image that is no voxel's (outside it, or between voxels).
struct Place {
  enum class Kind : std::uint8_t { vertex, element, voxel, index };
  Kind kind = Kind::vertex;
  /// The id; of a voxel or index the three numbers along the axes of the image.
  std::array<double, 3> index{};
};

/// What the message is about.
enum class Subject : std::uint8_t { metric };

/// Something to do first that has a command or a function of its own. It is said as a whole phrase.
enum class Task : std::uint8_t { inspect_file, fit_tensors };

/// Stands between a problem and what to do about it; said as "; ".
struct Advice {};

/// Text with settings, places, subjects and tasks in it. Built with `+`: "use " + Setting{Option::method, "banded"}.
class Message {
 public:
  using Part = std::variant<std::string, Setting, Place, Subject, Task, Advice>;

  Message() = default;
  Message(std::string text) { add(std::move(text)); }        // NOLINT(google-explicit-constructor)
  Message(const char* text) : Message(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Message(Setting setting) { add(std::move(setting)); }      // NOLINT(google-explicit-constructor)
  Message(Place place) { add(place); }                       // NOLINT(google-explicit-constructor)
  Message(Subject subject) { add(subject); }                 // NOLINT(google-explicit-constructor)
  Message(Task task) { add(task); }                          // NOLINT(google-explicit-constructor)
  Message(Advice advice) { add(advice); }                    // NOLINT(google-explicit-constructor)

  Message& operator+=(const Message& other) {
    parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
    return *this;
  }

  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] bool empty() const { return parts_.empty(); }
  /// What stands before the advice: everything when there is none.
  [[nodiscard]] Message problem() const;

 private:
  void add(Part part) { parts_.push_back(std::move(part)); }

  std::vector<Part> parts_;
};

inline Message operator+(Message a, const Message& b) { return std::move(a += b); }

/// How the parts of a message that are not plain text are said. This is the library's own way ("method banded",
/// "voxel 1,2,3", "the metric", "check the file"); a front end overrides what it says in other words.
class Wording {
 public:
  virtual ~Wording() = default;
  [[nodiscard]] virtual std::string setting(const Setting& setting) const;
  [[nodiscard]] virtual std::string place(const Place& place) const;
  [[nodiscard]] virtual std::string subject(Subject subject) const;
  [[nodiscard]] virtual std::string task(Task task) const;
};

/// The message in the words of a front end.
std::string to_text(const Message& message, const Wording& wording = Wording());

/// A message as bytes, for another process, and back.
std::string pack(const Message& message);
Message unpack_message(std::string_view bytes);

/// The name of an option as a field of the library's options has it: "source_init".
std::string_view option_name(Option option);

// ---- The exceptions the library throws. Each message is one line: problem (why); what to do.

enum class ErrorKind : std::uint8_t {
  runtime,    ///< something outside failed: a full disk, a file that cannot be written
  device,     ///< a GPU is missing, failed, or has too little memory
  usage,      ///< the caller asked for something that makes no sense, whatever the data
  input,      ///< the data is wrong: a file, a mesh, a metric, a source
  no_answer,  ///< the question has no answer: nothing was reached, no path exists
  cancelled   ///< the caller's cancellation was honoured
};

/// Base of everything the library throws on purpose. `what` is the message in the library's own words; a front end
/// renders `detail` in its own (see `to_text`).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, Message detail, std::string file = {});

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] const Message& detail() const { return detail_; }
  /// The file that it is about; empty when that is not known.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// The part of the problem that it is about, where the message names one.
  [[nodiscard]] std::optional<Subject> subject() const;
  /// The first vertex, element or voxel that the message names.
  [[nodiscard]] std::optional<Place> index() const;

 private:
  ErrorKind kind_;
  Message detail_;
  std::string file_;
};

/// The message of an error in the words of a front end, behind the name of its file.
std::string to_text(const Error& error, const Wording& wording = Wording());

/// An error as a value, to be carried to another thread or process.
struct Failure {
  ErrorKind kind = ErrorKind::runtime;
  Message detail;
  std::string file = {};
};

/// The exception in flight as a value, whatever it is. To be called where one was caught.
Failure current_failure();

std::string to_text(const Failure& failure, const Wording& wording = Wording());

/// Throws it as the exception class of its kind.
[[noreturn]] void throw_again(const Failure& failure);

/// A failure as bytes, for another process, and back.
std::string pack(const Failure& failure);
Failure unpack_failure(std::string_view bytes);

class RuntimeError : public Error {
 public:
  explicit RuntimeError(Message detail, std::string file = {})
      : RuntimeError(ErrorKind::runtime, std::move(detail), std::move(file)) {}

 protected:
  using Error::Error;
};

class DeviceError : public RuntimeError {
 public:
  explicit DeviceError(Message detail) : RuntimeError(ErrorKind::device, std::move(detail)) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(Message detail, std::string file = {})
      : Error(ErrorKind::usage, std::move(detail), std::move(file)) {}
};

class InputError : public Error {
 public:
  explicit InputError(Message detail, std::string file = {})
      : Error(ErrorKind::input, std::move(detail), std::move(file)) {}
};

class NoAnswerError : public Error {
 public:
  explicit NoAnswerError(Message detail, std::string file = {})
      : Error(ErrorKind::no_answer, std::move(detail), std::move(file)) {}
};

class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorKind::cancelled, "interrupted") {}
};

}  // namespace isochron
