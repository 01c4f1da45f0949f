#include "apps/isochron/arguments.h"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

namespace isochron::cli {
namespace {

// The first long name, as messages show it.
std::string shown_name(const std::string& names) {
  const auto dashes = names.find("--");
  return dashes == std::string::npos ? names : names.substr(dashes, names.find(',', dashes) - dashes);
}

void take_named(const std::string& name, const Take& take, const std::string& text) {
  try {
    take(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// What is wrong, with CLI11's own words only where nothing better is known: it complains about what is missing before
// it mentions what it did not understand.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) return fmt::format("unknown argument '{}'", one_line(unknown.front()));
  const std::string message = one_line(error.what());
  return message == "A subcommand is required" ? "which command?" : message;
}

// The command that was being parsed, with its parents: "isochron generate cube".
std::string chosen_command(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

}  // namespace

Command Command::subcommand(const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* sub = app_->add_subcommand(name, what);
  sub->footer("Example:\n  " + example);
  app_->require_subcommand(1);
  return {*sub, *chosen_};
}

void Command::option(const std::string& names, const std::string& value, const std::string& what, Take take,
                     Need need) {
  app_->add_option_function<std::string>(
          names, [name = shown_name(names), take](const std::string& text) { take_named(name, take, text); }, what)
      ->type_name(value)
      ->group(group_)
      ->required(need == Need::required);
}

void Command::repeated(const std::string& names, const std::string& value, const std::string& what, Take take) {
  app_->add_option_function<std::vector<std::string>>(
          names,
          [name = shown_name(names), take](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) take_named(name, take, text);
          },
          what + " (repeatable)")
      ->type_name(value)
      ->group(group_)
      ->allow_extra_args(false);
}

void Command::flag(const std::string& names, const std::string& what, bool& target) {
  app_->add_flag_callback(
          names, [&target] { target = true; }, what)
      ->group(group_);
}

void Command::positional(const std::string& name, const std::string& what, Take take, Need need) {
  app_->add_option_function<std::string>(
          name, [name, take](const std::string& text) { take_named(name, take, text); }, what)
      ->type_name("")
      ->required(need == Need::required);
}

void Command::positionals(const std::string& name, const std::string& what, Take take, Need need) {
  app_->add_option_function<std::vector<std::string>>(
          name,
          [name, take](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) take_named(name, take, text);
          },
          what)
      ->type_name("")
      ->required(need == Need::required);
}

void Command::action(std::function<int()> run) {
  app_->final_callback([chosen = chosen_, run = std::move(run)] { *chosen = run; });
}

int parse_and_run(int argc, const char* const* argv, const std::string& version,
                  const std::function<void(Command&)>& declare) {
  CLI::App app("First-arrival times on meshes: when does a front that starts here reach everywhere else?", "isochron");
  app.set_version_flag("--version", version, "Show the version and what it was built with");
  app.get_formatter()->column_width(34);
  std::function<int()> chosen;
  Command root(app, chosen);
  declare(root);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion& call) {
    fmt::print("{}\n", call.what());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see '{} --help'", complaint(app, error), chosen_command(app)));
  }
  return chosen();
}

}  // namespace isochron::cli
