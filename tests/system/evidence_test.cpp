#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "launcher/system/evidence_reader.hpp"
#include "launcher/system/host_facts_reader.hpp"
#include "tests/support/leak_check.hpp"
#include "tests/support/temporary_directory.hpp"

namespace forklift {
namespace {

using support::TemporaryDirectory;

class EvidenceReader : public support::LeakChecked {};

TEST_F(EvidenceReader, OomCounters_DoNotRunBackwards) {
  const OomCounters before = read_oom_counters(own_memory_cgroup());
  const OomCounters after = read_oom_counters(own_memory_cgroup());
  ASSERT_EQ(before.machine.has_value(), after.machine.has_value());
  ASSERT_EQ(before.cgroup.has_value(), after.cgroup.has_value());
  if (before.machine) {
    EXPECT_LE(*before.machine, *after.machine);
  }
  if (before.cgroup) {
    EXPECT_LE(*before.cgroup, *after.cgroup);
  }
}

TEST_F(EvidenceReader, Memory_AgreesWithTheHostFacts) {
  const HostFacts facts = read_host_facts();
  EXPECT_EQ(read_memory_total(), facts.memory_total_bytes);
  EXPECT_EQ(read_memory_limit(own_memory_cgroup()), facts.memory_limit_bytes);
  const auto shm = read_shared_memory();
  EXPECT_EQ(shm ? shm->total_bytes : 0, facts.shm_total_bytes);
}

TEST_F(EvidenceReader, File_IsReadUpToItsLimit) {
  const TemporaryDirectory directory;
  const auto file = directory.write("error.json", "{\"message\": 1}");
  EXPECT_EQ(read_file(file), "{\"message\": 1}");
  EXPECT_EQ(read_file(file, 3), "{\"m");
}

TEST_F(EvidenceReader, WhatIsNoFileWithContent_IsNothing) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(read_file(directory / "missing"));
  EXPECT_FALSE(read_file(directory.write("empty", "")));
  EXPECT_FALSE(read_file(directory.path()));
  EXPECT_EQ(read_file_tail(directory / "missing", 10), "");
  EXPECT_EQ(read_file_tail(directory.path(), 10), "");
}

TEST_F(EvidenceReader, FifoInPlaceOfAFile_DoesNotBlock) {
  const TemporaryDirectory directory;
  const auto fifo = directory / "error.json";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(read_file(fifo));
  EXPECT_EQ(read_file_tail(fifo, 10), "");
}

TEST_F(EvidenceReader, Tail_IsTheEndOfTheFile) {
  const TemporaryDirectory directory;
  const auto file = directory.write("stderr.log", "first\nlast\n");
  EXPECT_EQ(read_file_tail(file, 5), "last\n");
  EXPECT_EQ(read_file_tail(file, 100), "first\nlast\n");
  EXPECT_EQ(read_file_tail(file, 0), "");
}

}  // namespace
}  // namespace forklift
