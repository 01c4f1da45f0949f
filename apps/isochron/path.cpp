// isochron path: the options; the steps are in path_run.cpp.
#include "apps/isochron/path.h"

#include <memory>

#include "apps/isochron/commands.h"
#include "apps/isochron/problem_options.h"

namespace isochron::cli {

void declare_path(Command& root, Console& console) {
  Command command =
      root.subcommand("path", "Rays and geodesics back to the source, through a solved mesh or image",
                      "isochron path activation.vtu --to 1200 -o path.vtp --fibers fiber --velocity 0.6,0.3");
  const auto request = std::make_shared<PathRequest>();
  command.positional("ARRIVAL", "The mesh or image with times that 'isochron solve' wrote",
                     into(request->problem.mesh));
  command.group("Where the paths lead from");
  command.repeated("--to", "IDS", "Vertices or voxels, 0-based: 0,5,10-20", append_to(request->ids));
  command.repeated("--to-point", "X,Y,Z", "A point in or on the mesh, or in the image", append_to(request->points));
  command.repeated("--to-file", "FILE", "Points 'x y z' or 'name x y z', or a .vtx file of vertices",
                   append_to(request->files));
  command.option("--to-tolerance", "D", "How far from the mesh a point may be (1 % of its diagonal)",
                 into(request->tolerance));
  declare_mesh(command, request->problem);
  command.option("--time-array", "NAME", "Point array with the times (arrival_time)", into(request->time_array));
  command.group("The image");
  command.option("--image", "FILE",
                 "The image that was solved, with its speeds or tensors, where ARRIVAL has times alone",
                 into(request->image));
  declare_mask(command, request->problem.mask, "The mask of the solve");
  declare_raw(command, request->problem.raw);
  declare_sources(command, request->problem.sources);
  declare_metric(command, request->problem);
  command.group("Output");
  command.option("-o,--output", "FILE", "Polylines: .vtp, .vtk, .vtu, .tck, …; or .csv", into(request->output),
                 Need::required);
  command.flag("--raw", "Leave the characteristics as traced, do not shorten them", request->raw);
  command.flag("--force", "Replace existing files", request->force);
  declare_common(command, console);
  command.action([request, &console] { return run_path(*request, console); });
}

}  // namespace isochron::cli
