#include "multiply.h"

void multiply(cublasHandle_t, const float*, const float*, float*, int, int, int) {}
