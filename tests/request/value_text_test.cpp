#include "launcher/request/value_text.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace forklift {
namespace {

using namespace std::chrono_literals;

TEST(ParseNumber, WholeTextWithinTheRange_IsRead) {
  EXPECT_EQ(parse_number("0", {0, 3}), 0);
  EXPECT_EQ(parse_number("3", {0, 3}), 3);
  EXPECT_EQ(parse_number("007", {0, 9}), 7);
  for (const char* text : {"", "4", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "abc", "99999999999999999999"})
    EXPECT_EQ(parse_number(text, {0, 3}), std::nullopt) << text;
}

TEST(ParseDuration, EveryForm_IsExact) {
  const std::vector<std::pair<std::string_view, Duration>> rows{
      {"0", 0s},           {"30", 30s},          {"1.5", 1500ms},       {"90s", 90s},     {"10m", 10min},
      {"2h", 2h},          {"0.1", 100ms},       {"1.5h", 90min},       {"00:00:00", 0s}, {"1:02:03", 1h + 2min + 3s},
      {"100:00:00", 100h}, {"0.000000001", 1ns}, {"0.0000000001", 0ns},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(parse_duration(text), expected) << text;
}

TEST(ParseDuration, AnythingElse_IsNotRead) {
  for (const char* text : {"",
                           "s",
                           ".",
                           ".5",
                           "1.",
                           "1.s",
                           "-1",
                           "+1",
                           "1d",
                           "1 m",
                           "ten",
                           "1:2",
                           "1:2:3",
                           "1:60:00",
                           "1:00:60",
                           ":00:00",
                           "1:00:00:00",
                           "1e9",
                           "inf",
                           "nan",
                           "3651000h",
                           "9223372036854775807",
                           "99999999999999999999999"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(ParseHandledSignal, NameOrNumber_IsRead) {
  for (const char* text : {"USR1", "SIGUSR1", "10"}) EXPECT_EQ(parse_handled_signal(text), SIGUSR1) << text;
  EXPECT_EQ(parse_handled_signal("TERM"), SIGTERM);
  for (const char* text : {"", "KILL", "SIGSTOP", "9", "0", "-1", "SIG", "NOPE", "99999"})
    EXPECT_EQ(parse_handled_signal(text), std::nullopt) << text;
}

TEST(ParseStreamMask, OneDigit_IsForAll) {
  EXPECT_EQ(parse_stream_mask("0")->of({7}), Streams::none);
  EXPECT_EQ(parse_stream_mask("1")->of({7}), Streams::standard_output);
  EXPECT_EQ(parse_stream_mask("2")->of({7}), Streams::standard_error);
  EXPECT_EQ(parse_stream_mask("3")->of({7}), Streams::both);
}

TEST(ParseStreamMask, MapWithRanksOfAnyLength_IsByLocalRank) {
  const auto mask = parse_stream_mask("0:3,12:2,4711:1");
  ASSERT_TRUE(mask);
  EXPECT_EQ(mask->of({0}), Streams::both);
  EXPECT_EQ(mask->of({12}), Streams::standard_error);
  EXPECT_EQ(mask->of({4711}), Streams::standard_output);
  EXPECT_EQ(mask->of({1}), Streams::none);
  EXPECT_EQ(parse_stream_mask("1:3,1:2")->of({1}), Streams::standard_error);
}

TEST(ParseStreamMask, AnythingElse_IsNotRead) {
  for (const char* text :
       {"", "4", "-1", "33", "a", ":", "0:", ":3", "0:4", "0:3,", ",0:3", "0:3,1", "0:3:1", "-1:3", "0:3;1:2", "0 :3"})
    EXPECT_FALSE(parse_stream_mask(text)) << text;
}

TEST(ParseLocalRanks, List_IsSortedAndEachOnce) {
  EXPECT_EQ(parse_local_ranks("3,0,12,3"), (std::vector<LocalRank>{{0}, {3}, {12}}));
  for (const char* text : {"", ",", "0,", ",0", "a", "0 1", "-1", "0;1"}) EXPECT_FALSE(parse_local_ranks(text)) << text;
}

TEST(ParseEndpoint, HostWithOrWithoutPort_IsRead) {
  struct Row {
    std::string_view text;
    std::string_view host;
    std::optional<int> port;
  };
  const std::vector<Row> rows{{"node1", "node1", std::nullopt},    {"node1:29400", "node1", 29400},
                              {"localhost:0", "localhost", 0},     {"10.0.0.1:1", "10.0.0.1", 1},
                              {"[::1]:29500", "::1", 29500},       {"[::1]", "::1", std::nullopt},
                              {"fe80::1", "fe80::1", std::nullopt}};
  for (const auto& [text, host, port] : rows) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->host, host) << text;
    EXPECT_EQ(endpoint->port, port) << text;
  }
  for (const char* text : {"", ":1", "a:", "a:b", "a:65536", "a:-1", "[::1", "[]:1", "[::1]1", "a b:1", "http://a"})
    EXPECT_FALSE(parse_endpoint(text)) << text;
}

TEST(SplitAt, Separators_GiveOnePieceMore) {
  EXPECT_EQ(split_at("", ','), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split_at("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split_at(",", ','), (std::vector<std::string_view>{"", ""}));
}

}  // namespace
}  // namespace forklift
