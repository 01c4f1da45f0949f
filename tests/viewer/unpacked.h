// Reads packed answers as a browser does, and asks scenes.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/viewer/server/scene.h"
#include "isochron/error.h"
#include "isochron/mesh.h"

namespace isochron::viewer {

class Unpacked {
 public:
  explicit Unpacked(const std::string& bytes) : bytes_(bytes) {
    if (bytes.size() < 8 || bytes.substr(0, 4) != "ISO1") throw std::runtime_error("no pack");
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 4, sizeof length);
    header_ = Json::parse(bytes.substr(8, length));
    payload_ = 8 + std::size_t{length};
    if (payload_ % 8 != 0) throw std::runtime_error("the payload is not aligned");
  }

  [[nodiscard]] const Json& meta() const { return header_.at("meta"); }
  [[nodiscard]] bool has(const std::string& name) const { return header_.at("arrays").contains(name); }
  [[nodiscard]] std::vector<std::size_t> shape(const std::string& name) const {
    return header_.at("arrays").at(name).at("shape").get<std::vector<std::size_t>>();
  }
  [[nodiscard]] std::vector<float> floats(const std::string& name) const { return values<float>(name, "float32"); }
  [[nodiscard]] std::vector<std::uint32_t> integers(const std::string& name) const {
    return values<std::uint32_t>(name, "uint32");
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(const std::string& name) const {
    return values<std::uint8_t>(name, "uint8");
  }
  [[nodiscard]] std::vector<Vec3d> points(const std::string& name) const {
    const std::vector<float> flat = floats(name);
    std::vector<Vec3d> result(flat.size() / 3);
    for (std::size_t i = 0; i < flat.size(); ++i) result[i / 3][static_cast<int>(i % 3)] = flat[i];
    return result;
  }
  /// `<prefix>points` and `<prefix>triangles`.
  [[nodiscard]] TriangleMesh mesh(const std::string& prefix = "") const {
    TriangleMesh mesh{points(prefix + "points"), {}};
    const auto ids = integers(prefix + "triangles");
    for (std::size_t t = 0; t + 2 < ids.size(); t += 3)
      mesh.elements.push_back({VertexId(ids[t]), VertexId(ids[t + 1]), VertexId(ids[t + 2])});
    return mesh;
  }

 private:
  template <class T>
  [[nodiscard]] std::vector<T> values(const std::string& name, const std::string& type) const {
    const Json& array = header_.at("arrays").at(name);
    if (array.at("dtype") != type) throw std::runtime_error(name + " is of another type");
    std::size_t count = 1;
    for (const std::size_t n : shape(name)) count *= n;
    std::vector<T> result(count);
    const std::size_t from = payload_ + array.at("offset").get<std::size_t>();
    if (from % 8 != 0 || from + count * sizeof(T) > bytes_.size()) throw std::runtime_error(name + " is cut short");
    if (count > 0) std::memcpy(result.data(), bytes_.data() + from, count * sizeof(T));
    return result;
  }

  std::string bytes_;
  Json header_;
  std::size_t payload_ = 0;
};

/// A question with another value of one field.
inline Json with(Json body, const std::string& field, Json value) {
  body[field] = std::move(value);
  return body;
}

/// Asks a scene, as the client "c", in the way that the question is asked.
inline Reply reply_of(Scene& scene, const std::string& name, Json body, const Notify& notify = {}) {
  if (!body.contains("client")) body["client"] = "c";
  Job job(body["client"].get<std::string>());
  const Notify silent = [](std::string_view, const Json&) {};
  auto values = Fields::Values::typed;
  for (const Question& question : scene.questions())
    if (question.name == name && question.asked == Asked::get) values = Fields::Values::texts;
  return scene.handle({name, std::move(body), values}, job, notify ? notify : silent);
}
inline Unpacked ask(Scene& scene, const std::string& name, Json body = Json::object(), const Notify& notify = {}) {
  return Unpacked(reply_of(scene, name, std::move(body), notify).bytes);
}

/// The names in a scene's list of questions that it does not know itself; `handle` may refuse them for other reasons.
inline std::vector<std::string> unknown_questions(Scene& scene) {
  std::vector<std::string> unknown;
  for (const Question& question : scene.questions()) {
    const std::string name(question.name);
    try {
      if (!scene.glance({name})) (void)reply_of(scene, name, Json::object());
    } catch (const UnknownCall&) {
      unknown.push_back(name);
    } catch (const Error&) {
      // It is known, and wants more.
    }
  }
  return unknown;
}

/// What is said against a question that has no answer.
inline std::string refusal(Scene& scene, const std::string& name, Json body) {
  try {
    (void)reply_of(scene, name, std::move(body));
  } catch (const Error& error) {
    return error.what();
  }
  return "no refusal";
}

/// Whether a question is refused as badly put, with these words.
inline bool badly_put(Scene& scene, const std::string& name, Json body, const std::string& words) {
  try {
    (void)reply_of(scene, name, std::move(body));
  } catch (const RequestError& error) {
    return std::string(error.what()).find(words) != std::string::npos;
  } catch (const Error&) {
  }
  return false;
}

}  // namespace isochron::viewer
