// Keeps VTK from printing, and collects what it wanted to say. Include only in files that are built with VTK.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkSmartPointer.h>

namespace isochron {

/// While one of these lives, VTK's errors and warnings are collected here and nothing is printed. VTK has one output
/// window for the whole process, so only one thread at a time gets past the constructor.
class VtkMessages {
 public:
  VtkMessages() : lock_(mutex()), previous_window_(vtkOutputWindow::GetInstance()) {
    previous_verbosity_ = vtkLogger::GetCurrentVerbosityCutoff();
    vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
    window_->messages = this;
    vtkOutputWindow::SetInstance(window_);
  }
  ~VtkMessages() {
    vtkOutputWindow::SetInstance(previous_window_);
    vtkLogger::SetStderrVerbosity(previous_verbosity_);
  }
  VtkMessages(const VtkMessages&) = delete;
  VtkMessages& operator=(const VtkMessages&) = delete;

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class Window : public vtkOutputWindow {
   public:
    static Window* New() { VTK_STANDARD_NEW_BODY(Window); }
    vtkTypeMacro(Window, vtkOutputWindow) void DisplayText(const char* text) override {
      if (messages == nullptr || text == nullptr) return;
      const auto kind = this->GetCurrentMessageType();
      if (kind == MESSAGE_TYPE_ERROR) messages->errors_.push_back(essence(text));
      else if (kind == MESSAGE_TYPE_WARNING) messages->warnings_.push_back(essence(text));
    }
    VtkMessages* messages = nullptr;
  };

  // VTK says "ERROR: In file.cxx, line 12\nvtkClass (0x55…): what happened\n\n": only the last part is for people.
  static std::string essence(std::string_view text) {
    if (const auto at = text.rfind("): "); at != std::string_view::npos) text.remove_prefix(at + 3);
    std::string line;
    for (const char c : text) {
      const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
      if (!blank) line += c >= ' ' && c != 127 ? c : '?';
      else if (!line.empty() && line.back() != ' ') line += ' ';
    }
    while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
    return line;
  }

  static std::recursive_mutex& mutex() {
    static std::recursive_mutex one;
    return one;
  }

  std::lock_guard<std::recursive_mutex> lock_;
  vtkSmartPointer<vtkOutputWindow> previous_window_;
  vtkLogger::Verbosity previous_verbosity_;
  vtkNew<Window> window_;
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
};

}  // namespace isochron
