// The exceptions the library throws. Each message is one line: problem (why); what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "isochron/core/message.h"

namespace isochron {

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
