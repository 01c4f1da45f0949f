#include "isochron/error.h"

#include <exception>
#include <new>
#include <utility>

namespace isochron {
namespace {

template <class Kind>
std::optional<Kind> first_of(const Message& message) {
  for (const Message::Part& part : message.parts())
    if (const auto* found = std::get_if<Kind>(&part)) return *found;
  return std::nullopt;
}

/// One line, whatever is in the names and words that it quotes.
std::string behind_file(const std::string& file, const std::string& text) {
  std::string line = file.empty() ? text : file + ": " + text;
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return line;
}

}  // namespace

std::string to_text(const Error& error, const Wording& wording) {
  return behind_file(error.file(), to_text(error.detail(), wording));
}

std::string to_text(const Failure& failure, const Wording& wording) {
  return behind_file(failure.file, to_text(failure.detail, wording));
}

Error::Error(ErrorKind kind, Message detail, std::string file)
    : std::runtime_error(behind_file(file, to_text(detail))),
      kind_(kind),
      detail_(std::move(detail)),
      file_(std::move(file)) {}

std::optional<Subject> Error::subject() const { return first_of<Subject>(detail_); }
std::optional<Place> Error::index() const { return first_of<Place>(detail_); }

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.kind(), error.detail(), error.file()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::runtime,
            "out of memory" + Message(Advice()) + "use more processes, or machines with more memory"};
  } catch (const std::exception& error) {
    return {ErrorKind::runtime, error.what()};
  } catch (...) {
    return {ErrorKind::runtime, "unknown failure; please report it"};
  }
}

void throw_again(const Failure& failure) {
  switch (failure.kind) {
    case ErrorKind::device: throw DeviceError(failure.detail);
    case ErrorKind::usage: throw UsageError(failure.detail, failure.file);
    case ErrorKind::input: throw InputError(failure.detail, failure.file);
    case ErrorKind::no_answer: throw NoAnswerError(failure.detail, failure.file);
    case ErrorKind::cancelled: throw Cancelled();
    case ErrorKind::runtime: break;
  }
  throw RuntimeError(failure.detail, failure.file);
}

std::string pack(const Failure& failure) {
  return static_cast<char>(failure.kind) + pack(Message(failure.file)) + pack(failure.detail);
}

Failure unpack_failure(std::string_view bytes) {
  const auto kind = static_cast<ErrorKind>(bytes.front());
  const Message message = unpack_message(bytes.substr(1));  // the file's name is its first part
  Message detail;
  for (std::size_t i = 1; i < message.parts().size(); ++i)
    detail += std::visit([](const auto& part) { return Message(part); }, message.parts()[i]);
  return {kind, std::move(detail), std::get<std::string>(message.parts().front())};
}

}  // namespace isochron
