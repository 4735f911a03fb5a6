#include "fill_uniform.h"

#include <curand.h>

void fill_uniform(float* out, std::size_t n, unsigned long long seed, cudaStream_t stream) {
  if (n == 0) return;
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
  curandSetStream(generator, stream);
  curandSetPseudoRandomGeneratorSeed(generator, seed);
  curandGenerateUniform(generator, out, n);
  curandDestroyGenerator(generator);
}
