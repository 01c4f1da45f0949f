// The exceptions the library throws. Each message is one line: problem (why); what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace isochron {

/// Base of everything the library throws on purpose. `exit_code` is what the command line ends with.
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, int exit_code) : std::runtime_error(message), exit_code_(exit_code) {}
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// Something outside failed: a full disk, a file that cannot be written, a device that is not there.
class RuntimeError : public Error {
 public:
  explicit RuntimeError(const std::string& message) : Error(message, 1) {}
};

/// A GPU is missing, failed, or has too little memory.
class DeviceError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

/// The caller asked for something that makes no sense, whatever the data.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, 2) {}
};

/// The data is wrong: a file, a mesh, a metric, a source.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(message, 3) {}
};

/// The question has no answer: nothing was reached, no path exists.
class NoAnswerError : public Error {
 public:
  explicit NoAnswerError(const std::string& message) : Error(message, 5) {}
};

/// The caller's cancellation was honoured.
class Cancelled : public Error {
 public:
  Cancelled() : Error("interrupted", 130) {}
};

}  // namespace isochron
