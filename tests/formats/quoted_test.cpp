#include "worker/format/quoted.hpp"

#include <gtest/gtest.h>

#include "worker/format/byte_text.hpp"
#include "worker/format/utf8.hpp"

namespace forklift {
namespace {

TEST(InQuotes, WhateverComes_IsOneLineOfUtf8) {
  EXPECT_EQ(in_quotes("a.weight"), "'a.weight'");
  EXPECT_EQ(in_quotes("größe"), "'größe'");
  EXPECT_EQ(in_quotes("a\nb\t'\x7f"), "'a\\x0ab\\x09\\x27\\x7f'");
  EXPECT_EQ(in_quotes("\xff\xc3"), "'\\xff\\xc3'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes(std::string(99, 'x')), "'" + std::string(99, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(300, 'x')), "'" + std::string(99, 'x') + "…'");
}

TEST(Utf8, OverlongSurrogateAndBeyond_AreNoCharacters) {
  for (const char* text : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80",
                           "\xf5\x80\x80\x80", "\x80", "\xe2\x82", "\xfe"}) {
    EXPECT_FALSE(is_utf8(text));
  }
  EXPECT_TRUE(is_utf8("aß€\U0001F600"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_EQ(utf8_character("€x"), 3U);
  EXPECT_EQ(utf8_character(""), 0U);
}

}  // namespace
}  // namespace forklift
