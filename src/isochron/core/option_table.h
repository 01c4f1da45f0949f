// Tables of options. Beside an options struct stands `each_option(options, visit)`, which calls
// `visit(OptionText, field)` for every option in the order of a help text. The command, Python and the viewer's server
// visit it to declare or read the options that they offer, so that names, help and choices are written once.
#pragma once

namespace isochron {

/// How an option is called and what it means.
struct OptionText {
  const char* name;   ///< words joined by underscores
  const char* value;  ///< stands for the value in a help text: "N"
  const char* help;   ///< `{}` stands for the default, `<name>` for another option
};

/// A name and the value that it stands for. `choices_of(value)` gives an array of all choices of an enumeration.
template <class Value>
struct Choice {
  const char* name;
  Value value;
};
template <class Value>
Choice(const char*, Value) -> Choice<Value>;  // clang 14 does not find it by itself

/// The name of a choice; the first when it has several.
template <class Value>
constexpr const char* choice_name(Value value) {
  for (const Choice<Value>& choice : choices_of(value))
    if (choice.value == value) return choice.name;
  return "";
}

}  // namespace isochron
