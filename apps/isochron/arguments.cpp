#include "apps/isochron/arguments.h"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>

#include "isochron/core/join_text.h"

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
    throw UsageError(name + ": " + error.detail());
  }
}

CLI::Option* add_one(CLI::App& app, const std::string& names, const std::string& what, const Take& take) {
  return app.add_option_function<std::string>(
      names, [name = shown_name(names), take](const std::string& text) { take_named(name, take, text); }, what);
}

CLI::Option* add_several(CLI::App& app, const std::string& names, const std::string& what, const Take& take) {
  return app.add_option_function<std::vector<std::string>>(
      names,
      [name = shown_name(names), take](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) take_named(name, take, text);
      },
      what);
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The command that was being parsed, and its parents in front of it.
std::vector<const CLI::App*> chosen_commands(const CLI::App& app) {
  std::vector<const CLI::App*> chain{&app};
  while (!chain.back()->get_subcommands().empty()) chain.push_back(chain.back()->get_subcommands().front());
  return chain;
}

std::vector<std::string> names_under(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

// "--n: 1 required N missing" in words that say what to do; empty when the message is another.
std::string missing_value(const std::string& message) {
  constexpr std::string_view before = ": 1 required ", after = " missing";
  const auto split = message.find(before);
  if (split == std::string::npos || !message.ends_with(after)) return {};
  const auto begin = split + before.size();
  return fmt::format("{} has no value; give {} after it", message.substr(0, split),
                     message.substr(begin, message.size() - after.size() - begin));
}

// The same for "--n: At Most 1 required but received 2".
std::string repeated_option(const std::string& message) {
  const auto split = message.find(": At Most 1 required but received ");
  if (split == std::string::npos) return {};
  return fmt::format("{} is given more than once; give it once", message.substr(0, split));
}

// What is wrong, with CLI11's own words only where nothing better is known: it complains about what is missing before
// it mentions what it did not understand.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const auto chain = chosen_commands(app);
  const std::vector<std::string> unknown = app.remaining(true);
  const bool unknown_word = !unknown.empty() && !unknown.front().starts_with('-');
  if (const auto names = names_under(*chain.back()); !names.empty() && (unknown.empty() || unknown_word)) {
    const std::string_view what = chain.size() == 1 ? "command" : "kind";
    return fmt::format("{}; choose one of: {}",
                       unknown.empty() ? fmt::format("no {} given", what)
                                       : fmt::format("unknown {} '{}'", what, one_line(unknown.front())),
                       join_text(names, ", "));
  }
  if (!unknown.empty()) return fmt::format("unknown argument '{}'", one_line(unknown.front()));
  std::string message = one_line(error.what());
  for (const std::string& better : {missing_value(message), repeated_option(message)})
    if (!better.empty()) return better;
  return message;
}

// With its parents: "isochron generate cube".
std::string chosen_command(const CLI::App& app) {
  std::string name;
  for (const CLI::App* command : chosen_commands(app)) name += (name.empty() ? "" : " ") + command->get_name();
  return name;
}

}  // namespace

Command Command::subcommand(const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* sub = app_->add_subcommand(name, what);
  sub->footer("Example:\n  " + example);
  app_->require_subcommand(1);
  return {*sub, *chosen_};
}

void Command::option(const std::string& names, const std::string& value, const std::string& what, const Take& take,
                     Need need) {
  add_one(*app_, names, what, take)->type_name(value)->group(group_)->required(need == Need::required);
}

void Command::old_name(const std::string& name, const Take& take) { add_one(*app_, name, "", take)->group(""); }

void Command::repeated(const std::string& names, const std::string& value, const std::string& what, const Take& take) {
  add_several(*app_, names, what + " (repeatable)", take)->type_name(value)->group(group_)->allow_extra_args(false);
}

void Command::flag(const std::string& names, const std::string& what, const std::function<void()>& given) {
  app_->add_flag_callback(names, given, what)->group(group_);
}

void Command::positional(const std::string& name, const std::string& what, const Take& take, Need need) {
  add_one(*app_, name, what, take)->type_name("")->required(need == Need::required);
}

void Command::positionals(const std::string& name, const std::string& what, const Take& take, Need need) {
  add_several(*app_, name, what, take)->type_name("")->required(need == Need::required);
}

void Command::action(std::function<int()> run) {
  app_->final_callback([chosen = chosen_, run = std::move(run)] { *chosen = run; });
}

std::string shown_help(const char* help, const std::string& otherwise) {
  std::string text = fmt::format(fmt::runtime(help), otherwise);
  for (auto begin = text.find('<'); begin != std::string::npos; begin = text.find('<', begin)) {
    const auto end = text.find('>', begin);
    text.replace(begin, end + 1 - begin, flag_name(text.substr(begin + 1, end - begin - 1)));
  }
  return text;
}

int parse_and_run(int argc, const char* const* argv, const std::string& version,
                  const std::function<void(Command&)>& declare, const std::function<void()>& start) {
  CLI::App app("First-arrival times on meshes: when does a front that starts here reach everywhere else?", "isochron");
  app.set_version_flag("--version", version, "Show the version and what it was built with");
  app.get_formatter()->column_width(34);
  std::function<int()> chosen;
  Command root(app, chosen);
  declare(root);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    Console().print(app.help());
    return 0;
  } catch (const CLI::CallForVersion& call) {
    Console().print(fmt::format("{}\n", call.what()));
    return 0;
  } catch (const CLI::ParseError& error) {
    throw usage_error("{}; see '{} --help'", complaint(app, error), chosen_command(app));
  }
  start();
  return chosen();
}

}  // namespace isochron::cli
