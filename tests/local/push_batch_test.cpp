// Vector lanes must give what the scalar update gives, lane by lane.
#include "isochron/local/push_batch.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/types.h"

namespace isochron {
namespace TEST_FILE {

/// Fills one lane with a random tetrahedron (x, b, c, t) and times up to `spread` apart; now and then a time is
/// infinite.
template <class T>
void random_lane(Random& random, double spread, FaceBatch<T>& batch, int i) {
  Vec3d p[4];
  for (Vec3d& q : p) q = {random.uniform(), random.uniform(), random.uniform()};
  const auto length = [&](int a, int b) { return static_cast<T>(dot(p[a] - p[b], p[a] - p[b])); };
  const auto time = [&] {
    return random.uniform() < 0.1 ? std::numeric_limits<T>::infinity()
                                  : static_cast<T>(random.uniform(-spread, spread));
  };
  batch.ub[i] = time();
  batch.uc[i] = time();
  batch.lxb[i] = length(0, 1);
  batch.lxc[i] = length(0, 2);
  batch.lbc[i] = length(1, 2);
  batch.lxt[i] = length(0, 3);
  batch.lbt[i] = length(1, 3);
  batch.lct[i] = length(2, 3);
}

template <class T>
void compare(double tolerance, double flat_tolerance) {
  Random random(5);
  FaceBatch<T> batch;
  std::size_t compared = 0, infinite = 0, other = 0, left_out = 0, off = 0;
  for (int round = 0; round < 400; ++round) {
    const int count = 1 + static_cast<int>(random.below(FaceBatch<T>::capacity));
    for (int i = 0; i < count; ++i) random_lane(random, round % 2 == 0 ? 0.3 : 1.5, batch, i);
    solve_faces(batch, T(0), count);
    for (int i = 0; i < count; ++i) {
      if (batch.thin[i] > T(0)) continue;  // the caller takes the careful form there
      // Lanes leave out arrivals from b or c alone, which those push themselves.
      const T alone = std::min(batch.ub[i] + std::sqrt(batch.lbt[i]), batch.uc[i] + std::sqrt(batch.lct[i]));
      const T expected = detail::push_time(T(0), batch.ub[i], batch.uc[i], batch.lxb[i], batch.lxc[i], batch.lbc[i],
                                           batch.lxt[i], batch.lbt[i], batch.lct[i]);
      ++compared;
      if (std::isinf(expected)) {
        ++infinite;
        other += std::isinf(batch.time[i]) ? 0 : 1;
      } else {
        const T found = std::min(batch.time[i], alone), wanted = std::min(expected, alone);
        EXPECT_NEAR(found, wanted, flat_tolerance) << i;
        off += std::abs(found - wanted) > tolerance ? 1 : 0;
        left_out += batch.time[i] > expected + tolerance ? 1 : 0;
      }
    }
  }
  EXPECT_GT(compared, 8000U);
  EXPECT_GT(infinite, 100U);
  EXPECT_GT(compared, infinite + left_out + 8000);
  EXPECT_LE(100 * off, compared);    // where the target is nearly in the plane of the face, both lose digits
  EXPECT_LE(100 * other, infinite);  // a weight that is 0 to rounding may be judged either way
}

TEST(PushBatch, FloatLanesEqualTheScalarUpdate) { compare<float>(2e-5, 1e-3); }
TEST(PushBatch, DoubleLanesEqualTheScalarUpdate) { compare<double>(1e-12, 1e-10); }

TEST(PushBatch, ThinFacesAreMarked) {
  FaceBatch<double> batch;
  Random random(1);
  random_lane(random, 0.3, batch, 0);
  batch.lxb[0] = 1;
  batch.lxc[0] = 1;
  batch.lbc[0] = 1e-4;  // b and c nearly in one direction from x
  solve_faces(batch, 0.0, 1);
  EXPECT_GT(batch.thin[0], 0);
}

TEST(PushBatch, FacesAreAsThinAsToTheScalarUpdate) {
  FaceBatch<double> batch;
  Random random(2);
  int thin = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < FaceBatch<double>::capacity; ++i) random_lane(random, 0.3, batch, i);
    solve_faces(batch, 0.0, FaceBatch<double>::capacity);
    for (int i = 0; i < FaceBatch<double>::capacity; ++i) {
      const detail::FaceGram<double> face(batch.lbc[i], batch.lxb[i], batch.lxc[i]);
      EXPECT_EQ(batch.thin[i] > 0, face.thin()) << face.det / (face.f11 * face.f22);
      thin += face.thin() ? 1 : 0;
    }
  }
  EXPECT_GT(thin, 500);
}

/// A front that passes straight up through a face with a right angle at x, to a target at height 1 over (p, q).
double time_over(double p, double q) {
  FaceBatch<double> batch;
  batch.ub[0] = batch.uc[0] = 0;
  batch.lxb[0] = batch.lxc[0] = 1;
  batch.lbc[0] = 2;
  batch.lxt[0] = p * p + q * q + 1;
  batch.lbt[0] = (p - 1) * (p - 1) + q * q + 1;
  batch.lct[0] = p * p + (q - 1) * (q - 1) + 1;
  solve_faces(batch, 0.0, 1);
  const double scalar = detail::push_time(0.0, 0.0, 0.0, batch.lxb[0], batch.lxc[0], batch.lbc[0], batch.lxt[0],
                                          batch.lbt[0], batch.lct[0]);
  EXPECT_EQ(batch.time[0], scalar) << p << " " << q;
  return batch.time[0];
}

TEST(PushBatch, EdgesAtTheSourceVertexBelongToTheFace) {
  EXPECT_EQ(time_over(0.25, 0.5), 1);
  EXPECT_EQ(time_over(0.5, 0), 1);
  EXPECT_EQ(time_over(0, 0.5), 1);
  // Beyond b and c the path passes by x.
  EXPECT_EQ(time_over(2, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(time_over(0, 2), std::numeric_limits<double>::infinity());
}

}  // namespace TEST_FILE
}  // namespace isochron
