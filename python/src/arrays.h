// Arrays to and from numpy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <utility>
#include <vector>

namespace crowdfold::python {

template <class T>
using NumpyArray = nanobind::ndarray<nanobind::numpy, T>;
template <class T>
using GivenArray =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// Takes an array over, without a copy.
template <class Array>
auto to_numpy(Array&& array, std::initializer_list<std::size_t> shape) {
  using T = typename std::decay_t<Array>::value_type;
  auto* const held = new std::decay_t<Array>(std::forward<Array>(array));
  const nanobind::capsule owner(
      held, [](void* owned) noexcept { delete static_cast<std::decay_t<Array>*>(owned); });
  return NumpyArray<T>(held->data(), shape.size(), shape.begin(), owner);
}

template <class Array>
auto to_numpy(Array&& array) {
  const std::size_t size = array.size();
  return to_numpy(std::forward<Array>(array), {size});
}

template <class T>
std::span<const T> to_span(const GivenArray<T>& array) {
  return {array.data(), array.size()};
}

}  // namespace crowdfold::python
