// Declares the command line. CLI11 is behind it, with its own ideas of integers and exit codes kept in.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/isochron/console.h"
#include "apps/isochron/values.h"
#include "apps/isochron/wording.h"
#include "isochron/core/join_text.h"
#include "isochron/core/option_table.h"

namespace CLI {
class App;
}

namespace isochron::cli {

/// Takes an option's text. Throws UsageError without the option's name, which is put in front.
using Take = std::function<void(const std::string& text)>;

enum class Need { optional, required };

/// A command or subcommand while it is being declared. Options are shown in the order they are added, under the last
/// `group` heading. What the functions take must live until the command line has been parsed.
class Command {
 public:
  /// `chosen` receives the action of the command that the user names.
  Command(CLI::App& app, std::function<int()>& chosen) : app_(&app), chosen_(&chosen) {}

  /// A command under this one. `example` ends its help text.
  Command subcommand(const std::string& name, const std::string& what, const std::string& example);
  void group(const std::string& heading) { group_ = heading; }

  /// An option with a value; `value` stands for it in the help text ("--speed", "S").
  void option(const std::string& names, const std::string& value, const std::string& what, const Take& take,
              Need need = Need::optional);
  /// A name that an option once had: it works, but no help shows it.
  void old_name(const std::string& name, const Take& take);
  /// An option that may come several times.
  void repeated(const std::string& names, const std::string& value, const std::string& what, const Take& take);
  void flag(const std::string& names, const std::string& what, const std::function<void()>& given);
  void flag(const std::string& names, const std::string& what, bool& target) { flag(names, what, target, true); }
  /// One that sets `target` to a value.
  template <class T>
  void flag(const std::string& names, const std::string& what, T& target, T value) {
    flag(names, what, [&target, value] { target = value; });
  }
  void positional(const std::string& name, const std::string& what, const Take& take, Need need = Need::required);
  /// One positional argument or more (none when optional).
  void positionals(const std::string& name, const std::string& what, const Take& take, Need need = Need::required);
  /// What the command does once everything is parsed; gives the exit code.
  void action(std::function<int()> run);

 private:
  CLI::App* app_;
  std::function<int()>* chosen_;
  std::string group_ = "Options";
};

/// Stores the choice of that name.
template <class T>
Take one_of(T& target, std::vector<std::pair<std::string, T>> choices) {
  return [&target, choices = std::move(choices)](const std::string& text) {
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      if (name == text) {
        target = value;
        return;
      }
      names.push_back(name);
    }
    throw usage_error("unknown choice '{}'; use one of: {}", text, join_text(names, ", "));
  };
}

/// Stores one of the choices of an enumeration's table in `target`, which may be an optional.
template <class Enum, class T>
Take into_choice(T& target) {
  std::vector<std::pair<std::string, T>> choices;
  for (const Choice<Enum>& choice : choices_of(Enum())) choices.emplace_back(choice.name, choice.value);
  return one_of(target, std::move(choices));
}

/// Stores the parsed text in `target`, which may be a number, a string, a path, a list, a point or an optional of such,
/// or an enumeration that has a table of its choices.
template <class T>
Take into(T& target) {
  if constexpr (requires { named("", target); }) {
    return [&target](const std::string& text) { target = named(text, target); };
  } else if constexpr (std::is_enum_v<T>) {
    return into_choice<T>(target);
  } else {
    return [&target](const std::string& text) { read_value(text, target); };
  }
}

/// The same for numbers that have to be positive.
template <class T>
Take into_positive(T& target) {
  return [&target](const std::string& text) {
    const auto number = parse_as<T>(text);
    if (!(number > T{})) throw usage_error("{} is zero or negative; give a positive number", text);
    target = number;
  };
}

/// Adds the parsed text to a vector.
template <class T>
Take append_to(std::vector<T>& target) {
  return [&target](const std::string& text) { target.push_back(parse_as<T>(text)); };
}

/// Takes the text and notes the option's name: some options are only of use beside others.
inline Take noted(const std::string& name, std::vector<std::string>& given, Take take) {
  return [name, &given, take = std::move(take)](const std::string& text) {
    take(text);
    given.push_back(name);
  };
}

/// The help of an option of a table: `otherwise` is its default, and other options are named by their flags.
std::string shown_help(const char* help, const std::string& otherwise);

/// Declares the options of a table when `each_option` visits it.
struct DeclareOptions {
  Command& command;

  template <class T>
  void operator()(const OptionText& text, T& field) const {
    declare(text, field, into(field));
  }
  /// The same with another way to take the value.
  template <class T>
  void declare(const OptionText& text, const T& field, const Take& take) const {
    std::string otherwise;
    if constexpr (std::is_arithmetic_v<T>) otherwise = fmt::format("{}", field);
    command.option(flag_name(text.name), text.value, shown_help(text.help, otherwise), take);
  }
};

enum class Numbers { any, positive };

/// The same, and notes the options that are given.
struct DeclareNoted : DeclareOptions {
  std::vector<std::string>& given;
  Numbers numbers = Numbers::any;

  template <class T>
  void operator()(const OptionText& text, T& field) const {
    Take take = into(field);
    if constexpr (std::is_arithmetic_v<T>)
      if (numbers == Numbers::positive) take = into_positive(field);
    declare(text, field, noted(flag_name(text.name), given, std::move(take)));
  }
};

/// Parses the command line that `declare` describes, calls `start` and runs the chosen action. Prints help and version
/// on stdout. Throws UsageError, with one line, for everything that is wrong with the arguments.
int parse_and_run(int argc, const char* const* argv, const std::string& version,
                  const std::function<void(Command&)>& declare, const std::function<void()>& start);

}  // namespace isochron::cli
