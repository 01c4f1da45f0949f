// An array that owns its elements or borrows them from somebody else's memory.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace isochron {

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
