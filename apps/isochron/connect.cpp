// isochron connect: the options; the steps are in connect_run.cpp.
#include "apps/isochron/connect.h"

#include <memory>

namespace isochron::cli {
namespace {

Take into_region(std::optional<RegionRequest>& region) {
  return [&region](const std::string& text) { region = parse_region(text); };
}

Take append_region(std::vector<RegionRequest>& regions) {
  return [&regions](const std::string& text) { regions.push_back(parse_region(text)); };
}

void declare_streamlines(Command& command, ConnectRequest& request) {
  command.group("Streamlines, to compare with");
  command.flag("--streamlines", "Also track them from --from, by the principal directions", request.streamlines);
  const auto option = [&](const std::string& name, const std::string& value, const std::string& help, Take take) {
    command.option(name, value, help, noted(name, request.tracking_options, std::move(take)));
  };
  option("--streamline-fa", "FA", "They end below this anisotropy (0.15)", into(request.tracking.min_anisotropy));
  option("--streamline-angle", "DEG", "They end where they would turn by more in a step (45)",
         into(request.tracking.largest_angle));
  option("--streamline-step", "VOXELS", "Length of a step (0.5)", into(request.tracking.step));
  option("--streamline-seeds", "N", "N³ seeds in each voxel (2)", into(request.tracking.seeds_per_axis));
}

}  // namespace

void declare_connect(Command& root, Console& console) {
  Command command = root.subcommand("connect", "The white-matter pathway between two regions of a tensor image",
                                    "isochron connect tensors.nii.gz --tensor-order mrtrix --from sphere:-24,-37,-21,4 "
                                    "--to sphere:24,-24,-18,4 -o callosal");
  const auto request = std::make_shared<ConnectRequest>();
  declare_tensor_image(command, request->tensors);
  command.group("Where paths run; R is sphere:X,Y,Z,RADIUS (RAS mm), label:FILE:VALUE, mask:FILE or voxels:i,j,k;…");
  command.option("--from", "R", "Where they begin", into_region(request->from), Need::required);
  command.option("--to", "R", "Where they end", into_region(request->to), Need::required);
  command.repeated("--waypoint", "R", "They pass this on the way; several in the order given",
                   append_region(request->waypoints));
  command.repeated("--exclude", "R", "They keep out of this", append_region(request->exclude));
  command.repeated("--stop", "R", "They may end in this but not go on from it", append_region(request->stop));
  command.option("--epsilon", "E", "The pathway is what is at most this share dearer than the best (0.05)",
                 into(request->epsilon));
  declare_grid_method(command, request->options, request->verify);
  declare_streamlines(command, *request);
  command.group("Output");
  command.option("-o,--output", "PREFIX",
                 "Writes PREFIX_cost.nii.gz, _pathway.nii.gz, _path.tck, _path.vtp, _profile.csv and PREFIX.json",
                 into(request->prefix), Need::required);
  command.flag("--force", "Replace existing files", request->force);
  declare_common(command, console);
  command.action([request, &console] { return run_connect(*request, console); });
}

}  // namespace isochron::cli
