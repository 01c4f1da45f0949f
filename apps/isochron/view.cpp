// isochron view: look at meshes and images in the browser, and solve on them by clicking.
#include <filesystem>
#include <memory>
#include <vector>

#include "apps/isochron/commands.h"
#include "apps/isochron/image_input.h"
#include "isochron/error.h"
#include "isochron/options.h"
#if defined(ISOCHRON_WITH_VIEWER)
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/viewer/server/embedded.h"
#include "apps/viewer/server/http.h"
#include "apps/viewer/server/temporary_folder.h"
#include "isochron/core/join_text.h"
#include "isochron/device.h"
#include "isochron/io.h"
#endif

namespace isochron::cli {
namespace {

struct ViewRequest {
  std::vector<std::filesystem::path> files;
  int port = 0;
  bool no_browser = false;
  double max_gigabytes = 8;
  Backend backend = Backend::automatic;
  TensorLayout tensors;
  MaskRequest mask;
  RawRequest images;  // their place alone
};

#if defined(ISOCHRON_WITH_VIEWER)

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

/// Starts the desktop's opener; none when that fails. What it prints is nobody's business here.
std::optional<pid_t> start_opener(std::string target) {
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&quiet, descriptor, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t apart;  // Ctrl-C is for us, not for the browser
  ::posix_spawnattr_init(&apart);
  ::posix_spawnattr_setflags(&apart, POSIX_SPAWN_SETPGROUP);
  std::string program = "xdg-open";
  char* arguments[] = {program.data(), target.data(), nullptr};  // NOLINT: what the system takes
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &quiet, &apart, arguments, environ);
  ::posix_spawnattr_destroy(&apart);
  ::posix_spawn_file_actions_destroy(&quiet);
  return error == 0 ? std::optional(child) : std::nullopt;
}

/// Opens an address in the browser by a file of our own that leads there: arguments can be read by all users of the
/// machine, and the address has the token.
class Browser {
 public:
  /// Whether it could be started.
  bool open(const std::string& url) {
    const std::filesystem::path page = folder_.path() / "isochron.html";
    std::ofstream file(page);
    std::filesystem::permissions(page, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    file << fmt::format(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Isochron</title>\n"
        "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n<a href=\"{0}\">Isochron</a>\n",
        url);
    file.close();
    if (file) opener_ = start_opener(page.string());
    return opener_.has_value();
  }
  /// To be called now and then: an opener that has ended stays in the system's list until somebody asks.
  void look_after() {
    if (opener_ && ::waitpid(*opener_, nullptr, WNOHANG) != 0) opener_.reset();
  }

 private:
  viewer::TemporaryFolder folder_;
  std::optional<pid_t> opener_;
};

/// True once a signal has come: the usual end of a server.
bool interrupted() {
  try {
    check_interrupted();
    return false;
  } catch (const Cancelled&) {
    return true;
  }
}

void announce(const std::string& url, Console& console) {
  if (console.options.json) console.print(fmt::format("{{\"url\": \"{}\"}}\n", url));
  else console.print(fmt::format("{}\n", url));
  console.flush();
  if (!viewer::client_built())
    console.warn("this build has no browser client; run scripts/setup.sh viewer, then configure and build again");
}

/// None where there is none, or none is wanted.
std::unique_ptr<Browser> start_browser(const std::string& url, const ViewRequest& request, Console& console) {
  if (request.no_browser) return nullptr;
  if (has_display()) {
    auto browser = std::make_unique<Browser>();
    if (browser->open(url)) return browser;
  }
  console.warn("no browser could be started here (no display, or no xdg-open); open the address in one");
  return nullptr;
}

/// What was given only for images of tensors; empty when nothing was.
std::vector<std::string> given_for_tensors(const ViewRequest& request) {
  std::vector<std::string> given;
  if (!request.mask.file.empty()) given.emplace_back("--mask");
  if (!request.mask.array.empty()) given.emplace_back("--mask-array");
  if (request.tensors.order) given.emplace_back("--tensor-order");
  if (request.tensors.frame) given.emplace_back("--tensor-frame");
  return given;
}

void open_files(viewer::Server& server, const ViewRequest& request, Console& console) {
  const std::vector<std::string> for_tensors = given_for_tensors(request);
  const auto check = [&](bool used) {
    if (used || for_tensors.empty()) return;
    throw usage_error("{}: nothing to do here (no file is an image of tensors); leave it out",
                      join_text(for_tensors, " and "));
  };
  check(std::any_of(request.files.begin(), request.files.end(), is_image_file));  // before anything large is read
  bool tensors = false;
  for (const auto& file : request.files) {
    const viewer::Opened opened = [&] {
      const Activity activity(console, "reading " + file.string());
      return server.open(file);
    }();
    tensors = tensors || opened.kind == "tensors";
    if (!opened.why.empty()) console.warn("{}: can only be looked at: {}", file.string(), opened.why);
  }
  check(tensors);
}

int run_view(const ViewRequest& request, Console& console) {
  viewer::ServerOptions options;
  options.port = request.port;
  options.version = ISOCHRON_VERSION;
  if (request.backend == Backend::cuda) cuda::require_device();  // said before anything is read
  options.open.compute = {console.options.threads, request.backend};
  options.open.max_bytes = static_cast<std::uintmax_t>(1e9 * std::min(request.max_gigabytes, 1e9));
  options.open.tensor_order = request.tensors.order;
  options.open.tensor_frame = request.tensors.axes();
  warn_unused_mask(request.mask, console);
  check_place(request.files, request.images, console);
  options.open.place = request.images.place;
  options.open.mask = request.mask.file;
  options.open.mask_array = request.mask.array;
  viewer::Server server(options);
  open_files(server, request, console);
  const InterruptGuard guard;
  announce(server.url(), console);
  const std::unique_ptr<Browser> browser = start_browser(server.url(), request, console);
  console.say("Ctrl-C ends it.\n");
  console.flush();
  server.run([&] {
    if (browser) browser->look_after();
    return interrupted();
  });
  return 0;
}

#else

int run_view(const ViewRequest&, Console&) {
  throw RuntimeError(
      "the viewer is not in this build (cpp-httplib was not found); run scripts/setup.sh viewer, then configure and "
      "build again");
}

#endif

}  // namespace

void declare_view(Command& root, Console& console) {
  Command command = root.subcommand("view", "Look at meshes and images in the browser, and solve on them by clicking",
                                    "isochron view heart.vtu\n"
                                    "  isochron view tensors.nii.gz --tensor-order mrtrix --mask brain.nii.gz");
  const auto request = std::make_shared<ViewRequest>();
  command.positionals("FILE", "Meshes, images of diffusion tensors, or volumes", append_to(request->files));
  command.option("--port", "P", "Port of the loopback; 0: any that is free (default)",
                 [request](const std::string& text) {
                   constexpr int highest = 65535;
                   const int port = parse_as<int>(text);
                   if (port > highest) throw_too_large(text, highest);
                   request->port = port;
                 });
  command.flag("--no-browser", "Only print the address, which is printed in any case, with --quiet too",
               request->no_browser);
  command.option("--max-size", "GB", "Refuse files that have more, unpacked (default 8; a GB is 10^9 bytes)",
                 into_positive(request->max_gigabytes));
  declare_backend(command, request->backend);
  declare_place(command, request->images.place);
  command.group("Images of tensors");
  declare_tensor_layout(command, request->tensors);
  declare_mask(command, request->mask, "Where their pathways may run (all voxels that have a tensor)");
  declare_common(command, console);
  command.action([request, &console] { return run_view(*request, console); });
}

}  // namespace isochron::cli
