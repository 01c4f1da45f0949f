// Plain values and arrays as bytes of a message. Both ends are the same program on the same kind of machine.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "isochron/communicator.h"
#include "isochron/error.h"

namespace isochron {

template <class T>
void put_span(Bytes& bytes, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t before = bytes.size();
  bytes.resize(before + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data() + before, values.data(), values.size_bytes());
}
template <class T>
void put(Bytes& bytes, const T& value) {
  put_span(bytes, std::span<const T>(&value, 1));
}
/// Writes the length, then the values.
template <class Values>
void put_vector(Bytes& bytes, const Values& values) {
  put<std::uint64_t>(bytes, values.size());
  put_span(bytes, std::span(values.data(), values.size()));
}

/// Reads what was put, in the same order.
class Unpack {
 public:
  explicit Unpack(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  [[noreturn]] static void refuse_short() {
    throw RuntimeError("a message between ranks is cut short; run the same program on all of them");
  }

  template <class T>
  void take_span(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.size_bytes() > bytes_.size()) refuse_short();
    if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), bytes_.data(), values.size_bytes());
    bytes_ = bytes_.subspan(values.size_bytes());
  }
  template <class T>
  T take() {
    T value;
    take_span(std::span<T>(&value, 1));
    return value;
  }
  template <class T>
  std::vector<T> take_vector() {
    std::vector<T> values;
    take_vector(values);
    return values;
  }
  template <class Values>
  void take_vector(Values& values) {
    const auto count = take<std::uint64_t>();
    if (count > left() / sizeof(typename Values::value_type)) refuse_short();
    values.resize(count);
    take_span(std::span(values.data(), values.size()));
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Writes fields to a message, or reads them: one function template for both, as in
///
///   template <class Object>
///   void visit(Archive archive, Object& object) { archive(object.count, object.times, object.notes); }
///
/// called with a const object to write it and with another to fill it. Fields are plain values, lists of them, text and
/// lists of text.
class Archive {
 public:
  explicit Archive(Bytes& put_to) : bytes_(&put_to) {}
  explicit Archive(Unpack& take_from) : unpack_(&take_from) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (field(fields), ...);
  }

 private:
  template <class Field>
  void field(Field& field) {
    using Value = std::remove_const_t<Field>;
    if constexpr (std::is_trivially_copyable_v<Value>) {
      if (bytes_ != nullptr) put(*bytes_, field);
      else if constexpr (!std::is_const_v<Field>) field = unpack_->take<Value>();
    } else if constexpr (std::is_trivially_copyable_v<typename Value::value_type>) {
      if (bytes_ != nullptr) put_vector(*bytes_, field);
      else if constexpr (!std::is_const_v<Field>) unpack_->take_vector(field);
    } else {
      std::uint64_t count = field.size();
      (*this)(count);
      if constexpr (!std::is_const_v<Field>) {
        if (unpack_ != nullptr && count > unpack_->left()) Unpack::refuse_short();
        field.resize(count);
      }
      for (auto& one : field) (*this)(one);
    }
  }

  Bytes* bytes_ = nullptr;
  Unpack* unpack_ = nullptr;
};

}  // namespace isochron
