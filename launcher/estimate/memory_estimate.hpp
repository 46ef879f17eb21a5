// What a model takes in the memory of one machine, by the way in which its processes get it.
//
// Copies at the worst moment, for P processes. A file of weights that is mapped instead of read is not counted: the
// kernel can drop its pages. Neither is what Python and its libraries take in each process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "launcher/estimate/memory_room.hpp"
#include "launcher/estimate/model_size.hpp"

namespace forklift {

enum class StartWay : std::uint8_t {
  built_in_each,      ///< Each process builds or loads its own: P.
  forked_read,        ///< Built once, then forked, and only read after that: 1.
  forked_written,     ///< Built once, then forked, and every process writes to it: its parent's and P.
  pickled,            ///< Built once and passed to spawned processes: its parent's, the pickle, and P.
  one_after_another,  ///< Each builds its own, moves it to a device and frees it before the next begins: 1.
  shared,             ///< `forklift launch --model`, SharedModel: 1.
};

struct WayEstimate {
  StartWay way = StartWay::built_in_each;
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
  enum class Fit { no, yes } fit = Fit::no;
};

/// A row of `accelerate estimate-memory`, for one process.
struct PrecisionEstimate {
  std::string_view dtype;  ///< "float32", "float16", "int8", "int4"
  std::optional<std::uint64_t> largest_layer;
  std::uint64_t total = 0;
  std::optional<std::uint64_t> training;  ///< With Adam, at the worst moment of a step; empty: is not trained.
};

struct MemoryEstimate {
  ModelSize model;
  int processes = 1;
  MemoryRoom room;
  std::vector<WayEstimate> ways;  ///< One for each StartWay, in its order.
  std::vector<PrecisionEstimate> precisions;
};

/// `processes` ≥ 1: those on this one machine.
MemoryEstimate estimate_memory(const ModelSize& model, int processes, const MemoryRoom& room);

const WayEstimate& estimate_of(const MemoryEstimate& estimate, StartWay way);

/// How many processes can hold a copy each in what there is.
std::uint64_t most_processes_with_copies(const MemoryEstimate& estimate);

}  // namespace forklift
