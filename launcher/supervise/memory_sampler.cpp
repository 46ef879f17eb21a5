#include "launcher/supervise/memory_sampler.hpp"

#include <utility>

#include "launcher/diagnose/memory_words.hpp"
#include "launcher/system/memory_reader.hpp"

namespace forklift {
namespace {

/// More replicas than this are not looked at one by one: the others are taken for average.
constexpr std::size_t most_looked_at = 64;

policy::MemorySample sample_of(const std::vector<pid_t>& running) {
  policy::MemorySample sample;
  sample.running = static_cast<int>(running.size());
  const std::size_t step = (running.size() + most_looked_at - 1) / most_looked_at;
  for (std::size_t i = 0; i < running.size(); i += step) {
    if (const auto held = read_anonymous_memory(running[i])) sample.held.push_back(*held);
  }
  return sample;
}

std::string sentence_of(const policy::MemoryThreat& threat) {
  return growing_copies_sentence(
      {threat.replicas, threat.smallest, threat.largest, threat.together, threat.available, threat.growth_per_second});
}

}  // namespace

MemorySampler::MemorySampler(boost::asio::io_context& io, const Plan& plan, const ReplicaGroup& group, Warn warn)
    : plan_(plan), group_(group), warn_(std::move(warn)), timer_(io) {}

void MemorySampler::begin() {
  if (plan_.memory.check == MemoryCheck::off || plan_.replicas.size() < 2) return;
  watch_ = {};
  began_ = std::chrono::steady_clock::now();
  arm();
}

void MemorySampler::end() {
  watch_.end();
  timer_.cancel();
}

void MemorySampler::arm() {
  const auto next = watch_.next_look();
  if (!next) return;
  timer_.expires_at(began_ + *next);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && watch_.next_look()) look();  // end() may have come when this was on its way already.
  });
}

void MemorySampler::look() {
  policy::MemorySample sample = sample_of(group_.pids());
  if (sample.held.empty()) return end();
  sample.at = std::chrono::steady_clock::now() - began_;
  if (policy::MemoryWatch::worth_a_look(sample.held)) sample.available = read_usable_memory();
  if (const auto threat = watch_.take(sample)) warn_(sentence_of(*threat));
  arm();
}

}  // namespace forklift
