// The local updates on the GPU against the same functions on the host: the two differ by fused multiply-adds only.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "isochron/local/simplex_update.h"
#include "local/simplex_limits.h"
#include "local/simplex_samples.h"

namespace isochron {
namespace {

using test::Family;

constexpr int per_family = 20000;

template <class T>
struct TetInput {
  T u[3];
  TetLengths<T> l;
};

template <class T>
struct TetOutput {
  T time, pushed;
  T weight[3];
};

template <class T>
struct TriangleInput {
  T u[2];
  TriangleLengths<T> l;
};

template <class T>
struct TriangleOutput {
  T time;
  T weight[2];
};

/// Both entry points on one tetrahedron: the full update, and what the three corners push (unreached ones do not).
template <class T>
ISOCHRON_HD TetOutput<T> evaluate(const TetInput<T>& in) {
  using detail::push_time;
  const T* u = in.u;
  const TetLengths<T>& l = in.l;
  const FaceCandidate<T> c = tet_update(u[0], u[1], u[2], l);
  const T never = detail::infinity<T>();
  T pushed = never;
  if (u[0] < never) pushed = push_time(u[0], u[1], u[2], l.l12, l.l13, l.l23, l.l1x, l.l2x, l.l3x);
  if (u[1] < never)
    pushed = detail::smaller(pushed, push_time(u[1], u[2], u[0], l.l23, l.l12, l.l13, l.l2x, l.l3x, l.l1x));
  if (u[2] < never)
    pushed = detail::smaller(pushed, push_time(u[2], u[0], u[1], l.l13, l.l23, l.l12, l.l3x, l.l1x, l.l2x));
  return {c.time, pushed, {c.weight[0], c.weight[1], c.weight[2]}};
}

template <class T>
ISOCHRON_HD TriangleOutput<T> evaluate(const TriangleInput<T>& in) {
  const EdgeCandidate<T> c = triangle_update(in.u[0], in.u[1], in.l);
  return {c.time, {c.weight[0], c.weight[1]}};
}

template <class In, class Out>
__global__ void evaluate_all(const In* in, Out* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = evaluate(in[i]);
}

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

/// Device memory that frees itself.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() { return data_; }

 private:
  T* data_ = nullptr;
};

template <class Out, class In>
std::vector<Out> on_device(const std::vector<In>& in) {
  DeviceArray<In> device_in(in.size());
  DeviceArray<Out> device_out(in.size());
  check(cudaMemcpy(device_in.data(), in.data(), in.size() * sizeof(In), cudaMemcpyHostToDevice));
  constexpr int block = 128;
  const int count = static_cast<int>(in.size());
  evaluate_all<<<(count + block - 1) / block, block>>>(device_in.data(), device_out.data(), count);
  check(cudaGetLastError());
  std::vector<Out> out(in.size());
  check(cudaMemcpy(out.data(), device_out.data(), in.size() * sizeof(Out), cudaMemcpyDeviceToHost));
  return out;
}

template <class T, std::size_t N>
void expect_convex(const T (&weight)[N]) {
  double sum = 0;
  for (const T w : weight) {
    EXPECT_GE(w, T(0));
    sum += w;
  }
  EXPECT_NEAR(sum, 1, 4 * std::numeric_limits<T>::epsilon());
}

/// Both sides are within the limits of the truth, so within twice the limits of each other.
void expect_close(std::vector<double> differences, const test::Limits& limits) {
  std::sort(differences.begin(), differences.end());
  EXPECT_LE(differences[differences.size() * 99 / 100], 2 * limits.usual);
  EXPECT_LE(differences.back(), 2 * limits.worst);
}

template <class T>
void compare_tets(Family family) {
  test::Sampler sampler(71);
  std::vector<TetInput<T>> inputs;
  std::vector<double> edges;
  for (int i = 0; i < per_family; ++i) {
    const auto s = sampler.next<4>(family);
    inputs.push_back({{T(s.times[0]), T(s.times[1]), T(s.times[2])}, test::lengths<T>(s)});
    edges.push_back(s.longest_edge());
  }
  const auto outputs = on_device<TetOutput<T>>(inputs);
  std::vector<double> full, pushed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TetOutput<T> host = evaluate(inputs[i]);
    full.push_back(std::abs(double(outputs[i].time) - host.time) / edges[i]);
    pushed.push_back(std::abs(double(outputs[i].pushed) - host.pushed) / edges[i]);
    expect_convex(outputs[i].weight);
  }
  expect_close(full, test::limits<T>(family));
  expect_close(pushed, test::limits<T>(family));
}

template <class T>
void compare_triangles(Family family) {
  test::Sampler sampler(72);
  std::vector<TriangleInput<T>> inputs;
  std::vector<double> edges;
  for (int i = 0; i < per_family; ++i) {
    const auto s = sampler.next<3>(family);
    inputs.push_back({{T(s.times[0]), T(s.times[1])}, test::lengths<T>(s)});
    edges.push_back(s.longest_edge());
  }
  const auto outputs = on_device<TriangleOutput<T>>(inputs);
  std::vector<double> differences;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    differences.push_back(std::abs(double(outputs[i].time) - evaluate(inputs[i]).time) / edges[i]);
    expect_convex(outputs[i].weight);
  }
  expect_close(differences, test::limits<T>(family));
}

class DeviceUpdate : public testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device (" << cudaGetErrorString(status) << ")";
  }
};

TEST_P(DeviceUpdate, TetsInSingle) { compare_tets<float>(GetParam()); }
TEST_P(DeviceUpdate, TetsInDouble) { compare_tets<double>(GetParam()); }
TEST_P(DeviceUpdate, TrianglesInSingle) { compare_triangles<float>(GetParam()); }
TEST_P(DeviceUpdate, TrianglesInDouble) { compare_triangles<double>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Families, DeviceUpdate, testing::ValuesIn(test::all_families),
                         [](const auto& param) { return std::string(test::name(param.param)); });

TEST_F(DeviceUpdate, UnreachedStaysUnreached) {
  const float never = detail::infinity<float>();
  const auto tet =
      on_device<TetOutput<float>>(std::vector<TetInput<float>>{{{never, never, never}, {1, 1, 1, 1, 1, 1}}});
  EXPECT_EQ(tet[0].time, never);
  EXPECT_EQ(tet[0].pushed, never);
  const auto triangle =
      on_device<TriangleOutput<float>>(std::vector<TriangleInput<float>>{{{never, never}, {1, 1, 1}}});
  EXPECT_EQ(triangle[0].time, never);
}

}  // namespace
}  // namespace isochron
