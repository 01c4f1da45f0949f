#include "isochron/surface/particles/relax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/core/parallel.h"
#include "isochron/surface/particles/cuda/relax_on_device.h"
#include "isochron/surface/particles/density.h"
#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/relax_loop.h"
#include "isochron/surface/particles/step.h"

namespace isochron {
namespace {

class Relaxation {
 public:
  Relaxation(const SplineField& distance, const SizeField& sizes, const ParticleOptions& options)
      : fields_{distance.view(), sizes.view()},
        options_(options),
        threads_(granted_threads(options.threads > 0 ? options.threads : hardware_threads())) {
    rules_.lambda_step = options.lambda_step;
  }

  void place(const std::vector<Vec3d>& seeds);
  void prepare();
  RelaxIteration sweep();
  DensityChange control(int iteration);
  [[nodiscard]] bool lists_are_old() const;
  [[nodiscard]] std::span<const Particle<double>> current() const { return particles_; }
  void finish(Particles& result) const { finish_particles(fields_, particles_, threads_, result); }

 private:
  // What is known of a particle besides where it is.
  struct Record {
    Vec3d anchor;                                            // where it was when the lists were made
    double energy = 0;                                       // at its last visit
    double moved = std::numeric_limits<double>::infinity();  // at its last visit, in sizes
  };
  struct Counts {
    std::size_t moved = 0, resting = 0, energies = 0, splines = 0;
  };

  void visit(std::uint32_t i, Counts& counts);
  [[nodiscard]] bool rests(std::uint32_t i) const;

  SurfaceFields<double> fields_;
  ParticleOptions options_;
  int threads_;
  StepRules<double> rules_;
  std::vector<Particle<double>> particles_;
  std::vector<Record> records_;
  BinFrame frame_;
  Bins bins_;
  NeighbourLists lists_;
  Waves waves_;
};

void Relaxation::place(const std::vector<Vec3d>& seeds) {
  std::vector<Particle<double>> all(seeds.size());
  std::vector<char> reached(seeds.size(), 0);
  parallel_for(threads_, seeds.size(), [&](std::size_t i) {
    const double size = fields_.sizes.size(seeds[i]);
    const Projection<double> landed = project(fields_.distance, seeds[i], size, 0.01 * size, 10);
    reached[i] = landed.reached;
    all[i] = {landed.position, fields_.sizes.size(landed.position), landed.normal, first_lambda};
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (reached[i]) particles_.push_back(all[i]);
  }
  if (particles_.empty()) refuse_no_particles();
  for (const Particle<double>& particle : particles_) {
    if (!(particle.size > 0)) refuse_size();
  }
  records_.resize(particles_.size());
}

// Sorts the particles into bins, lists their neighbours and says who moves when.
void Relaxation::prepare() {
  frame_ = BinFrame(particle_box(particles_), options_.bins, list_reach);
  const BinOrder sorted = bin_order(frame_, particles_, threads_);
  const std::vector<Particle<double>> particles = std::move(particles_);
  const std::vector<Record> records = std::move(records_);
  particles_.resize(particles.size());
  records_.resize(particles.size());
  parallel_for(threads_, particles.size(), [&](std::size_t i) {
    particles_[i] = particles[sorted.order[i]];
    records_[i] = records[sorted.order[i]];
    records_[i].anchor = particles_[i].position;
  });
  bins_ = Bins(sorted.keys);
  lists_ = NeighbourLists(frame_, bins_, particles_, threads_);
  waves_ = options_.bins == BinKind::uniform ? waves_of_bins(bins_) : waves_by_colour(lists_);
}

bool Relaxation::rests(std::uint32_t i) const {
  if (records_[i].moved > rules_.rest) return false;
  for (const std::uint32_t j : lists_.of(i)) {
    if (records_[j].moved > rules_.rest) return false;
  }
  return true;
}

void Relaxation::visit(std::uint32_t i, Counts& counts) {
  Record& record = records_[i];
  if (rests(i)) {
    record.moved = 0;
    ++counts.resting;
    return;
  }
  Particle<double>& particle = particles_[i];
  const double room = list_slack * particle.size - norm(particle.position - record.anchor);
  const Step<double> step =
      step_particle(particle, fields_, ListedNeighbours{particles_.data(), lists_.of(i)}, std::max(room, 0.0), rules_);
  particle = step.particle;
  record.energy = step.energy;
  record.moved = step.moved;
  counts.moved += step.moved > 0;
  counts.energies += static_cast<std::size_t>(step.energies);
  counts.splines += static_cast<std::size_t>(step.splines);
}

RelaxIteration Relaxation::sweep() {
  std::vector<Counts> counts(static_cast<std::size_t>(threads_));
  SpinBarrier barrier(threads_);
  parallel_region(threads_, [&](int thread, int team) {
    Counts own;
    for (std::size_t w = 0; w < waves_.wave_count(); ++w) {
      const std::size_t begin = waves_.waves[w], tasks = waves_.waves[w + 1] - begin;
      const std::size_t first = begin + tasks * static_cast<std::size_t>(thread) / static_cast<std::size_t>(team);
      const std::size_t last = begin + tasks * static_cast<std::size_t>(thread + 1) / static_cast<std::size_t>(team);
      for (std::uint32_t at = waves_.tasks[first]; at < waves_.tasks[last]; ++at) visit(waves_.order[at], own);
      barrier.arrive_and_wait();
    }
    counts[static_cast<std::size_t>(thread)] = own;
  });
  RelaxIteration result;
  result.particles = particles_.size();
  for (const Counts& part : counts) {
    result.moved += part.moved;
    result.resting += part.resting;
    result.energy_evaluations += part.energies;
    result.spline_evaluations += part.splines;
  }
  for (const Record& record : records_) result.energy += record.energy;
  result.energy /= static_cast<double>(particles_.size());
  return result;
}

DensityChange Relaxation::control(int iteration) {
  const DensityRules<double> rules{options_.split_below, options_.delete_above,
                                   options_.density == DensityControl::full};
  DensityPlan plan = plan_density(particles_, frame_, bins_, lists_, fields_, rules, options_.seed,
                                  static_cast<std::uint64_t>(iteration), threads_);
  for (const std::uint32_t i : plan.deleted) {
    for (const std::uint32_t j : lists_.of(i)) records_[j].moved = std::numeric_limits<double>::infinity();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0, next = 0; i < particles_.size(); ++i) {
    if (next < plan.deleted.size() && plan.deleted[next] == i) {
      ++next;
      continue;
    }
    particles_[kept] = particles_[i];
    records_[kept++] = records_[i];
  }
  particles_.resize(kept);
  particles_.insert(particles_.end(), plan.added.begin(), plan.added.end());
  records_.resize(kept);
  records_.resize(particles_.size());
  return {plan.added.size(), plan.deleted.size()};
}

bool Relaxation::lists_are_old() const {
  std::size_t far = 0;
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    far += norm(particles_[i].position - records_[i].anchor) > 0.5 * list_slack * particles_[i].size;
  }
  return far_share * far > particles_.size();
}

}  // namespace

void finish_particles(const SurfaceFields<double>& fields, std::span<const Particle<double>> particles, int threads,
                      Particles& result) {
  result.positions.resize(particles.size());
  result.normals.resize(particles.size());
  result.sizes.resize(particles.size());
  parallel_for(threads, particles.size(), [&](std::size_t i) {
    const Particle<double>& particle = particles[i];
    const Projection<double> landed =
        project(fields.distance, particle.position, particle.size, 1e-6 * particle.size, 10);
    result.positions[i] = landed.position;
    result.normals[i] = landed.normal;
    result.sizes[i] = fields.sizes.size(landed.position);
  });
}

Particles relax(const SplineField& distance, const SizeField& sizes, const std::vector<Vec3d>& seeds,
                const ParticleOptions& options, const Progress& progress) {
  for (const Vec3d seed : seeds) {
    if (!(sizes.view().size(seed) > 0)) refuse_size();
  }
  if (options.backend == Backend::cuda) return cuda::relax_on_device(distance, sizes, seeds, options, progress);
  Relaxation relaxation(distance, sizes, options);
  relaxation.place(seeds);
  return run_relaxation(relaxation, options, progress);
}

}  // namespace isochron
