#pragma once

#include <cusolverDn.h>

// Solves A X = B for column-major matrices without padding.
//
// handle  takes all work into its stream
// a       device, n x n elements; may be overwritten
// b       device, n x m elements: B before the call, X after it
void solve(cusolverDnHandle_t handle, double* a, double* b, int n, int m);
