// The sweeps and the density control of particles on the CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/surface/particles/density.h"
#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/relax_loop.h"
#include "isochron/surface/particles/step.h"

namespace isochron {

/// Particles on one surface and their neighbours, for `run_relaxation`. `Fields` says where the surface is
/// (`put`, `holds`) and how long edges should be (`sizes`), as `SurfaceFields<double>` does. The same for any number of
/// threads.
template <class Fields>
class Relaxation {
 public:
  Relaxation(const Fields& fields, const ParticleOptions& options)
      : fields_(fields),
        options_(options),
        threads_(granted_threads(options.threads > 0 ? options.threads : hardware_threads())) {
    rules_.lambda_step = options.lambda_step;
  }

  /// Projects seeds to the surface and keeps those that reach it.
  void place(const std::vector<Vec3d>& seeds);
  /// Adds particles that stay where they are.
  void fix(std::span<const Vec3d> points);
  [[nodiscard]] std::size_t particle_count() const { return particles_.size(); }
  void prepare();
  RelaxIteration sweep();
  DensityChange control(int iteration);
  [[nodiscard]] bool lists_are_old() const;
  /// All of them, in no order of use to others.
  [[nodiscard]] std::span<const Particle<double>> current() const { return particles_; }
  void finish(Particles& result) const;

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

  Fields fields_;
  ParticleOptions options_;
  int threads_;
  StepRules<double> rules_;
  std::vector<Particle<double>> particles_;
  std::vector<Record> records_;
  std::size_t fixed_ = 0;
  BinFrame frame_;
  Bins bins_;
  NeighbourLists lists_;
  Waves waves_;
};

template <class Fields>
void Relaxation<Fields>::place(const std::vector<Vec3d>& seeds) {
  particles_ = place_seeds(fields_, seeds, threads_);
  records_.resize(particles_.size());
}

template <class Fields>
void Relaxation<Fields>::fix(std::span<const Vec3d> points) {
  for (const Vec3d& p : points) {
    particles_.push_back({p, fields_.sizes.size(p), {}, first_lambda});
    records_.push_back({{}, 0, 0});
  }
  fixed_ += points.size();
}

// Sorts the particles into bins, lists their neighbours and decides which of them move at the same time.
template <class Fields>
void Relaxation<Fields>::prepare() {
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

template <class Fields>
bool Relaxation<Fields>::rests(std::uint32_t i) const {
  if (records_[i].moved > rules_.rest) return false;
  for (const std::uint32_t j : lists_.of(i)) {
    if (records_[j].moved > rules_.rest) return false;
  }
  return true;
}

template <class Fields>
void Relaxation<Fields>::visit(std::uint32_t i, Counts& counts) {
  Record& record = records_[i];
  if (is_fixed(particles_[i])) return;
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

template <class Fields>
RelaxIteration Relaxation<Fields>::sweep() {
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
  result.particles = particles_.size() - fixed_;
  for (const Counts& part : counts) {
    result.moved += part.moved;
    result.resting += part.resting;
    result.energy_evaluations += part.energies;
    result.spline_evaluations += part.splines;
  }
  for (const Record& record : records_) result.energy += record.energy;
  result.energy /= static_cast<double>(std::max<std::size_t>(1, result.particles));
  return result;
}

template <class Fields>
DensityChange Relaxation<Fields>::control(int iteration) {
  const DensityRules<double> rules{options_.split_below, options_.delete_above,
                                   options_.density == DensityControl::full};
  DensityPlan plan = plan_density(particles_, frame_, bins_, lists_, fields_, rules, options_.seed,
                                  static_cast<std::uint64_t>(iteration), threads_);
  for (const std::uint32_t i : plan.deleted) {
    for (const std::uint32_t j : lists_.of(i))
      if (!is_fixed(particles_[j])) records_[j].moved = std::numeric_limits<double>::infinity();
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

template <class Fields>
bool Relaxation<Fields>::lists_are_old() const {
  std::size_t far = 0;
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    far += norm(particles_[i].position - records_[i].anchor) > 0.5 * list_slack * particles_[i].size;
  }
  return far_share * far > particles_.size();
}

template <class Fields>
void Relaxation<Fields>::finish(Particles& result) const {
  std::vector<Particle<double>> movable;
  movable.reserve(particles_.size() - fixed_);
  for (const Particle<double>& particle : particles_)
    if (!is_fixed(particle)) movable.push_back(particle);
  finish_particles(fields_, movable, threads_, result);
}

}  // namespace isochron
