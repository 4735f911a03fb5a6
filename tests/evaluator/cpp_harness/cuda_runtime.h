// SPDX-License-Identifier: Apache-2.0
// Just enough of the CUDA runtime, on the host, to test the harness where there is no GPU: memory is host memory, work
// is done at once, and errors are what a test sets them to.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

enum cudaError_t { cudaSuccess, cudaErrorInvalidValue, cudaErrorIllegalAddress };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
using cudaStream_t = void*;
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct double2 { double x, y; };
#define CUDART_CB
constexpr unsigned cudaStreamNonBlocking = 1;

namespace fake {
inline cudaError_t last = cudaSuccess, sticky = cudaSuccess;
inline std::vector<std::thread> callbacks;
inline cudaError_t status() { return sticky; }
}  // namespace fake

inline const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : error == cudaErrorInvalidValue ? "cudaErrorInvalidValue"
                                                                               : "cudaErrorIllegalAddress";
}
inline const char* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaPeekAtLastError() { return fake::sticky != cudaSuccess ? fake::sticky : fake::last; }
inline cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  fake::last = cudaSuccess;
  return error;
}
inline cudaError_t cudaDeviceSynchronize() {
  for (std::thread& thread : fake::callbacks) thread.join();
  fake::callbacks.clear();
  return fake::status();
}
template <class T>
cudaError_t cudaMalloc(T** address, std::size_t bytes) {
  *address = static_cast<T*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return fake::status();
}
inline cudaError_t cudaFree(void* address) { return std::free(address), fake::status(); }
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), fake::status();
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = nullptr, fake::status();
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return fake::status(); }
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*function)(void*), void* data) {
  return fake::callbacks.emplace_back(function, data), fake::status();
}
