#include "ce_harness.hpp"
#include "poisson.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <vector>

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTwoPi = 6.283185307179586476925;

void ok(cufftResult result, const char* what) {
  CE_CHECK(result == CUFFT_SUCCESS, "%s: result %d", what, static_cast<int>(result));
}

struct Grid {
  int rows, cols, batch;
  double height, width;
  int ld, distance;
  std::size_t size() const { return static_cast<std::size_t>(batch) * distance; }
  std::size_t at(int b, int i, int j) const {
    return static_cast<std::size_t>(b) * distance + static_cast<std::size_t>(i) * ld + j;
  }
  template <class Visit>
  void each(int b, Visit visit) const {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) visit(i, j, at(b, i, j));
  }
};

Grid make_grid(ce::Rng& rng, int rows, int cols, int batch, bool padded) {
  Grid g{rows, cols, batch, rng.uniform(0.3, 9), rng.uniform(0.3, 9), cols, rows * cols};
  if (padded) g.ld += rng.integer(1, 7), g.distance = rows * g.ld + rng.integer(0, 20);
  return g;
}

double square(double x) { return x * x; }

// Squared wave number of the mode (p, q).
double wave2(const Grid& g, int p, int q) {
  const int signed_p = 2 * p > g.rows ? p - g.rows : p, signed_q = 2 * q > g.cols ? q - g.cols : q;
  return square(kTwoPi * signed_p / g.height) + square(kTwoPi * signed_q / g.width);
}

// Right-hand sides, the solutions, and the prompt's bound on the error of each grid's elements. It follows from a
// relative error of 32 * 2^-53 * log2(2 N) of each transform in the 2-norm (mixed radix needs less than 8, the chirp
// transforms for large primes about three transforms of twice the length), which division by k^2 can enlarge to the
// part of the lowest mode; the 2-norm bounds each element. The two oracles below stay below a tenth of that.
struct Problem {
  Grid grid;
  std::vector<double> f, u, bound;

  explicit Problem(const Grid& g) : grid(g), f(g.size(), kNaN), u(g.size(), kNaN), bound(g.batch) {}

  void set_bounds() {
    double k2 = std::numeric_limits<double>::infinity();
    if (grid.rows > 1) k2 = std::min(k2, square(kTwoPi / grid.height));
    if (grid.cols > 1) k2 = std::min(k2, square(kTwoPi / grid.width));
    for (int b = 0; b < grid.batch; ++b) {
      double norm2 = 0;
      grid.each(b, [&](int, int, std::size_t at) { norm2 += square(f[at]); });
      bound[b] = 64 * 0x1p-53 * std::log2(2.0 * grid.rows * grid.cols) * std::sqrt(norm2) / k2;
    }
  }
};

std::vector<std::complex<double>> roots_of_unity(int n) {
  std::vector<std::complex<double>> roots(n);
  for (int k = 0; k < n; ++k) roots[k] = std::polar(1.0, -kTwoPi * k / n);
  return roots;
}

// out[k] = sum over j of in[j] * root^(j k), with elements `step` apart.
void transform(std::complex<double>* data, int n, int step, const std::vector<std::complex<double>>& roots,
               bool inverse) {
  std::vector<std::complex<double>> out(n);
  for (int k = 0; k < n; ++k) {
    int power = 0;
    for (int j = 0; j < n; ++j) {
      const std::complex<double> root = inverse ? std::conj(roots[power]) : roots[power],
                                 x = data[static_cast<std::size_t>(j) * step];
      out[k] += std::complex<double>(x.real() * root.real() - x.imag() * root.imag(),
                                     x.real() * root.imag() + x.imag() * root.real());
      power = power + k < n ? power + k : power + k - n;
    }
  }
  for (int k = 0; k < n; ++k) data[static_cast<std::size_t>(k) * step] = out[k];
}

// Every mode at once, solved by the definition of the discrete Fourier transform.
Problem noise(ce::Rng& rng, const Grid& g) {
  Problem problem(g);
  const auto row_roots = roots_of_unity(g.cols), column_roots = roots_of_unity(g.rows);
  std::vector<std::complex<double>> work(static_cast<std::size_t>(g.rows) * g.cols);
  const auto transform_all = [&](bool inverse) {
    for (int i = 0; i < g.rows; ++i)
      transform(&work[static_cast<std::size_t>(i) * g.cols], g.cols, 1, row_roots, inverse);
    for (int j = 0; j < g.cols; ++j) transform(&work[j], g.rows, g.cols, column_roots, inverse);
  };
  for (int b = 0; b < g.batch; ++b) {
    const double mean = rng.uniform(-3, 3);
    g.each(b, [&](int i, int j, std::size_t at) {
      work[static_cast<std::size_t>(i) * g.cols + j] = problem.f[at] = mean + rng.uniform(-1, 1);
    });
    transform_all(false);
    for (int p = 0; p < g.rows; ++p)
      for (int q = 0; q < g.cols; ++q)
        work[static_cast<std::size_t>(p) * g.cols + q] *= p == 0 && q == 0 ? 0 : -1 / wave2(g, p, q) / g.rows / g.cols;
    transform_all(true);
    g.each(b, [&](int i, int j, std::size_t at) {
      problem.u[at] = work[static_cast<std::size_t>(i) * g.cols + j].real();
    });
  }
  problem.set_bounds();
  return problem;
}

// A few random modes with known solutions, for grids that are too large for the above.
Problem waves(ce::Rng& rng, const Grid& g, int modes) {
  Problem problem(g);
  const auto row_roots = roots_of_unity(g.cols), column_roots = roots_of_unity(g.rows);
  for (int b = 0; b < g.batch; ++b) {
    const double mean = rng.uniform(-3, 3);
    g.each(b, [&](int, int, std::size_t at) { problem.f[at] = mean, problem.u[at] = 0; });
    for (int mode = 0; mode < modes; ++mode) {
      int p = rng.integer(0, g.rows - 1), q = rng.integer(0, g.cols - 1);
      if (mode % 3 == 0) p %= 4, q %= 4;
      if (p == 0 && q == 0) q = 1;
      const std::complex<double> phase = std::polar(rng.uniform(0.5, 1), rng.uniform(0, kTwoPi));
      const double factor = -1 / wave2(g, p, q);
      for (int i = 0; i < g.rows; ++i) {
        const std::complex<double> row = phase * column_roots[static_cast<long long>(p) * i % g.rows];
        int power = 0;
        for (int j = 0; j < g.cols; ++j) {
          const double value = row.real() * row_roots[power].real() - row.imag() * row_roots[power].imag();
          problem.f[g.at(b, i, j)] += value;
          problem.u[g.at(b, i, j)] += factor * value;
          power = power + q < g.cols ? power + q : power + q - g.cols;
        }
      }
    }
  }
  problem.set_bounds();
  return problem;
}

using Solver = std::unique_ptr<PoissonSolver, decltype(&poisson_destroy)>;

Solver make_solver(const Grid& g) {
  PoissonSolver* solver = nullptr;
  ok(poisson_create(&solver, g.rows, g.cols, g.ld, g.batch, g.distance, g.height, g.width), "poisson_create");
  CE_CHECK(solver != nullptr, "poisson_create returned no solver");
  return Solver(solver, poisson_destroy);
}

void solve(const Solver& solver, const double* f, double* u, cudaStream_t stream) {
  CE_CALL(ok(poisson_solve(solver.get(), f, u, stream), "poisson_solve"));
}

// The solution stands in `u`. What stands in the gaps does not matter: cuFFT itself puts intermediate results there in
// some layouts.
void expect_solution(const Problem& problem, const ce::DeviceBuffer<double>& u) {
  const Grid& g = problem.grid;
  const std::vector<double> now = u.download();
  for (int b = 0; b < g.batch; ++b) {
    CE_SCOPE("grid %d of %d, %d x %d", b, g.batch, g.rows, g.cols);
    std::vector<double> got, want;
    g.each(b, [&](int, int, std::size_t at) {
      got.push_back(now[at]), want.push_back(problem.u[at]);
    });
    ce::expect_close(got, want, {problem.bound[b], 0}, "u (row by row, without gaps)");
  }
  u.check_guards("u");
}

void check(const Problem& problem) {
  const Solver solver = make_solver(problem.grid);
  const ce::DeviceBuffer<double> f(problem.f);
  ce::DeviceBuffer<double> u(problem.f.size());
  const ce::Stream stream;
  solve(solver, f.data(), u.data(), stream);
  CE_CUDA(cudaStreamSynchronize(stream));
  expect_solution(problem, u);
  ce::expect_unchanged(f, problem.f, "f");
}

CE_TEST(destroying_nothing) {
  poisson_destroy(nullptr);
  CE_CHECK(cudaPeekAtLastError() == cudaSuccess);
}

CE_TEST(shapes) {
  ce::Rng rng;
  const int shapes[][2] = {{1, 1},   {1, 16},  {16, 1},  {1, 9},   {9, 1},   {2, 2},  {2, 3},
                           {3, 2},   {4, 4},   {5, 3},   {8, 8},   {7, 11},  {12, 9}, {9, 12},
                           {13, 17}, {32, 20}, {20, 32}, {31, 37}, {64, 48}, {48, 81}};
  for (const auto& shape : shapes) check(noise(rng, make_grid(rng, shape[0], shape[1], 2, true)));
}

CE_TEST(prime_sizes) {
  ce::Rng rng;
  const int shapes[][2] = {{127, 16}, {131, 6}, {10, 137}, {101, 103}, {149, 139}};
  for (const auto& shape : shapes) check(noise(rng, make_grid(rng, shape[0], shape[1], 1, true)));
}

CE_TEST(without_padding) {
  ce::Rng rng;
  for (const int batch : {1, 5}) {
    check(noise(rng, make_grid(rng, 24, 30, batch, false)));
    check(noise(rng, make_grid(rng, 15, 21, batch, false)));
  }
}

CE_TEST(many_grids) {
  ce::Rng rng;
  check(noise(rng, make_grid(rng, 6, 10, 300, true)));
  check(noise(rng, make_grid(rng, 5, 7, 300, true)));
}

CE_TEST(in_place) {
  ce::Rng rng;
  for (const int cols : {20, 33}) {
    const Problem problem = noise(rng, make_grid(rng, 28, cols, 3, true));
    const Solver solver = make_solver(problem.grid);
    ce::DeviceBuffer<double> u(problem.f);
    const ce::Stream stream;
    solve(solver, u.data(), u.data(), stream);
    CE_CUDA(cudaStreamSynchronize(stream));
    expect_solution(problem, u);
  }
}

CE_TEST(constant_right_hand_side) {
  ce::Rng rng;
  Problem problem(make_grid(rng, 20, 14, 1, true));
  problem.grid.each(0, [&](int, int, std::size_t at) { problem.f[at] = 5, problem.u[at] = 0; });
  problem.set_bounds();
  check(problem);
}

CE_TEST(large) {
  ce::Rng rng;
  if (ce::sanitized()) return check(waves(rng, make_grid(rng, 200, 300, 2, true), 6));
  check(waves(rng, make_grid(rng, 1500, 1024, 1, true), 9));
  check(waves(rng, make_grid(rng, 509, 700, 3, true), 9));
  check(waves(rng, make_grid(rng, 1, 100000, 1, true), 9));
}

// One solver, several right-hand sides, another stream each time.
CE_TEST(a_solver_is_reusable) {
  ce::Rng rng;
  const Grid g = make_grid(rng, 40, 36, 2, true);
  const Solver solver = make_solver(g);
  for (int round = 0; round < 3; ++round) {
    const Problem problem = noise(rng, g);
    const ce::DeviceBuffer<double> f(problem.f);
    ce::DeviceBuffer<double> u(problem.f.size());
    const ce::Stream stream;
    solve(solver, f.data(), u.data(), stream);
    CE_CUDA(cudaStreamSynchronize(stream));
    expect_solution(problem, u);
  }
}

CE_TEST(solvers_are_independent) {
  ce::Rng rng;
  std::vector<Problem> problems;
  for (const int rows : {30, 32, 35}) problems.push_back(noise(rng, make_grid(rng, rows, 65 - rows, 2, true)));
  std::vector<Solver> solvers;
  std::vector<ce::DeviceBuffer<double>> f, u;
  for (const Problem& problem : problems) {
    solvers.push_back(make_solver(problem.grid));
    f.emplace_back(problem.f), u.emplace_back(problem.f.size());
  }
  make_solver(problems[0].grid);  // made and destroyed: the others must not notice
  const ce::Stream streams[3];
  for (int round = 0; round < 20; ++round)
    for (int s = 0; s < 3; ++s) solve(solvers[s], f[s].data(), u[s].data(), streams[s]);
  CE_CUDA(cudaDeviceSynchronize());
  for (int s = 0; s < 3; ++s) expect_solution(problems[s], u[s]);
}

// All work goes to the stream, whose earlier work produces f, and the call does not wait for it.
CE_TEST(stream_order) {
  ce::Rng rng;
  const Problem problem = noise(rng, make_grid(rng, 50, 44, 2, true));
  const Solver solver = make_solver(problem.grid);
  const ce::DeviceBuffer<double> source(problem.f);
  ce::DeviceBuffer<double> f(rng.uniform_vector<double>(problem.f.size(), -1, 1)), u(problem.f.size());
  const ce::Stream stream;
  solve(solver, f.data(), u.data(), stream);  // loads the kernels, which may take a wait of its own
  CE_CUDA(cudaStreamSynchronize(stream));

  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(f.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  solve(solver, f.data(), u.data(), stream);
  gate.open();
  CE_CUDA(cudaStreamSynchronize(stream));
  expect_solution(problem, u);
}

CE_BENCH(four_grids_of_a_million_points) {
  ce::Rng rng;
  const int iterations = 20;
  const Problem problem = waves(rng, make_grid(rng, 1024, 1000, 4, false), 6);
  const Solver solver = make_solver(problem.grid);
  const ce::DeviceBuffer<double> f(problem.f);
  std::vector<ce::DeviceBuffer<double>> u;
  for (int i = 0; i <= iterations; ++i) u.emplace_back(problem.f.size());
  const ce::Stream stream;
  ce::timed("poisson_solve", iterations, [&](int i) { solve(solver, f.data(), u[i].data(), stream); });
  for (const auto& one : u) expect_solution(problem, one);
}

}  // namespace

int main(int argc, char** argv) { return ce::run(argc, argv); }
