// An X display to render on, the user's or one of our own that nobody sees.
#pragma once

#include <memory>

namespace isochron {

/// Debian's VTK draws only with an X display. This starts a private Xvfb (its own access cookie, no network), or uses
/// DISPLAY where Xvfb is not installed. The server ends with the object, and with the process whatever happens.
class OffscreenDisplay {
 public:
  /// Throws RuntimeError that says what to install.
  OffscreenDisplay();
  ~OffscreenDisplay();
  OffscreenDisplay(const OffscreenDisplay&) = delete;
  OffscreenDisplay& operator=(const OffscreenDisplay&) = delete;

  /// The Xlib Display*, for vtkRenderWindow::SetDisplayId.
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  class Server;
  void close() noexcept;

  std::unique_ptr<Server> server_;
  void* library_ = nullptr;
  void* handle_ = nullptr;
};

}  // namespace isochron
