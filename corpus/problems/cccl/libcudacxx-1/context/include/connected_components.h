#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

// Connected components of an undirected graph.
//
// edge_u, edge_v   device, num_edges elements each: the two ends of each edge
// num_vertices     vertices are 0 to num_vertices - 1
// label            device, output, num_vertices elements: the smallest vertex of each vertex's component
// num_components   device, output, one element
// stream           takes all work; the call does not wait for it
cudaError_t connected_components(const std::uint32_t* edge_u, const std::uint32_t* edge_v, std::size_t num_edges,
                                 std::uint32_t num_vertices, std::uint32_t* label, std::uint32_t* num_components,
                                 cudaStream_t stream);
