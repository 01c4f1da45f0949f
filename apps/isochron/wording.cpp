#include "apps/isochron/wording.h"

#include <string>

namespace isochron::cli {
namespace {

class CommandWording final : public Wording {
 public:
  [[nodiscard]] std::string setting(const Setting& setting) const override {
    const std::string flag(flag_of(setting.option));
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

std::string_view flag_of(Option option) {
  switch (option) {
    case Option::source: return "--source, --source-point, …";
    case Option::method: return "--method";
    case Option::backend: return "--backend";
    case Option::precision: return "--precision";
    case Option::threads: return "--threads";
    case Option::scheme: return "--scheme";
    case Option::order: return "--order";
    case Option::tolerance: return "--tolerance";
    case Option::source_init: return "--source-init";
    case Option::split_obtuse: return "--split-obtuse";
    case Option::unordered: return "--allow-unordered";
    case Option::storage: return "--storage";
    case Option::partitioner: return "--partitioner";
    case Option::mask: return "--mask";
    case Option::mask_array: return "--mask-array";
    case Option::speed: return "--speed";
    case Option::speed_array: return "--speed-array";
    case Option::fibers: return "--fibers";
    case Option::sheets: return "--sheets";
    case Option::velocity: return "--velocity";
    case Option::region_array: return "--region-array";
    case Option::allow_zero_fibers: return "--allow-zero-fibers";
    case Option::tensor_order: return "--tensor-order";
    case Option::max_particles: return "--most-particles of isochron surface";
    case Option::tetrahedra: return "--tetrahedra";
    case Option::replace: return "--force";
  }
  return {};
}

const Wording& command_wording() {
  static const CommandWording wording;
  return wording;
}

}  // namespace isochron::cli
