// Hidden test of rgba_histogram. Counts are integers, so every comparison is exact.
#include "ce_harness.hpp"
#include "rgba_histogram.h"

#include <functional>

namespace {

using Words = std::vector<std::uint32_t>;  // pixels in memory order, red lowest; and counters
using Counters = ce::DeviceBuffer<unsigned int>;

constexpr std::size_t kCounters = 3 * 256;

struct Image {
  int width, height;
  std::size_t pitch;  // in bytes
  Words words;        // ends with the last pixel of the last row
};

Words random_words(ce::Rng& rng, std::size_t n) { return rng.integer_vector<std::uint32_t>(n, 0, UINT32_MAX); }

// Every word is drawn from `pixel`, those between the rows are random: opaque, most of them.
Image make_image(ce::Rng& rng, int width, int height, int gap, const std::function<std::uint32_t()>& pixel) {
  Image image{width, height, (static_cast<std::size_t>(width) + gap) * 4, {}};
  image.words = random_words(rng, width && height ? (height - 1) * (image.pitch / 4) + width : 0);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image.words[y * (image.pitch / 4) + x] = pixel();
  return image;
}

void count(const std::uint32_t* row, int width, Words& counts) {
  for (int x = 0; x < width; ++x)
    if (row[x] >> 24 != 0)
      for (int c = 0; c < 3; ++c) ++counts[256 * c + (row[x] >> (8 * c) & 255)];
}

Words counted(const Image& image, Words counts) {
  for (int y = 0; y < image.height; ++y) count(&image.words[y * (image.pitch / 4)], image.width, counts);
  return counts;
}

const uchar4* pixels_of(const ce::DeviceBuffer<std::uint32_t>& words, std::size_t first = 0) {
  return reinterpret_cast<const uchar4*>(words.data() + first);
}

// `shift` words lie before the image, to deny it any alignment beyond 4 bytes.
void run_image(const Image& image, const Words& before, int shift = 0) {
  CE_SCOPE("width %d, height %d, pitch %zu", image.width, image.height, image.pitch);
  Words memory(shift, 0xff020202u);
  memory.insert(memory.end(), image.words.begin(), image.words.end());
  const ce::DeviceBuffer<std::uint32_t> in(memory);
  Counters counts(before);
  CE_CALL(rgba_histogram(pixels_of(in, shift), image.pitch, image.width, image.height, counts.data(), nullptr));
  ce::expect_equal(counts.download(), counted(image, before), "counts");
  counts.check_guards("counts");
  ce::expect_unchanged(in, memory, "pixels");
}

// Noise in which about a quarter of the pixels is transparent, whatever their colour.
std::function<std::uint32_t()> noise(ce::Rng& rng) {
  return [&rng] {
    const std::uint32_t word = static_cast<std::uint32_t>(rng.next());
    return rng.integer(0, 3) == 0 ? word & 0x00ffffffu : word;
  };
}

}  // namespace

CE_TEST(widths_and_heights) {
  ce::Rng rng;
  for (const int width : {1, 2, 31, 32, 33, 127, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4099})
    for (const int height : {1, 2, 7, 9, 33})
      run_image(make_image(rng, width, height, rng.integer(0, 1) * rng.integer(1, 9), noise(rng)),
                random_words(rng, kCounters), rng.integer(0, 3));
}

CE_TEST(counters_are_added_to_and_wrap) {
  ce::Rng rng;
  const Image image = make_image(rng, 301, 57, 3, noise(rng));
  run_image(image, Words(kCounters, 0));
  run_image(image, Words(kCounters, UINT32_MAX));
  run_image(image, Words(kCounters, UINT32_MAX - 20));
}

// Every counter of every channel is reached by exactly one colour, and alpha decides by being zero, not by its size.
CE_TEST(each_value_alone) {
  ce::Rng rng;
  const int offset = rng.integer(0, 255);
  std::uint32_t n = 0;
  const auto each = [&] {
    const std::uint32_t v = n++ % 256;
    return v | ((v * 7 + offset) % 256) << 8 | ((v * 11 + 5) % 256) << 16 | (v < 3 ? 1u : v < 9 ? 0u : 255u) << 24;
  };
  run_image(make_image(rng, 256, 40, 0, each), Words(kCounters, 0));
}

CE_TEST(single_colours) {
  ce::Rng rng;
  const int side = ce::sanitized() ? 100 : 700;
  for (const std::uint32_t colour : {0x01000000u, 0xffffffffu, 0x80ff0000u, 0x0000ff00u, 0xff4080c0u})
    run_image(make_image(rng, side, side, 1, [=] { return colour; }), random_words(rng, kCounters));
}

CE_TEST(transparent_image_counts_nothing) {
  ce::Rng rng;
  const Image image = make_image(rng, 333, 44, 5, [&] { return static_cast<std::uint32_t>(rng.next()) & 0xffffffu; });
  run_image(image, random_words(rng, kCounters));
}

// More than 2^24 equal pixels: counters of 16 bits, or of single precision, do not reach that far.
CE_TEST(one_long_row) {
  ce::Rng rng;
  const int width = ce::sanitized() ? 70001 : (1 << 24) + 12345;
  int n = 0;
  run_image(make_image(rng, width, 1, 0, [&] { return n++ % 4097 == 0 ? 0x01ff00ffu : 0xff102030u; }),
            Words(kCounters, 0));
  run_image(make_image(rng, width / 8, 1, 0, noise(rng)), Words(kCounters, 0), 1);
}

CE_TEST(many_short_rows) {
  ce::Rng rng;
  const int height = ce::sanitized() ? 3001 : 1000003;
  run_image(make_image(rng, 1, height, 1, noise(rng)), Words(kCounters, 0));
  run_image(make_image(rng, 3, height / 5, 0, noise(rng)), Words(kCounters, 0));
}

CE_TEST(large_image) {
  ce::Rng rng;
  if (ce::sanitized()) run_image(make_image(rng, 500, 40, 11, noise(rng)), Words(kCounters, 0));
  else run_image(make_image(rng, 2500, 1500, 11, noise(rng)), Words(kCounters, 0));
}

// Rows so far apart that 32 bits do not hold their byte offsets. What lies between is opaque poison.
CE_TEST(far_apart_rows) {
  if (ce::skip_sanitized("the tools would shadow 4 GiB")) return;
  ce::Rng rng;
  const int width = 40, height = 5;
  const std::size_t pitch = (std::size_t{1} << 30) + 12;
  const Image image = make_image(rng, width, height, 0, noise(rng));
  ce::DeviceBuffer<std::uint32_t> in((height - 1) * (pitch / 4) + width);
  Counters counts(Words(kCounters, 0));
  CE_CUDA(cudaMemcpy2D(in.data(), pitch, image.words.data(), image.pitch, width * 4, height, cudaMemcpyHostToDevice));
  CE_CALL(rgba_histogram(pixels_of(in), pitch, width, height, counts.data(), nullptr));
  ce::expect_equal(counts.download(), counted(image, Words(kCounters, 0)), "counts");
}

CE_TEST(empty) {
  ce::Rng rng;
  const Words before = random_words(rng, kCounters);
  const ce::DeviceBuffer<std::uint32_t> in(Words(64, 0xff010203u));
  Counters counts(before);
  for (const auto& [width, height] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    CE_CALL(rgba_histogram(pixels_of(in), 32, width, height, counts.data(), nullptr));
    CE_CALL(rgba_histogram(nullptr, 32, width, height, counts.data(), nullptr));
  }
  ce::expect_unchanged(counts, before, "counts");
}

// Each image arrives by a copy in its stream, which is held back until the calls have returned; then both add to the
// same counters at the same time.
CE_TEST(two_streams_add_to_the_same_counters) {
  ce::Rng rng;
  ce::Stream streams[2];
  const int side = ce::sanitized() ? 60 : 500;
  const Image images[2] = {make_image(rng, side, side, 0, noise(rng)), make_image(rng, side, side, 0, noise(rng))};
  const ce::DeviceBuffer<std::uint32_t> source0(images[0].words), source1(images[1].words);
  ce::DeviceBuffer<std::uint32_t> in0(Words(side * side, 0)), in1(Words(side * side, 0));
  Counters counts(Words(kCounters, 0));

  CE_CALL(rgba_histogram(pixels_of(in0), side * 4, side, side, counts.data(), streams[0]));  // loads the kernel
  ce::expect_equal(counts.download(), Words(kCounters, 0), "counts of a transparent image");
  ce::StreamGate gate0(streams[0]), gate1(streams[1]);
  CE_CUDA(cudaMemcpyAsync(in0.data(), source0.data(), in0.bytes(), cudaMemcpyDeviceToDevice, streams[0]));
  CE_CUDA(cudaMemcpyAsync(in1.data(), source1.data(), in1.bytes(), cudaMemcpyDeviceToDevice, streams[1]));
  CE_CALL(rgba_histogram(pixels_of(in0), side * 4, side, side, counts.data(), streams[0]));
  CE_CALL(rgba_histogram(pixels_of(in1), side * 4, side, side, counts.data(), streams[1]));
  CE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  gate0.open();
  gate1.open();
  ce::expect_equal(counts.download(), counted(images[1], counted(images[0], Words(kCounters, 0))), "counts");
}

// Half smooth, half noise, a tenth transparent.
CE_BENCH(image_8192_by_4096) {
  constexpr int kIterations = 10;
  const int width = 8192, height = 4096;
  ce::Rng rng;
  std::uint32_t n = 0;
  // Iteration i counts rows i to i + height - 1: no two have the same result.
  const Image image = make_image(rng, width, height + kIterations, 0, [&] {
    const std::uint32_t bits = static_cast<std::uint32_t>(rng.next());
    const std::uint32_t colour = n++ & 4096 ? bits : (n >> 5) + (bits & 0x030303u);
    return (colour & 0xffffffu) | (bits % 10 == 0 ? 0 : 0xff000000u);
  });
  const ce::DeviceBuffer<std::uint32_t> in(image.words);
  std::vector<Counters> counts;
  for (int i = 0; i <= kIterations; ++i) counts.emplace_back(Words(kCounters, 0));

  ce::timed("rgba_histogram", kIterations, [&](int i) {
    CE_CALL(rgba_histogram(pixels_of(in, static_cast<std::size_t>(i) * width), image.pitch, width, height,
                           counts[i].data(), nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    Words want(kCounters, 0);
    for (int y = i; y < i + height; ++y) count(&image.words[static_cast<std::size_t>(y) * width], width, want);
    ce::expect_equal(counts[i].download(), want, "counts");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
