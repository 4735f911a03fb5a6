#include "spectra.h"

#include <cufft.h>

void spectra(const float* in, float2* out, int length, int count, cudaStream_t stream) {
  if (count == 0) return;
  cufftHandle plan;
  cufftPlanMany(&plan, 1, &length, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, count);
  cufftSetStream(plan, stream);
  cufftExecR2C(plan, const_cast<float*>(in), out);  // out of place, it only reads
  cufftDestroy(plan);
}
