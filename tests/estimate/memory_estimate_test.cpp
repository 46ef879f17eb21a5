// Copies by way of start, rows by type, and how they are told.
#include "launcher/estimate/memory_estimate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "launcher/estimate/describe_estimate.hpp"

namespace forklift {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30U;

MemoryEstimate an_estimate(std::uint64_t model_bytes, int processes, std::uint64_t room) {
  return estimate_memory(model_size_of(model_bytes, "float32"), processes, {room, MemoryRoom::Bound::machine});
}

struct WayRow {
  StartWay way;
  std::uint64_t copies_of_one;  ///< For one process.
  std::uint64_t copies_of_eight;
};

TEST(MemoryEstimate, EachWay_HoldsItsNumberOfCopies) {
  const WayRow table[] = {
      {StartWay::built_in_each, 1, 8}, {StartWay::forked_read, 1, 1},       {StartWay::forked_written, 2, 9},
      {StartWay::pickled, 3, 10},      {StartWay::one_after_another, 1, 1}, {StartWay::shared, 1, 1},
  };
  const MemoryEstimate one = an_estimate(gibibyte, 1, gibibyte);
  const MemoryEstimate eight = an_estimate(gibibyte, 8, 9 * gibibyte);
  ASSERT_EQ(eight.ways.size(), std::size(table));
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const WayRow& row = table[i];
    EXPECT_EQ(eight.ways[i].way, row.way);
    EXPECT_EQ(estimate_of(one, row.way).copies, row.copies_of_one);
    EXPECT_EQ(estimate_of(eight, row.way).copies, row.copies_of_eight);
    EXPECT_EQ(estimate_of(eight, row.way).bytes, row.copies_of_eight * gibibyte);
    EXPECT_EQ(estimate_of(eight, row.way).fit, row.copies_of_eight <= 9 ? WayEstimate::Fit::yes : WayEstimate::Fit::no);
  }
}

TEST(MemoryEstimate, ExactlyFull_Fits) {
  EXPECT_EQ(estimate_of(an_estimate(5, 1, 5), StartWay::shared).fit, WayEstimate::Fit::yes);
  EXPECT_EQ(estimate_of(an_estimate(6, 1, 5), StartWay::shared).fit, WayEstimate::Fit::no);
}

TEST(MemoryEstimate, EndlessModel_DoesNotFitByOverflow) {
  EXPECT_EQ(estimate_of(an_estimate(~std::uint64_t{0} / 2, 1'000'000, gibibyte), StartWay::built_in_each).fit,
            WayEstimate::Fit::no);
}

TEST(MemoryEstimate, MostProcesses_IsWhatHasRoom) {
  EXPECT_EQ(most_processes_with_copies(an_estimate(2 * gibibyte, 8, 7 * gibibyte)), 3U);
  EXPECT_EQ(most_processes_with_copies(an_estimate(8 * gibibyte, 8, 7 * gibibyte)), 0U);
}

// The figures of accelerate's own tests and documentation for bert-base-cased.
TEST(PrecisionRows, BertBaseCased_AreThoseThatAcceleratePrints) {
  ModelSize bert;
  bert.bytes = bert.float32_bytes = 433'249'280;
  bert.largest_layer = LargestLayer{"embeddings", 90'669'056};
  const MemoryEstimate estimate = estimate_memory(bert, 1, {gibibyte, MemoryRoom::Bound::machine});
  const char* const table[][4] = {
      {"float32", "86.47 MB", "413.18 MB", "1.61 GB"},
      {"float16", "43.23 MB", "206.59 MB", "826.36 MB"},
      {"int8", "21.62 MB", "103.29 MB", "N/A"},
      {"int4", "10.81 MB", "51.65 MB", "N/A"},
  };
  ASSERT_EQ(estimate.precisions.size(), std::size(table));
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const PrecisionEstimate& row = estimate.precisions[i];
    EXPECT_EQ(row.dtype, table[i][0]);
    EXPECT_EQ(convert_bytes(row.largest_layer.value()), table[i][1]);
    EXPECT_EQ(convert_bytes(row.total), table[i][2]);
    EXPECT_EQ(row.training ? convert_bytes(*row.training) : "N/A", table[i][3]);
  }
  EXPECT_EQ(estimate.precisions[0].training, 1'732'997'120U);
  EXPECT_EQ(estimate.precisions[1].training, 866'498'560U);
}

TEST(ConvertBytes, WritesAsAccelerateDoes) {
  EXPECT_EQ(convert_bytes(0), "0 bytes");
  EXPECT_EQ(convert_bytes(1023), "1023 bytes");
  EXPECT_EQ(convert_bytes(1024), "1.0 KB");
  EXPECT_EQ(convert_bytes(1536), "1.5 KB");
  EXPECT_EQ(convert_bytes(102'441'032), "97.7 MB");
  EXPECT_EQ(convert_bytes(9'437'184), "9.0 MB");
  EXPECT_EQ(convert_bytes(std::uint64_t{1} << 40U), "1.0 TB");
  EXPECT_EQ(convert_bytes(std::uint64_t{1} << 50U), "1.0 PB");
  EXPECT_EQ(convert_bytes(std::uint64_t{1} << 60U), "1024.0 PB");
}

TEST(EstimateText, SharedModelFitsAndCopiesDoNot_SaysHowManyWould) {
  const std::string text = estimate_text(
      estimate_memory(model_size_of(13 * gibibyte, "bfloat16"), 8, {61 * gibibyte, MemoryRoom::Bound::machine}),
      {"", "node7"});
  EXPECT_EQ(text,
            "model      13.0 GiB as stored (BF16)\n"
            "machine    node7\n"
            "memory     61.0 GiB available\n"
            "processes  8\n"
            "\n"
            "How the processes get the model             copies        memory   fits\n"
            "  built or loaded in each process                8     104.0 GiB   no\n"
            "  built once, forked, only read                  1      13.0 GiB   yes\n"
            "  built once, forked, written to                 9     117.0 GiB   no\n"
            "  built once, pickled to spawned processes      10     130.0 GiB   no\n"
            "  in each, one at a time, then on a device       1      13.0 GiB   yes\n"
            "  forklift launch --model, SharedModel           1      13.0 GiB   yes\n"
            "\n"
            "It fits when the model is shared: 13.0 GiB, once for all 8 processes.\n"
            "With a copy in each there is room for 4 processes.\n"
            "\n"
            "Not counted: what Python and its libraries take in each process, data loading,\n"
            "activations. A shared model stays one copy while it is only read or moved to a\n"
            "device; training it in place on the CPU makes a copy in each process. torch's\n"
            "own multiprocessing pickles no tensor, it moves it to /dev/shm: one copy.\n"
            "\n"
            "For one process, as accelerate estimate-memory counts (1 KB = 1024 bytes):\n"
            "  dtype        largest layer    total size    training with Adam\n"
            "  float32          not known       26.0 GB              104.0 GB\n"
            "  float16          not known       13.0 GB               52.0 GB\n"
            "  int8             not known        6.5 GB                   N/A\n"
            "  int4             not known       3.25 GB                   N/A\n");
}

TEST(EstimateText, EveryLine_FitsEightyColumns) {
  for (const std::uint64_t room : {std::uint64_t{1}, 100 * gibibyte, 100'000 * gibibyte}) {
    std::istringstream lines(
        estimate_text(an_estimate(1000 * gibibyte, 1'000'000, room), {"", "a-host-of-some-length"}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(EstimateText, EachOutcome_HasItsSentence) {
  const auto text = [](std::uint64_t room) { return estimate_text(an_estimate(4 * gibibyte, 3, room), {}); };
  EXPECT_NE(text(12 * gibibyte).find("It fits, also with a copy in each process: 12.0 GiB of 12.0 GiB."),
            std::string::npos);
  EXPECT_NE(text(5 * gibibyte).find("With a copy in each there is room for 1 process."), std::string::npos);
  EXPECT_NE(text(gibibyte).find("It does not fit, not even once: 4.0 GiB of model, 1.0 GiB of memory."),
            std::string::npos);
}

TEST(EstimateJson, HasEveryNumberOfTheText) {
  const auto json = nlohmann::json::parse(
      estimate_json(estimate_memory(model_size_of({{"a.weight", "F16", 8, 16}, {"b.weight", "F16", 4, 8}}), 2,
                                    {40, MemoryRoom::Bound::control_group}),
                    {"model.safetensors", "node7"}));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["model"]["path"], "model.safetensors");
  EXPECT_EQ(json["model"]["bytes"], 24);
  EXPECT_EQ(json["model"]["bytes_by_dtype"]["F16"], 24);
  EXPECT_EQ(json["model"]["elements"], 12);
  EXPECT_EQ(json["model"]["tensors"], 2);
  EXPECT_EQ(json["model"]["largest_layer"]["name"], "a");
  EXPECT_EQ(json["model"]["largest_layer"]["float32_bytes"], 32);
  EXPECT_EQ(json["num_processes"], 2);
  EXPECT_EQ(json["memory"]["usable_bytes"], 40);
  EXPECT_EQ(json["memory"]["bound_by"], "control_group");
  EXPECT_EQ(json["ways"].size(), 6U);
  EXPECT_EQ(json["ways"][0]["way"], "built_in_each");
  EXPECT_EQ(json["ways"][0]["copies"], 2);
  EXPECT_EQ(json["ways"][0]["bytes"], 48);
  EXPECT_EQ(json["ways"][0]["fits"], false);
  EXPECT_EQ(json["ways"][5]["way"], "shared");
  EXPECT_EQ(json["shared_model_fits"], true);
  EXPECT_EQ(json["most_processes_with_a_copy_each"], 1);
  EXPECT_EQ(json["precisions"][1]["dtype"], "float16");
  EXPECT_EQ(json["precisions"][1]["total_bytes"], 24);
  EXPECT_EQ(json["precisions"][1]["training_bytes"], 96);
  EXPECT_EQ(json["precisions"][2]["training_bytes"], nullptr);
}

TEST(EstimateJson, WhatIsNotKnown_IsNull) {
  const auto json = nlohmann::json::parse(estimate_json(an_estimate(8, 1, 8), {}));
  EXPECT_TRUE(json["model"]["path"].is_null());
  EXPECT_TRUE(json["model"]["tensors"].is_null());
  EXPECT_TRUE(json["model"]["largest_layer"].is_null());
  EXPECT_TRUE(json["precisions"][0]["largest_layer_bytes"].is_null());
  EXPECT_EQ(json["memory"]["bound_by"], "machine");
}

}  // namespace
}  // namespace forklift
