#pragma once

#include <cuda_runtime.h>

// The unscaled forward Fourier transforms of real signals.
//
// in      device, count signals of length floats
// out     device, output, count spectra of length / 2 + 1 values, real part in x
// stream  takes all work
void spectra(const float* in, float2* out, int length, int count, cudaStream_t stream);
