// Texts of options, and requests to the server of the viewer.
#include <algorithm>

#include <fmt/format.h>

#include "apps/isochron/values.h"
#include "apps/viewer/server/access.h"
#include "apps/viewer/server/connections.h"
#include "apps/viewer/server/mesh_request.h"
#include "fuzz/files.h"
#include "isochron/connect.h"
#include "isochron/error.h"
#include "isochron/io/image/formats.h"
#include "isochron/metric.h"

namespace isochron::fuzz {
namespace {

/// Lets each parser have the text, whatever the ones before it say.
template <class... Parsers>
void parse_with_each(std::string_view text, const Parsers&... parsers) {
  const auto one = [&](const auto& parse) {
    try {
      parse(text);
    } catch (const UsageError&) {  // NOLINT(bugprone-empty-catch): it may be something else
    } catch (const InputError&) {  // NOLINT(bugprone-empty-catch)
    }
  };
  (one(parsers), ...);
}

void parse_numbers(std::string_view input) {
  parse_with_each(
      input,
      [](std::string_view text) {
        const double value = cli::parse_number(text);
        require(cli::parse_number(fmt::format("{}", value)) == value, "a number is another when it is written");
      },
      [](std::string_view text) {
        const std::uint64_t value = cli::parse_whole_number(text);
        require(cli::parse_whole_number(std::to_string(value)) == value, "a whole number is another");
        require(!cli::grouped(value).empty(), "a number has no digits");
      },
      [](std::string_view text) { cli::parse_label(text); },
      [](std::string_view text) { cli::parse_as<std::uint8_t>(text); },
      [](std::string_view text) { cli::parse_numbers(text); }, [](std::string_view text) { cli::parse_point(text); },
      [](std::string_view text) { cli::parse_size(text, 3); });
}

void parse_lists(std::string_view input) {
  parse_with_each(
      input,
      [](std::string_view text) {
        for (const cli::IdRange& range : cli::parse_id_ranges(text))
          require(range.first <= range.last && range.last < VertexId::invalid_value, "a range that is none");
      },
      [](std::string_view text) { cli::parse_name_value(text); },
      [](std::string_view text) { cli::parse_as<std::filesystem::path>(text); },
      [](std::string_view text) { parse_velocities(text); }, [](std::string_view text) { parse_velocity_table(text); },
      [](std::string_view text) { parse_region(text); }, [](std::string_view text) { parse_raw_type(text); });
}

void judge_request(std::string_view input) {
  using viewer::Header;
  const std::string token = "0123456789abcdef0123456789abcdef";
  const Header judged = viewer::judge_header(input);
  const viewer::Sender sender = viewer::sender_of(input, token);
  // What comes behind a header changes nothing.
  const std::size_t end = input.find("\r\n\r\n");
  if (judged == Header::complete) {
    require(end != std::string_view::npos, "a header is complete without an end");
    const std::string_view header = input.substr(0, end + 4);
    require(viewer::judge_header(header) == judged && viewer::sender_of(header, token) == sender,
            "the body of a request changes what its header says");
  }
  const std::string_view head = input.substr(0, end);
  require(sender != viewer::Sender::known || head.find(token) != std::string_view::npos, "a token out of nothing");
  const std::string_view line = head.substr(0, head.find('\n'));
  if (viewer::own_host(line, 80)) require(viewer::own_origin("http://" + std::string(line), 80), "a host of two minds");
}

DataArrays cell_arrays() {
  DataArrays data;
  data.set({"region", 1, std::vector<std::int32_t>{1, 2, 2}});
  data.set({"fiber", 3, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  return data;
}

void answer_request(std::string_view input) {
  using namespace viewer;
  const Json object = parse_object(std::string(input));
  const std::string text = text_of(object);
  require(text_of(parse_object(text)) == text, "an object is another when it is written");
  const auto ask = [&](const auto& question) {
    try {
      Fields fields(object);
      question(fields);
    } catch (const Error& error) {
      require(error.kind() == ErrorKind::input || error.kind() == ErrorKind::usage, error.what());
    }
  };
  static const DataArrays data = cell_arrays();
  ask([](Fields& fields) { parse_sources(fields, 10); });
  ask([](Fields& fields) { parse_metric(metric_fields(fields), data); });
  ask([](Fields& fields) { parse_isochrones(fields); });
  ask([](Fields& fields) { parse_place(fields); });
  ask([](Fields& fields) {
    fields.client();
    fields.sequence();
    fields.word("word", {"a", "b"});
    fields.done();
  });
}

Target text_target(const std::string& name, void (*work)(std::string_view), const Texts& seeds, const Texts& words) {
  return {"text." + name, work, [=] { return seeds; }, words};
}

}  // namespace

std::vector<Target> text_targets() {
  return {
      text_target("numbers", parse_numbers, {"1.5", "64,64,32", "18446744073709551615", "-7", "1,2.5,-3e2"},
                  {"1e308", "nan", "inf", "0x1p3", "4294967295"}),
      text_target("lists", parse_lists,
                  {"0,5,10-20", "region=3", "0.6,0.3", "1:0.6,0.3;2:0.2", "sphere:1,2,3,4", "label:a.nii:3",
                   "mask:a.nii", "voxels:1,2,3;4,5,6", "uint16be"},
                  {"sphere:", "label:", "mask:", "voxels:", "4294967295", "float64le"}),
      text_target("header", judge_request,
                  {"GET /api/state?token=0123456789abcdef0123456789abcdef HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
                   "POST /api/datasets/0/solve HTTP/1.1\r\nHost: localhost:80\r\nX-Isochron-Token: "
                   "0123456789abcdef0123456789abcdef\r\nContent-Length: 2\r\n\r\n{}",
                   "127.0.0.1:80\n"},
                  {"token=", "\r\n\r\n", "X-Isochron-Token: ", "Transfer-Encoding: ", "Content-Length: 0\r\n",
                   "0123456789abcdef0123456789abcdef", "http://localhost:80"}),
      text_target("json", answer_request,
                  {R"({"sources":[{"vertex":1,"time":0.5},{"point":[1,2,3]}],"speed":2,"isochrones":{"spacing":0.1}})",
                   R"({"fibers":{"array":"fiber","velocity":[1,0.5]},"regions":{"array":"region","speeds":{"1":2}}})",
                   R"({"vertex":3,"client":"a","seq":4,"word":"b","isochrones":{"about":7},"speed_array":"x"})"},
                  {"\"sources\":[", "\"vertex\":", "\"point\":[1,2,3]", "\"speed\":", "\"speed_array\":",
                   "\"fibers\":{", "\"regions\":{", "\"velocity\":[", "\"array\":\"region\"", "\"isochrones\":{",
                   "\"about\":", "null", "true", "1e308", "\\u0007", "[[[[", "\"seq\":"}),
  };
}

}  // namespace isochron::fuzz
