#include "bench/paper/scale_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "isochron/core/delimited_text.h"
#include "isochron/error.h"

namespace isochron::bench {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (const std::string_view field : split_text(line, ",")) {
    const auto first = field.find_first_not_of(" \t\r\""), last = field.find_last_not_of(" \t\r\"");
    fields.emplace_back(first == std::string_view::npos ? "" : field.substr(first, last - first + 1));
  }
  return fields;
}

/// From 0 on; nothing when the text is something else.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

/// One line of the table, by column.
class Row {
 public:
  Row(std::string where, const std::vector<std::string>& names, const std::vector<std::string>& fields)
      : where_(std::move(where)) {
    for (std::size_t i = 0; i < names.size() && i < fields.size(); ++i) fields_[names[i]] = fields[i];
  }

  [[nodiscard]] std::string word(const std::string& name) const {
    const auto it = fields_.find(name);
    if (it != fields_.end() && !it->second.empty()) return it->second;
    throw InputError(
        fmt::format("{}: no {} (the model needs it); see docs/internals/scale.md for the columns", where_, name));
  }
  [[nodiscard]] double number(const std::string& name) const { return parse(name, word(name)); }
  [[nodiscard]] std::optional<double> maybe(const std::string& name) const {
    const auto it = fields_.find(name);
    if (it == fields_.end() || it->second.empty()) return std::nullopt;
    return parse(name, it->second);
  }

 private:
  [[nodiscard]] double parse(const std::string& name, const std::string& text) const {
    if (const auto value = number_of(text)) return *value;
    throw InputError(
        fmt::format("{}: {} is '{}' (not a number from 0 on); correct or remove the line", where_, name, text));
  }

  std::string where_;
  std::map<std::string, std::string> fields_;
};

MeasuredRun run_of(const Row& row) {
  MeasuredRun run;
  run.mesh = row.word("mesh");
  run.ranks = std::max(1.0, row.number("ranks"));
  run.parts_per_rank = row.number("parts_per_rank");
  run.vertices = row.number("vertices");
  run.elements = row.number("elements");
  run.bands = row.number("bands");
  run.rounds = row.number("rounds");
  run.messages = row.number("messages");
  run.bytes = row.number("bytes");
  run.pushes = row.number("pushes");
  run.work_seconds = row.number("work_seconds");
  run.solve_seconds = row.number("solve_seconds");
  run.band_width = row.maybe("band_width");
  run.halo_values = row.maybe("halo_values");
  run.sent_values = row.maybe("sent_values");
  run.work_max_seconds = row.maybe("work_max_seconds");
  run.critical_seconds = row.maybe("critical_seconds");
  run.idle_seconds = row.maybe("idle_seconds");
  return run;
}

/// The normal equations of the columns in `mask`; nothing when they do not determine x.
std::optional<std::vector<double>> least_squares(const std::vector<std::vector<double>>& a,
                                                 const std::vector<double>& b, unsigned mask) {
  const std::size_t columns = a.front().size();
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < columns; ++c)
    if (mask >> c & 1U) used.push_back(c);
  const std::size_t n = used.size();
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1, 0));
  for (std::size_t row = 0; row < a.size(); ++row)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] += a[row][used[i]] * a[row][used[j]];
      m[i][n] += a[row][used[i]] * b[row];
    }
  for (std::size_t i = 0; i < n; ++i) {
    const double diagonal = m[i][i];
    if (!(diagonal > 0)) return std::nullopt;
    for (std::size_t k = i + 1; k < n; ++k) {
      const double factor = m[k][i] / diagonal, before = m[k][k];
      for (std::size_t j = i; j <= n; ++j) m[k][j] -= factor * m[i][j];
      if (!(m[k][k] > 1e-12 * before)) return std::nullopt;  // a column that the others make up
    }
  }
  std::vector<double> x(columns, 0);
  for (std::size_t i = n; i-- > 0;) {
    double rest = m[i][n];
    for (std::size_t j = i + 1; j < n; ++j) rest -= m[i][j] * x[used[j]];
    x[used[i]] = rest / m[i][i];
  }
  return x;
}

double squared_error(const std::vector<std::vector<double>>& a, const std::vector<double>& b,
                     const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t row = 0; row < a.size(); ++row) {
    double rest = -b[row];
    for (std::size_t c = 0; c < x.size(); ++c) rest += a[row][c] * x[c];
    sum += rest * rest;
  }
  return sum;
}

double doublings(double ranks) { return std::ceil(std::log2(std::max(1.0, ranks))); }

}  // namespace

void set_costs(Machine& machine, const std::string& text) {
  const std::map<std::string, double*> costs{{"push", &machine.push},           {"message", &machine.message},
                                             {"latency", &machine.latency},     {"byte", &machine.byte},
                                             {"reduction", &machine.reduction}, {"value_bytes", &machine.value_bytes},
                                             {"sends", &machine.sends},         {"ghost_push", &machine.ghost_push}};
  if (text.empty()) return;
  for (const std::string& part : fields_of(text)) {
    const std::size_t equals = part.find('=');
    const auto cost = costs.find(part.substr(0, equals));
    const auto value = equals == std::string::npos ? std::nullopt : number_of(part.substr(equals + 1));
    if (cost == costs.end() || !value)
      throw UsageError(
          fmt::format("'{}' is no cost of a machine; give NAME=NUMBER with one of push, message, latency, byte, "
                      "reduction, value_bytes, sends, ghost_push",
                      part));
    *cost->second = *value;
  }
}

double MeasuredRun::longest_work() const {
  if (critical_seconds) return *critical_seconds;
  return work_max_seconds.value_or(work_seconds);
}

std::vector<MeasuredRun> read_runs(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read; give a CSV file of measured runs", path.string()));
  std::vector<MeasuredRun> runs;
  std::vector<std::string> names;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line == "\r" || line.front() == '#') continue;
    if (names.empty()) names = fields_of(line);
    else runs.push_back(run_of(Row(fmt::format("{}:{}", path.string(), number), names, fields_of(line))));
  }
  if (runs.empty()) throw InputError(fmt::format("{}: no runs in it; one line for each solve", path.string()));
  return runs;
}

std::string runs_csv(const std::vector<MeasuredRun>& runs) {
  std::string text =
      "mesh,ranks,parts_per_rank,vertices,elements,bands,rounds,messages,bytes,pushes,work_seconds,solve_seconds,"
      "work_max_seconds,idle_seconds\n";
  const auto maybe = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; };
  for (const MeasuredRun& r : runs)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.mesh, r.ranks, r.parts_per_rank, r.vertices,
                        r.elements, r.bands, r.rounds, r.messages, r.bytes, r.pushes, r.work_seconds, r.solve_seconds,
                        maybe(r.work_max_seconds), maybe(r.idle_seconds));
  return text;
}

std::vector<double> nonnegative_least_squares(const std::vector<std::vector<double>>& a, const std::vector<double>& b) {
  if (a.empty()) return {};
  const std::size_t columns = a.front().size();
  std::vector<double> best(columns, 0);
  double least = squared_error(a, b, best);
  // Few columns: of all sets of columns that may be above zero, the one that fits best.
  for (unsigned mask = 1; mask < 1U << columns; ++mask) {
    const auto x = least_squares(a, b, mask);
    if (!x || std::any_of(x->begin(), x->end(), [](double v) { return v < 0; })) continue;
    if (const double error = squared_error(a, b, *x); error < least) {
      least = error;
      best = *x;
    }
  }
  return best;
}

MachineFit fit_machine(const std::vector<MeasuredRun>& runs) {
  if (std::none_of(runs.begin(), runs.end(), [](const MeasuredRun& r) { return r.ranks == 1; }))
    throw InputError("no run of one rank among the measured ones (speed-ups need it); add one");
  double most = 1;
  for (const MeasuredRun& r : runs) most = std::max(most, r.ranks);
  // Seconds of a push: more ranks on a machine share its memory, in first order each costs the others the same.
  std::vector<std::vector<double>> a;
  std::vector<double> b;
  for (const MeasuredRun& r : runs) {
    if (!(r.work_seconds > 0 && r.pushes > 0)) continue;
    const double each = r.pushes / (r.work_seconds * r.ranks);
    a.push_back({each, each * (r.ranks - 1)});
    b.push_back(1);
  }
  const std::vector<double> push = nonnegative_least_squares(a, b);
  MachineFit fit;
  if (!push.empty()) {
    fit.push_alone = push[0];
    fit.push_crowded = push[0] + push[1] * (most - 1);
  }
  // What the solve took beside the longest work.
  a.clear();
  b.clear();
  for (const MeasuredRun& r : runs) {
    if (r.ranks == 1 || !(r.solve_seconds > 0)) continue;
    a.push_back({2 * r.messages / r.ranks / r.solve_seconds, r.bytes / r.ranks / r.solve_seconds,
                 r.rounds * doublings(r.ranks) / r.solve_seconds});
    b.push_back(std::max(0.0, 1 - r.longest_work() / r.solve_seconds));
  }
  if (const std::vector<double> rest = nonnegative_least_squares(a, b); !rest.empty()) {
    fit.message = rest[0];
    fit.byte = rest[1];
    fit.round = rest[2];
  }
  for (const MeasuredRun& r : runs) {
    const double crowd = most > 1 ? (r.ranks - 1) / (most - 1) : 0;
    const double each = fit.push_alone + crowd * (fit.push_crowded - fit.push_alone);
    const double unbalanced = r.work_seconds > 0 ? r.longest_work() / r.work_seconds : 1;
    double seconds = each * r.pushes / r.ranks * unbalanced;
    if (r.ranks > 1)
      seconds += 2 * fit.message * r.messages / r.ranks + fit.byte * r.bytes / r.ranks +
                 fit.round * r.rounds * doublings(r.ranks);
    fit.predicted.push_back(seconds);
    const double error = std::abs(seconds / r.solve_seconds - 1);
    fit.worst_error = std::max(fit.worst_error, error);
    fit.mean_error += error / static_cast<double>(runs.size());
  }
  return fit;
}

}  // namespace isochron::bench
