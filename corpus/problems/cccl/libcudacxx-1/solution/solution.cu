#include "connected_components.h"

#include <cuda/atomic>

#include <algorithm>

namespace {

using Vertex = std::uint32_t;
using Shared = cuda::atomic_ref<Vertex, cuda::thread_scope_device>;

constexpr unsigned kThreads = 256;
constexpr std::size_t kMaxBlocks = 4096;  // grid-stride loops take the rest

unsigned blocks_for(std::size_t n) {
  return static_cast<unsigned>(std::min((n + kThreads - 1) / kThreads, kMaxBlocks));
}

__device__ std::size_t first_item() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }
__device__ std::size_t stride() { return gridDim.x * std::size_t{blockDim.x}; }

// label[] is a forest: a vertex points to itself (a root) or to a smaller vertex of its component. Relaxed order is
// enough: every value that a vertex ever holds is one of its ancestors, whichever of them a thread happens to see.
__device__ Vertex parent(Vertex* label, Vertex v) { return Shared(label[v]).load(cuda::std::memory_order_relaxed); }

__device__ Vertex root_of(Vertex* label, Vertex v) {
  for (Vertex up; (up = parent(label, v)) != v; v = up) {
  }
  return v;
}

// Root of v's tree; halves the path on the way. Such a store may replace a newer, shorter link: harmless while trees
// are being joined, but no longer when the links have to end at the root.
__device__ Vertex find(Vertex* label, Vertex v) {
  for (;;) {
    const Vertex up = parent(label, v);
    if (up == v) return v;
    const Vertex two_up = parent(label, up);
    if (two_up != up) Shared(label[v]).store(two_up, cuda::std::memory_order_relaxed);
    v = two_up;
  }
}

__global__ void make_roots(Vertex* label, Vertex num_vertices, std::uint32_t* num_components) {
  for (std::size_t v = first_item(); v < num_vertices; v += stride()) label[v] = static_cast<Vertex>(v);
  if (first_item() == 0) *num_components = 0;
}

// Hangs the larger root below the smaller one. Only a root is ever hung, and only by the thread whose
// exchange succeeds.
__global__ void hook(const Vertex* edge_u, const Vertex* edge_v, std::size_t num_edges, Vertex* label) {
  for (std::size_t e = first_item(); e < num_edges; e += stride()) {
    Vertex a = find(label, edge_u[e]), b = find(label, edge_v[e]);
    while (a != b) {
      const Vertex low = a < b ? a : b, high = a < b ? b : a;
      Vertex seen = high;
      if (Shared(label[high]).compare_exchange_strong(seen, low, cuda::std::memory_order_relaxed)) break;
      a = find(label, seen);  // another thread hung `high` below `seen`
      b = find(label, low);
    }
  }
}

__global__ void flatten(Vertex* label, Vertex num_vertices, std::uint32_t* num_components) {
  std::uint32_t roots = 0;
  for (std::size_t i = first_item(); i < num_vertices; i += stride()) {
    const Vertex v = static_cast<Vertex>(i), root = root_of(label, v);
    if (root == v) ++roots;
    else Shared(label[v]).store(root, cuda::std::memory_order_relaxed);
  }
  roots = __reduce_add_sync(0xffffffffu, roots);
  if (threadIdx.x % warpSize == 0 && roots > 0)
    Shared(*num_components).fetch_add(roots, cuda::std::memory_order_relaxed);
}

}  // namespace

cudaError_t connected_components(const std::uint32_t* edge_u, const std::uint32_t* edge_v, std::size_t num_edges,
                                 std::uint32_t num_vertices, std::uint32_t* label, std::uint32_t* num_components,
                                 cudaStream_t stream) {
  if (num_vertices == 0) return cudaMemsetAsync(num_components, 0, sizeof *num_components, stream);
  make_roots<<<blocks_for(num_vertices), kThreads, 0, stream>>>(label, num_vertices, num_components);
  if (num_edges > 0) hook<<<blocks_for(num_edges), kThreads, 0, stream>>>(edge_u, edge_v, num_edges, label);
  flatten<<<blocks_for(num_vertices), kThreads, 0, stream>>>(label, num_vertices, num_components);
  return cudaGetLastError();
}
