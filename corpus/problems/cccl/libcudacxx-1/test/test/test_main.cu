#include "ce_harness.hpp"
#include "connected_components.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using Vertex = std::uint32_t;

struct Graph {
  Vertex vertices = 0;
  std::vector<Vertex> u, v;
  void join(Vertex a, Vertex b) { u.push_back(a), v.push_back(b); }
};

struct Expected {
  std::vector<Vertex> label;
  std::vector<std::uint32_t> components;
};

// Union-find that always keeps the smaller root; exact.
Expected oracle(const Graph& g) {
  std::vector<Vertex> up(g.vertices);
  std::iota(up.begin(), up.end(), Vertex{0});
  const auto find = [&](Vertex v) {
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
  };
  std::uint32_t components = g.vertices;
  for (std::size_t e = 0; e < g.u.size(); ++e) {
    const Vertex a = find(g.u[e]), b = find(g.v[e]);
    if (a != b) up[std::max(a, b)] = std::min(a, b), --components;
  }
  Expected want{std::vector<Vertex>(g.vertices), {components}};
  for (Vertex v = 0; v < g.vertices; ++v) want.label[v] = find(v);
  return want;
}

void check(const Graph& g) {
  const Expected want = oracle(g);
  const ce::DeviceBuffer<Vertex> u(g.u), v(g.v);
  ce::DeviceBuffer<Vertex> label(g.vertices);
  ce::DeviceBuffer<std::uint32_t> components(1);
  const ce::Stream stream;
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = connected_components(u.data(), v.data(), g.u.size(), g.vertices, label.data(), components.data(),
                                       stream));
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_equal(label.download(), want.label, "label");
  ce::expect_equal(components.download(), want.components, "num_components");
  label.check_guards("label");
  components.check_guards("num_components");
  ce::expect_unchanged(u, g.u, "edge_u");
  ce::expect_unchanged(v, g.v, "edge_v");
}

// The same graph with other names, its edges in another order and direction.
Graph disguised(const Graph& g, ce::Rng& rng) {
  std::vector<Vertex> name(g.vertices);
  std::iota(name.begin(), name.end(), Vertex{0});
  rng.shuffle(name);
  std::vector<std::size_t> order(g.u.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(order);
  Graph other;
  other.vertices = g.vertices;
  for (const std::size_t e : order) {
    if (rng.integer(0, 1)) other.join(name[g.u[e]], name[g.v[e]]);
    else other.join(name[g.v[e]], name[g.u[e]]);
  }
  return other;
}

Graph random_graph(ce::Rng& rng, Vertex vertices, std::size_t edges) {
  Graph g;
  g.vertices = vertices;
  g.u = rng.integer_vector<Vertex>(edges, 0, vertices - 1);
  g.v = rng.integer_vector<Vertex>(edges, 0, vertices - 1);
  return g;
}

Graph path(Vertex vertices) {
  Graph g;
  g.vertices = vertices;
  for (Vertex v = 1; v < vertices; ++v) g.join(v - 1, v);
  return g;
}

// Fewer vertices where a tool makes every access slow.
Vertex big(Vertex vertices) { return ce::sanitized() ? vertices / 64 : vertices; }

CE_TEST(no_vertices) { check(Graph{}); }

CE_TEST(no_edges) {
  for (const Vertex n : {1u, 2u, 255u, 257u, big(1u << 21)}) {
    CE_SCOPE("%u vertices", n);
    Graph g;
    g.vertices = n;
    check(g);
  }
}

CE_TEST(loops_and_repeated_edges) {
  Graph g;
  g.vertices = 1;
  g.join(0, 0);
  check(g);
  g.vertices = 70;
  for (int i = 0; i < 5000; ++i) g.join(69, 69), g.join(68, 3), g.join(3, 68), g.join(12, 12);
  check(g);
}

CE_TEST(sizes) {
  ce::Rng rng;
  for (const Vertex n : {2u, 3u, 31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 1023u, 1025u, 5000u}) {
    for (const std::size_t m : {n / 2, n - 1, n, 2 * n + 1}) {
      CE_SCOPE("%u vertices, %zu edges", n, m);
      check(random_graph(rng, n, m));
    }
  }
}

// The last edge, and the last vertex, count.
CE_TEST(one_edge_far_apart) {
  for (const Vertex n : {2u, 257u, 100001u}) {
    CE_SCOPE("%u vertices", n);
    for (const bool forward : {false, true}) {
      Graph g;
      g.vertices = n;
      if (forward) g.join(0, n - 1);
      else g.join(n - 1, 0);
      check(g);
      g = path(n);
      std::swap(g.u[g.u.size() / 2], g.u.back()), std::swap(g.v[g.v.size() / 2], g.v.back());  // the bridge comes last
      check(g);
    }
  }
}

CE_TEST(paths) {
  ce::Rng rng;
  Graph g = path(big(1u << 20) + 7);
  check(g);
  std::reverse(g.u.begin(), g.u.end()), std::reverse(g.v.begin(), g.v.end());
  check(g);
  check(disguised(g, rng));
}

// Every thread wants to hang the same root: an update that is not atomic gets lost here.
CE_TEST(stars) {
  const Vertex n = big(1u << 20) + 3;
  for (const Vertex centre : {0u, n / 2, n - 1}) {
    CE_SCOPE("centre %u of %u", centre, n);
    Graph g;
    g.vertices = n;
    for (Vertex v = n; v-- > 0;) if (v != centre) g.join(centre, v);
    check(g);
  }
}

CE_TEST(trees) {
  ce::Rng rng;
  for (const Vertex degree : {2u, 7u}) {
    Graph g;
    g.vertices = big(1u << 19);
    for (Vertex v = 1; v < g.vertices; ++v) g.join(v, (v - 1) / degree);
    check(g);
    check(disguised(g, rng));
  }
  Graph g;  // each vertex hangs below any earlier one
  g.vertices = big(1u << 19);
  for (Vertex v = 1; v < g.vertices; ++v) g.join(rng.integer<Vertex>(0, v - 1), v);
  check(disguised(g, rng));
}

CE_TEST(many_small_components) {
  ce::Rng rng;
  Graph g;
  while (g.vertices < big(1u << 19)) {
    const Vertex size = rng.integer<Vertex>(1, 9), first = g.vertices;
    for (Vertex v = 1; v < size; ++v) g.join(first + v, first + rng.integer<Vertex>(0, v - 1));
    g.vertices += size;
  }
  check(g);
  check(disguised(g, rng));
}

CE_TEST(dense) {
  Graph g;
  g.vertices = 500;
  for (Vertex a = 0; a < g.vertices; ++a)
    for (Vertex b = 0; b < g.vertices; ++b)
      if (a % 3 == b % 3) g.join(a, b);
  check(g);
}

CE_TEST(large_random_graphs) {
  ce::Rng rng;
  const Vertex n = big(1u << 21) + 11;
  for (const std::size_t m : {std::size_t{n} / 2, std::size_t{n}, 2 * std::size_t{n}}) {
    CE_SCOPE("%u vertices, %zu edges", n, m);
    check(random_graph(rng, n, m));
  }
}

// All work goes to the stream, whose earlier work produces the edges, and the call does not wait for it.
CE_TEST(stream_order) {
  ce::Rng rng;
  const Graph g = random_graph(rng, 20000, 15000), decoy = random_graph(rng, 20000, 15000);
  const ce::DeviceBuffer<Vertex> source(g.u);
  ce::DeviceBuffer<Vertex> u(decoy.u), v(g.v), label(g.vertices);
  ce::DeviceBuffer<std::uint32_t> components(1);
  const ce::Stream stream;
  const auto call = [&] {
    return connected_components(u.data(), v.data(), g.u.size(), g.vertices, label.data(), components.data(), stream);
  };
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = call());  // loads the kernels, which may take a wait of its own
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  CE_CUDA(cudaStreamSynchronize(stream));

  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(u.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(error = call());
  gate.open();
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  CE_CUDA(cudaStreamSynchronize(stream));
  const Expected want = oracle(g);
  ce::expect_equal(label.download(), want.label, "label");
  ce::expect_equal(components.download(), want.components, "num_components");
}

CE_BENCH(random_graph_of_eight_million_edges) {
  ce::Rng rng;
  const int iterations = 10;
  const Graph g = random_graph(rng, 1u << 22, 1u << 23);
  const ce::DeviceBuffer<Vertex> u(g.u), v(g.v);
  std::vector<ce::DeviceBuffer<Vertex>> label;
  std::vector<ce::DeviceBuffer<std::uint32_t>> components;
  for (int i = 0; i <= iterations; ++i) label.emplace_back(g.vertices), components.emplace_back(1);
  const ce::Stream stream;
  ce::timed("connected_components", iterations, [&](int i) {
    CE_CALL(connected_components(u.data(), v.data(), g.u.size(), g.vertices, label[i].data(), components[i].data(),
                                 stream));
  });
  const Expected want = oracle(g);
  for (int i = 0; i <= iterations; ++i) {
    ce::expect_equal(label[i].download(), want.label, "label");
    ce::expect_equal(components[i].download(), want.components, "num_components");
  }
}

}  // namespace

int main(int argc, char** argv) { return ce::run(argc, argv); }
