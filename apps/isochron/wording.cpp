#include "apps/isochron/wording.h"

#include <algorithm>

namespace isochron::cli {
namespace {

class CommandWording final : public Wording {
 public:
  [[nodiscard]] std::string setting(const Setting& setting) const override {
    const std::string flag = flag_of(setting.option);
    if (setting.option == Option::unordered) return setting.value == "hand-over" ? "--hand-over" : flag;
    if (setting.value.empty()) return flag;
    // The value of --tetrahedra may be left out, so it is part of the word.
    return flag + (setting.option == Option::tetrahedra ? "=" : " ") + setting.value;
  }
  [[nodiscard]] std::string task(Task task) const override {
    return Wording::task(task) + (task == Task::inspect_file ? " with 'isochron info'" : " with 'isochron tensors'");
  }
};

}  // namespace

std::string flag_name(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string flag_of(Option option) {
  switch (option) {
    case Option::source: return "--source, --source-point, …";
    case Option::split_obtuse: return "--split-obtuse";
    case Option::unordered: return "--allow-unordered";
    case Option::velocity: return "--velocity";
    case Option::max_particles: return "--most-particles of isochron surface";
    case Option::replace: return "--force";
    default: return flag_name(option_name(option));
  }
}

const Wording& command_wording() {
  static const CommandWording wording;
  return wording;
}

}  // namespace isochron::cli
