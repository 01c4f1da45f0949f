// Ids, small vectors and symmetric tensors, and arrays.
#pragma once

#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

// Marks functions that both the host compiler and nvcc compile, and those whose call would cost more than their work.
#if defined(__CUDACC__)
#define ISOCHRON_HD __host__ __device__
#else
#define ISOCHRON_HD
#endif

#if defined(__GNUC__) && !defined(__CUDACC__)
#define ISOCHRON_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define ISOCHRON_ALWAYS_INLINE inline
#endif

namespace isochron {

// ---- Typed indices, so that a vertex is never mistaken for an element, nor its number in a part for that in the
// whole.

/// A 0-based index into one kind of array. `Tag` only separates the kinds.
template <class Tag>
struct Id {
  using value_type = std::uint32_t;
  value_type value = invalid_value;

  static constexpr value_type invalid_value = std::numeric_limits<value_type>::max();

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<value_type>(index)) {}

  [[nodiscard]] constexpr bool valid() const { return value != invalid_value; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

struct VertexTag {};
struct ElementTag {};
using VertexId = Id<VertexTag>;
using ElementId = Id<ElementTag>;

/// The number of a vertex or voxel in the whole domain, as the user counts. A domain in parts may have more of them
/// than a `VertexId` can number.
struct GlobalVertexId {
  std::uint64_t value = invalid_value;

  static constexpr std::uint64_t invalid_value = std::numeric_limits<std::uint64_t>::max();

  constexpr GlobalVertexId() = default;
  constexpr explicit GlobalVertexId(std::uint64_t number) : value(number) {}
  /// Of a vertex of a whole mesh or image.
  constexpr GlobalVertexId(VertexId vertex)  // NOLINT(google-explicit-constructor)
      : value(vertex.valid() ? vertex.value : invalid_value) {}

  [[nodiscard]] constexpr bool valid() const { return value != invalid_value; }
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  /// The vertex of a mesh or image that is whole.
  [[nodiscard]] constexpr VertexId in_whole() const { return VertexId(index()); }
  friend constexpr auto operator<=>(GlobalVertexId, GlobalVertexId) = default;
};

}  // namespace isochron

template <class Tag>
struct std::hash<isochron::Id<Tag>> {
  std::size_t operator()(isochron::Id<Tag> id) const noexcept { return id.value; }
};

namespace isochron {

// ---- Small fixed-size vectors and symmetric tensors, usable on host and device.

template <class T>
struct Vec3 {
  T x{}, y{}, z{};

  ISOCHRON_HD constexpr T& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }
  ISOCHRON_HD constexpr const T& operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }
  ISOCHRON_HD friend constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator*(T s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator*(Vec3 a, T s) { return s * a; }
  ISOCHRON_HD friend constexpr Vec3 operator/(Vec3 a, T s) { return {a.x / s, a.y / s, a.z / s}; }
  ISOCHRON_HD constexpr Vec3& operator+=(Vec3 b) { return *this = *this + b; }
  ISOCHRON_HD constexpr Vec3& operator-=(Vec3 b) { return *this = *this - b; }
  friend constexpr bool operator==(Vec3, Vec3) = default;
};

template <class T>
ISOCHRON_HD constexpr T dot(Vec3<T> a, Vec3<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
ISOCHRON_HD constexpr Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
ISOCHRON_HD T norm(Vec3<T> a) {
  return std::sqrt(dot(a, a));
}

template <class T>
bool is_finite(Vec3<T> a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

/// A symmetric 3×3 tensor; the six components are stored row by row of the upper triangle.
template <class T>
struct SymTensor3 {
  T xx{}, xy{}, xz{}, yy{}, yz{}, zz{};

  ISOCHRON_HD static constexpr SymTensor3 identity(T scale = T(1)) { return {scale, 0, 0, scale, 0, scale}; }
  ISOCHRON_HD static constexpr SymTensor3 diagonal(T a, T b, T c) { return {a, 0, 0, b, 0, c}; }
  /// scale · v vᵀ
  ISOCHRON_HD static constexpr SymTensor3 outer(Vec3<T> v, T scale = T(1)) {
    return {scale * v.x * v.x, scale * v.x * v.y, scale * v.x * v.z,
            scale * v.y * v.y, scale * v.y * v.z, scale * v.z * v.z};
  }
  ISOCHRON_HD friend constexpr SymTensor3 operator+(SymTensor3 a, SymTensor3 b) {
    return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
  }
  ISOCHRON_HD friend constexpr SymTensor3 operator-(SymTensor3 a, SymTensor3 b) {
    return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
  }
  ISOCHRON_HD friend constexpr SymTensor3 operator*(T s, SymTensor3 a) {
    return {s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
  }
  friend constexpr bool operator==(SymTensor3, SymTensor3) = default;
};

template <class T>
ISOCHRON_HD constexpr Vec3<T> operator*(SymTensor3<T> m, Vec3<T> v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

/// aᵀ M b
template <class T>
ISOCHRON_HD constexpr T product(SymTensor3<T> m, Vec3<T> a, Vec3<T> b) {
  return dot(a, m * b);
}

/// vᵀ M v
template <class T>
ISOCHRON_HD constexpr T squared_length(SymTensor3<T> m, Vec3<T> v) {
  return product(m, v, v);
}

template <class T>
ISOCHRON_HD constexpr T determinant(SymTensor3<T> m) {
  return m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz) + m.xz * (m.xy * m.yz - m.yy * m.xz);
}

/// Σ a_ij b_ij over all nine components.
template <class T>
ISOCHRON_HD constexpr T contraction(SymTensor3<T> a, SymTensor3<T> b) {
  return a.xx * b.xx + a.yy * b.yy + a.zz * b.zz + 2 * (a.xy * b.xy + a.xz * b.xz + a.yz * b.yz);
}

/// The inverse; the tensor must not be singular.
template <class T>
ISOCHRON_HD constexpr SymTensor3<T> inverse(SymTensor3<T> m) {
  const T s = T(1) / determinant(m);
  return {s * (m.yy * m.zz - m.yz * m.yz), s * (m.xz * m.yz - m.xy * m.zz), s * (m.xy * m.yz - m.xz * m.yy),
          s * (m.xx * m.zz - m.xz * m.xz), s * (m.xy * m.xz - m.xx * m.yz), s * (m.xx * m.yy - m.xy * m.xy)};
}

/// True when the leading minors are positive relative to the tensor's own size (so NaN gives false).
template <class T>
ISOCHRON_HD constexpr bool positive_definite(SymTensor3<T> m) {
  const T trace = m.xx + m.yy + m.zz;
  if (!(m.xx > 0 && m.yy > 0 && m.zz > 0) || !(trace < T(1) / T(0))) return false;
  const SymTensor3<T> s = (T(1) / trace) * m;
  return s.xx * s.yy - s.xy * s.xy > 0 && determinant(s) > T(1e-18);
}

using Vec3d = Vec3<double>;
using Vec3f = Vec3<float>;
using Vec3i = Vec3<int>;
using SymTensor3d = SymTensor3<double>;
using SymTensor3f = SymTensor3<float>;

// ---- Eigenvalues, eigenvectors and anisotropy of symmetric 3×3 tensors, on host and device.

/// Eigenvalues from the largest to the smallest, and a unit eigenvector for each, orthogonal to one another. The sign
/// of a vector means nothing.
template <class T>
struct EigenSystem3 {
  Vec3<T> values;
  Vec3<T> vectors[3];
};

namespace detail {

/// One Jacobi rotation: makes the off-diagonal `pq` zero. `rp` and `rq` are the other two off-diagonals.
template <class T>
ISOCHRON_HD inline void jacobi_rotate(T& pp, T& qq, T& pq, T& rp, T& rq, Vec3<T>& vp, Vec3<T>& vq) {
  // Measured against both diagonals and not the largest entry: small eigenvalues of positive tensors stay accurate.
  if (std::abs(pq) <= std::numeric_limits<T>::epsilon() / 4 * std::sqrt(std::abs(pp)) * std::sqrt(std::abs(qq))) {
    pq = 0;
    return;
  }
  const T theta = (qq - pp) / (2 * pq);
  const T t = (theta < 0 ? T(-1) : T(1)) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const T c = 1 / std::sqrt(t * t + 1);
  const T s = t * c;
  pp -= t * pq;
  qq += t * pq;
  pq = 0;
  const T old_rp = rp;
  rp = c * old_rp - s * rq;
  rq = s * old_rp + c * rq;
  const Vec3<T> old_vp = vp;
  vp = c * old_vp - s * vq;
  vq = s * old_vp + c * vq;
}

template <class T>
ISOCHRON_HD inline void larger_first(T& a, T& b, Vec3<T>& va, Vec3<T>& vb) {
  if (!(a < b)) return;
  const T value = a;
  a = b;
  b = value;
  const Vec3<T> vector = va;
  va = vb;
  vb = vector;
}

}  // namespace detail

/// The largest component by magnitude; NaN counts as nothing.
template <class T>
ISOCHRON_HD inline T largest_component(const SymTensor3<T>& m) {
  return std::fmax(std::fmax(std::fmax(std::abs(m.xx), std::abs(m.xy)), std::fmax(std::abs(m.xz), std::abs(m.yy))),
                   std::fmax(std::fmax(std::abs(m.yz), std::abs(m.zz)), T(0)));
}

/// By cyclic Jacobi rotations, which converge quadratically and do not mind equal eigenvalues: errors are some units in
/// the last place of the largest eigenvalue. Components that are not finite give values that are not finite.
template <class T>
ISOCHRON_HD inline EigenSystem3<T> eigen_system(const SymTensor3<T>& m) {
  EigenSystem3<T> result{{}, {Vec3<T>{1, 0, 0}, Vec3<T>{0, 1, 0}, Vec3<T>{0, 0, 1}}};
  Vec3<T>&u = result.vectors[0], &v = result.vectors[1], &w = result.vectors[2];
  const T scale = largest_component(m);
  if (scale == 0) {
    result.values = {m.xx, m.yy, m.zz};  // zeros, or NaN
    return result;
  }
  SymTensor3<T> a{m.xx / scale, m.xy / scale, m.xz / scale, m.yy / scale, m.yz / scale, m.zz / scale};
  constexpr int max_sweeps = 16;  // five to eight are used
  for (int sweep = 0; sweep < max_sweeps && !(a.xy == 0 && a.xz == 0 && a.yz == 0); ++sweep) {
    detail::jacobi_rotate(a.xx, a.yy, a.xy, a.xz, a.yz, u, v);
    detail::jacobi_rotate(a.xx, a.zz, a.xz, a.xy, a.yz, u, w);
    detail::jacobi_rotate(a.yy, a.zz, a.yz, a.xy, a.xz, v, w);
  }
  detail::larger_first(a.xx, a.yy, u, v);
  detail::larger_first(a.yy, a.zz, v, w);
  detail::larger_first(a.xx, a.yy, u, v);
  result.values = {scale * a.xx, scale * a.yy, scale * a.zz};
  return result;
}

/// The tensor of these eigenvalues and orthonormal eigenvectors.
template <class T>
ISOCHRON_HD inline SymTensor3<T> tensor_of_eigen(const Vec3<T>& values, const Vec3<T> (&vectors)[3]) {
  return SymTensor3<T>::outer(vectors[0], values.x) + SymTensor3<T>::outer(vectors[1], values.y) +
         SymTensor3<T>::outer(vectors[2], values.z);
}

/// The tensor with the same eigenvectors whose eigenvalues are f of the old ones: f(T) for powers, roots, logarithms.
template <class T, class Function>
ISOCHRON_HD inline SymTensor3<T> map_eigenvalues(const SymTensor3<T>& m, Function&& f) {
  const EigenSystem3<T> e = eigen_system(m);
  return tensor_of_eigen<T>({f(e.values.x), f(e.values.y), f(e.values.z)}, e.vectors);
}

/// √(3/2) · |T − tr(T)/3| / |T|: 0 when isotropic (and for the zero tensor), 1 when only one eigenvalue is not zero,
/// above 1 only when eigenvalues are negative.
template <class T>
ISOCHRON_HD inline T fractional_anisotropy(const SymTensor3<T>& tensor) {
  const T size = largest_component(tensor);
  if (size == 0) return 0;
  const SymTensor3<T> t = (1 / size) * tensor;  // squares of diffusivities in m²/s could underflow
  const SymTensor3<T> d = t - SymTensor3<T>::identity((t.xx + t.yy + t.zz) / 3);
  const auto squares = [](const SymTensor3<T>& s) {
    return s.xx * s.xx + s.yy * s.yy + s.zz * s.zz + 2 * (s.xy * s.xy + s.xz * s.xz + s.yz * s.yz);
  };
  return std::sqrt(T(1.5) * squares(d) / squares(t));
}

// ---- An array that owns its elements or borrows them from somebody else's memory.

/// Reads like a vector, whether the elements are its own or borrowed; a borrowed array keeps what owns the memory
/// alive, and its copies borrow too. Every call that could change an element or the size first makes the elements its
/// own: on a borrowed array that call is not for several threads at once. The lender must not change the memory
/// meanwhile.
template <class T>
class Array {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  Array() = default;
  Array(std::vector<T> values) : own_(std::move(values)) { look(); }  // NOLINT: a vector is an array
  Array(std::initializer_list<T> values) : own_(values) { look(); }
  explicit Array(std::size_t count, const T& value = T()) : own_(count, value) { look(); }

  /// `size` elements at `data`, which stay there and unchanged as long as `keeper`, which must not be null, is alive.
  static Array borrowed(const T* data, std::size_t size, std::shared_ptr<const void> keeper) {  // NOLINT: moved
    Array result;
    result.data_ = data;
    result.size_ = size;
    result.keeper_ = std::move(keeper);
    return result;
  }

  Array(const Array& other) : own_(other.own_), keeper_(other.keeper_), data_(other.data_), size_(other.size_) {
    if (!keeper_) look();
  }
  Array(Array&& other) noexcept
      : own_(std::move(other.own_)),
        keeper_(std::move(other.keeper_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {
    other.own_.clear();
  }
  Array& operator=(Array other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() = default;

  /// The elements as a vector: its own are moved out, borrowed ones copied.
  operator std::vector<T>() && {  // NOLINT: an array that nobody needs any more is a vector
    own();
    std::vector<T> result = std::move(own_);
    own_.clear();
    look();
    return result;
  }

  /// A copy of the elements.
  [[nodiscard]] std::vector<T> copy() const { return std::vector<T>(begin(), end()); }

  [[nodiscard]] bool is_borrowed() const { return keeper_ != nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] const T& front() const { return data_[0]; }
  [[nodiscard]] const T& back() const { return data_[size_ - 1]; }

  [[nodiscard]] T* data() { return own().data(); }
  [[nodiscard]] T* begin() { return own().data(); }
  [[nodiscard]] T* end() { return own().data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return own()[i]; }
  [[nodiscard]] T& front() { return own().front(); }
  [[nodiscard]] T& back() { return own().back(); }

  /// Values are taken as copies here: they may lie in the memory that is given back.
  void push_back(T value) {
    own().push_back(std::move(value));
    look();
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    own().emplace_back(std::forward<Args>(args)...);
    look();
    return own_.back();
  }
  void pop_back() {
    own().pop_back();
    look();
  }
  void resize(std::size_t size) {
    own().resize(size);
    look();
  }
  void resize(std::size_t size, T value) {
    own().resize(size, value);
    look();
  }
  void reserve(std::size_t size) {
    own().reserve(size);
    look();
  }
  void assign(std::size_t size, T value) {
    own().assign(size, value);
    look();
  }
  void clear() {
    keeper_.reset();
    own_.clear();
    look();
  }
  void insert(const T* before, T value) {
    const std::ptrdiff_t place = before - data_;
    own().insert(own_.begin() + place, std::move(value));
    look();
  }
  template <class Iterator>
  void insert(const T* before, Iterator first, Iterator last) {
    const std::ptrdiff_t place = before - data_;
    own().insert(own_.begin() + place, first, last);
    look();
  }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    *this = Array(std::vector<T>(first, last));
  }
  void swap(Array& other) noexcept {
    std::swap(own_, other.own_);
    std::swap(keeper_, other.keeper_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  friend bool operator==(const Array& a, const Array& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  std::vector<T>& own() {
    if (keeper_) {
      own_.assign(data_, data_ + size_);
      keeper_.reset();
      look();
    }
    return own_;
  }
  void look() {
    data_ = own_.data();
    size_ = own_.size();
  }

  std::vector<T> own_;
  std::shared_ptr<const void> keeper_;  // not null: borrowed, and own_ is empty
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace isochron
